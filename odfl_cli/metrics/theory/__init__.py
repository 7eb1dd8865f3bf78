"""The paper's statements on data: bounds, margins, assumptions, the oracle's error.

Import from the modules; nothing here is needed to run an algorithm.
"""
