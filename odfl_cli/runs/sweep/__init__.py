"""Many jobs."""
