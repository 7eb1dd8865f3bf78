"""Composing, checking and explaining configurations; the identity of a job."""
