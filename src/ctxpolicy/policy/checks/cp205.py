"""Missing key.

A mapping lacks a key that it needs.

Why: A rule without `when` would not know when to act, a pin without `id` could not be named in a decision.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, evict: {until: all}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: all}}
"""
