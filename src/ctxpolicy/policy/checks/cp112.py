"""Number out of range.

A number is so large that it cannot be a count of anything here.

Why: Above 10^15 numbers lose their last digits, so two that look different would be the same.

Bad:

    version: 1
    budget: {window: 128000000000000000000}

Good:

    version: 1
    budget: {window: 128000}
"""
