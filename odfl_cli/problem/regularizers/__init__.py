"""R(w): what smooths the inner linear program."""

from odfl_cli.problem.regularizers.base import Regularizer
from odfl_cli.problem.regularizers.entropy import Entropy
from odfl_cli.problem.regularizers.log_barrier import LogBarrier
from odfl_cli.problem.regularizers.quadratic import Quadratic
