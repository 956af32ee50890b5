"""Rule without an action.

A rule says when or on what, but not what to do.

Why: It would do nothing, and its author counts on something.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: all}}
"""
