"""Figures from the files of runs."""
