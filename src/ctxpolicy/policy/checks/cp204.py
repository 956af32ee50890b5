"""Number out of bounds.

A number is smaller or larger than makes sense here.

Why: Shares go from 0 to 1. A number above that is usually a percentage, or meant as tokens.

Bad:

    version: 1
    budget: {window: 128000, ratio: 80}

Good:

    version: 1
    budget: {window: 128000, ratio: 0.8}
"""
