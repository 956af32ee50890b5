"""Base policies without an end.

A policy extends itself, perhaps by way of others, or too many policies extend each other.

Why: There is no effective policy to compute.

Bad:

    version: 1
    budget: {window: 128000}
    extends: [./policy.yaml]

Good:

    version: 1
    budget: {window: 128000}
    extends: [builtin:harness]
"""
