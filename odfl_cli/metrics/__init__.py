"""Metrics: the columns of the CSV from the trace of a run."""
