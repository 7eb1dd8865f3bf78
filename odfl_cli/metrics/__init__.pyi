from odfl_cli.metrics.base import Metrics, PlayedBlock, Recorder, RoundStart, Run
from odfl_cli.metrics.basic import COLUMNS, Basic, BasicMetrics
from odfl_cli.metrics.decisions import Decisions
from odfl_cli.metrics.regret import Regret

__all__ = [
    "COLUMNS",
    "Basic",
    "BasicMetrics",
    "Decisions",
    "Metrics",
    "PlayedBlock",
    "Recorder",
    "Regret",
    "RoundStart",
    "Run",
]
