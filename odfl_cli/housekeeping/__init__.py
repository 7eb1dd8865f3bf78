"""Verbs that look after results: they read files, and only `clean` removes any."""
