"""Unknown id.

`disable` or `before` names a pin or rule that is not there.

Why: It would have no effect, and what was meant to be left out would stay.

Bad:

    version: 1
    extends: [builtin:default]
    disable: [evict-oldst]

Good:

    version: 1
    extends: [builtin:default]
    disable: [evict-oldest]
"""
