from odfl_cli.metrics.base import (
    COLUMNS,
    Basic,
    BasicMetrics,
    Metrics,
    PlayedBlock,
    Recorder,
    RoundStart,
    Run,
)
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
