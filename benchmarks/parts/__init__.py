"""One file per part of `make bench`: `sections()` yields what it measures."""
