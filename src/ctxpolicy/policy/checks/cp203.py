"""Value that is not allowed.

Only certain words, or texts of a certain form, can stand here.

Why: A role that does not exist matches nothing.

Bad:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: answers, match: {role: asistant, newest: 3}}

Good:

    version: 1
    budget: {window: 128000}
    pins:
      - {id: answers, match: {role: assistant, newest: 3}}
"""
