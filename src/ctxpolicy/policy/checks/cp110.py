"""Text that begins with an asterisk.

A plain text begins with `*`, which in YAML refers to an anchor, and there is no such anchor.

Why: Globs often begin with `*`. In quotes they are text.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: searches, match: {tool: *_search, newest: 2}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: searches, match: {tool: '*_search', newest: 2}}
"""
