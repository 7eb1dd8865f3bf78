"""`make bench`: speed, comparisons and growth, all measured in one run."""
