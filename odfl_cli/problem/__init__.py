"""Section 2 of the paper: what is predicted, what is decided, what smooths it, who minimises it."""
