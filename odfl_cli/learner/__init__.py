"""Learner: an algorithm in the user's own loop."""
