"""Tests of policies: `*.test.yaml` files, the cases in them, and what the policy makes of each."""
