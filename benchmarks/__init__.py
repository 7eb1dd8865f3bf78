"""`make bench`: how fast, against what, and how it grows. Every figure is measured in one run."""
