"""File too large.

The file has more than 1 MiB (1,048,576 bytes).

Why: It is some other file. The built-in policies have a few thousand bytes.

Bad: a log or a transcript in place of a policy.

Good:

    version: 1
    budget: {window: 128000}
"""
