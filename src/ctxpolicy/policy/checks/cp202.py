"""Wrong kind of value.

A text stands where a number is needed, a list where a mapping is, and so on.

Why: `yes`, `on`, `128_000` and `1:30` are texts in YAML 1.2, and `- ` makes a list. What is meant has another spelling.

Bad:

    version: 1
    budget: {window: 128_000}

Good:

    version: 1
    budget: {window: 128000}
"""
