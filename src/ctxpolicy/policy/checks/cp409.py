"""Allow that silences nothing.

An entry under `allow` names an error, or a warning that this policy does not have.

Why: It would hide the warning on the day it does appear.

Bad:

    version: 1
    budget: {window: 128000}
    allow: {CP404: nothing here is worth restoring}

Good:

    version: 1
    budget: {window: 128000}
    archive: false
    allow: {CP404: nothing here is worth restoring}
"""
