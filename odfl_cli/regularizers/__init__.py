"""R(w): what smooths the inner linear program."""

from odfl_cli.regularizers.base import Regularizer
from odfl_cli.regularizers.entropy import Entropy

__all__ = ["Entropy", "Regularizer"]
