"""Key that is not text.

A key is a number, a truth value, a list or a mapping.

Why: All keys of the language are words, and keys of metadata are matched as text.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: first-step, match: {meta: {1: true}}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: first-step, match: {meta: {'1': true}}}
"""
