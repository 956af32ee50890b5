"""Summaries from real endpoints, judged before they are trusted, and an archive that loses nothing."""
