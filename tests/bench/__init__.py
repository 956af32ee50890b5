"""Benchmarks: `python -m tests.bench` prints a table of ratios. Never part of the test suite."""
