"""Too many values.

The file holds more than 20,000 values; an alias counts as all that it stands for.

Why: A few lines of aliases of aliases stand for billions of values. The count stops before any of them is made.

Bad:

    version: 1
    a: &a [x, x, x, x, x, x, x, x, x, x]
    b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
    c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
    d: &d [*c, *c, *c, *c, *c, *c, *c, *c, *c, *c]
    e: &e [*d, *d, *d, *d, *d, *d, *d, *d, *d, *d]

Good:

    version: 1
    budget: {window: 128000}
"""
