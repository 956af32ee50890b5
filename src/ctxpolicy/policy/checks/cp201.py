"""Unknown key.

The language has no such key, or not here.

Why: A key that nothing reads would do nothing, and its author would not know.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - id: cap
        at: append
        match: {role: tool}
        trunkate: {max_tokens: 2000}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - id: cap
        at: append
        match: {role: tool}
        truncate: {max_tokens: 2000}
"""
