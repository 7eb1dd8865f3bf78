"""Environments: the features X_t and costs c_t of every round."""
