"""Nested too deep.

Values stand inside each other more than 32 levels deep.

Why: No policy needs it, and readers that follow such nesting can be brought down by it.

Bad:

    version: 1
    budget: {window: 128000}
    description: [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]

Good:

    version: 1
    budget: {window: 128000}
    description: Keep the task, drop the rest.
"""
