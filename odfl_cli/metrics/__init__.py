"""From traces to the columns of the CSV."""

from odfl_cli.metrics.base import Basic, Metrics
from odfl_cli.metrics.decisions import Decisions
from odfl_cli.metrics.regret import Regret
