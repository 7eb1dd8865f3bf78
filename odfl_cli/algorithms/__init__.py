"""The learners: the paper's two, their baselines, rivals from the literature, and two references."""
