"""The paper's two algorithms, their baselines, rivals from the literature, and references."""
