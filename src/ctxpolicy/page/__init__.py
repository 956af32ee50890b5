"""One self-contained HTML page about sessions: no script, nothing loaded from elsewhere, dark and light."""
