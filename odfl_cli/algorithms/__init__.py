"""The learners: the paper's two, their baselines, rivals from the literature, and two references."""

from odfl_cli.core.lazy import exports

__getattr__ = exports(__name__, __file__)
