"""Section 2 of the paper: predictors, decision sets, regularisers and oracles."""
