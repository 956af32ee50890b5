"""YAML tag.

A value has a tag such as `!!int`.

Why: Tags can make a YAML reader build objects. A policy is plain data: quotes make a text, digits a number.

Bad:

    version: 1
    budget: {window: !!int '128000'}

Good:

    version: 1
    budget: {window: 128000}
"""
