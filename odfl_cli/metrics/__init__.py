"""Metrics: the columns of the CSV from the trace of a run."""

from odfl_cli.metrics.base import Basic, Metrics
from odfl_cli.metrics.decisions import Decisions
from odfl_cli.metrics.metric import Metric
from odfl_cli.metrics.regret import Regret
