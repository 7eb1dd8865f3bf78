"""The learners: the paper's two, their baselines, and two floors."""

from odfl_cli.algorithms.base import Algorithm, OracleCall, State
from odfl_cli.algorithms.clairvoyant import Clairvoyant
from odfl_cli.algorithms.df_ftpl import DFFTPL
from odfl_cli.algorithms.df_ogd import DFOGD
from odfl_cli.algorithms.pf_ogd import PFOGD
from odfl_cli.algorithms.spo import SPO
from odfl_cli.algorithms.spo_printed import SPOPrinted
from odfl_cli.algorithms.uniform import Uniform
from odfl_cli.settings import settings

__all__ = [
    "DFFTPL",
    "DFOGD",
    "PFOGD",
    "SPO",
    "Algorithm",
    "Clairvoyant",
    "OracleCall",
    "SPOPrinted",
    "State",
    "Uniform",
    "settings",
]
