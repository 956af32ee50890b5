"""Key given twice.

A mapping has the same key twice.

Why: Most YAML parsers keep one of the two without a word, usually the last. Here nobody has to guess which.

Bad:

    version: 1
    budget: {window: 128000}
    rules: []
    rules: []

Good:

    version: 1
    budget: {window: 128000}
    rules: []
"""
