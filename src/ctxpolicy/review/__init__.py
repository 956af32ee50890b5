"""Looking at what a policy does: why each message stayed or left, clause by clause, and what a change would do."""
