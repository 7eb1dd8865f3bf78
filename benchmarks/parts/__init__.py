"""One file per part of `make bench`: `sections()` yields its measurements."""
