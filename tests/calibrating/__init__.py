"""Sessions through a window whose provider counts exactly: what `observe` and `observe_overflow` are worth."""
