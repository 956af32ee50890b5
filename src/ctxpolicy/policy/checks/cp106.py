"""Merge key.

A mapping has the key `<<`.

Why: Merge keys are not in YAML 1.2, and what they override depends on the reader. `extends` merges policies by stated
rules, and `show` says where each value came from.

Bad:

    version: 1
    budget:
      <<: {window: 128000}
      reserve: 4000

Good:

    version: 1
    budget:
      window: 128000
      reserve: 4000
"""
