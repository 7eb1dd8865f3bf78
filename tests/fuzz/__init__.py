"""Hostile input by the thousand: keys, files of an outputs folder, files of rounds."""
