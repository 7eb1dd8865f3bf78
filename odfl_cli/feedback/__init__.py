"""Feedback: the costs that an algorithm observes, and their delays."""
