"""Too many faults to list.

The file has more than 100 findings; the first are listed.

Why: It is some other file, or one early mistake caused the rest.

Bad: a file with more than a hundred unknown keys.

Good:

    version: 1
    budget: {window: 128000}
"""
