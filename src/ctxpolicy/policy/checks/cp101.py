r"""Not valid YAML.

The file cannot be read as YAML; the place is where the parser stumbled, or where what it stumbled over began.

Why: Nothing can be said about a file that cannot be read. The usual causes are a colon inside a plain text, a tab, a
quote or bracket that is not closed, and a pattern in double quotes, where a backslash begins an escape.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: numbers, match: {regex: "\d+ files"}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: numbers, match: {regex: '\d+ files'}}
"""
