"""Rounds from a user's file: reading, checking, standardising, keeping."""
