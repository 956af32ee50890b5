"""Empty policy.

The file holds nothing but comments, or nothing at all.

Why: An empty file is more likely an accident than a wish for no policy.

Bad:

    # version: 1

Good:

    version: 1
    budget: {window: 128000}
"""
