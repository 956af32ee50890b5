"""Key that does not go with the action.

A rule has a second action, or a key that its action does not take.

Why: A rule is one step of the pipeline. `compact` and `evict` take the oldest units there are, so they have no `match`.

Bad:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, match: {role: tool}, evict: {until: all}}

Good:

    version: 1
    budget: {window: 128000}
    rules:
      - {id: make-room, when: {pressure: {gt: 0.9}}, evict: {until: all, keep: {role: user}}}
"""
