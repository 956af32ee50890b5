"""The faults of the naive list (`tests/naive.py`), one test each, by number.

Each runs against both: a managed window passes, and the naive list must fail or the test proves nothing.
"""
