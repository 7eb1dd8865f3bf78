"""Settings that every test shares."""

from hypothesis import settings

# Reproducible, and never a failure because a machine was slow.
settings.register_profile("odfl", deadline=None, derandomize=True, max_examples=40, database=None)
settings.load_profile("odfl")
