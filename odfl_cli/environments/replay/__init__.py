"""Rounds from a user's file: reading, checking, scaling, caching."""
