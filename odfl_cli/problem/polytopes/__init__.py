"""W: the sets of decisions."""
