"""Base policy that cannot be read.

A file under `extends` is not there, is a folder, or is no text.

Why: Without its base a policy would lack pins and rules that its author counts on.

Bad:

    version: 1
    budget: {window: 128000}
    extends: [./no-such-policy.yaml]

Good:

    version: 1
    budget: {window: 128000}
    extends: [builtin:harness]
"""
