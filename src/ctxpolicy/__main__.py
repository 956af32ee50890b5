"""`python -m ctxpolicy` is the `ctxpolicy` command."""

from __future__ import annotations

from ctxpolicy.cli import main

if __name__ == "__main__":
    main(prog_name="ctxpolicy")
