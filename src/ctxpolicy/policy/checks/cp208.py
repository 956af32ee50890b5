"""Empty mapping or list.

A mapping or list is there but holds nothing.

Why: An empty match could mean every message or none. `match: all` says every message.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: too-large, match: {}, refuse: {}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: too-large, match: {share: {gte: 1.0}}, refuse: {}}
"""
