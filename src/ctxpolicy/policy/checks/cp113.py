"""More than one document.

A line `---` begins a second document.

Why: A file is one policy. YAML readers that take the first document would leave out the rest without a word.

Bad:

    version: 1
    budget: {window: 128000}
    ---
    rules: []

Good:

    version: 1
    budget: {window: 128000}
    rules: []
"""
