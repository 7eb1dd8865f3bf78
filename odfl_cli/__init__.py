"""Online decision-focused learning: run experiments, write CSVs, draw regret and MSE curves."""

__version__ = "0.1.0"
