"""Engines, which execute blocks of rounds."""
