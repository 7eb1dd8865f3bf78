"""R(w): what smooths the inner linear program."""

from odfl_cli.regularizers.base import Regularizer
from odfl_cli.regularizers.entropy import Entropy
from odfl_cli.regularizers.log_barrier import LogBarrier
from odfl_cli.regularizers.quadratic import Quadratic

__all__ = ["Entropy", "LogBarrier", "Quadratic", "Regularizer"]
