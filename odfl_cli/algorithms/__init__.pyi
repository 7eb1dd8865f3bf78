from odfl_cli.algorithms.base import Algorithm, OracleCall, State
from odfl_cli.algorithms.clairvoyant import Clairvoyant
from odfl_cli.algorithms.df_ftpl import DFFTPL
from odfl_cli.algorithms.df_ogd import DFOGD
from odfl_cli.algorithms.fenchel_young import FenchelYoung
from odfl_cli.algorithms.hedge import Hedge
from odfl_cli.algorithms.ogd import OGD
from odfl_cli.algorithms.perturbed import Perturbed
from odfl_cli.algorithms.pf_ogd import PFOGD
from odfl_cli.algorithms.policy_gradient import PolicyGradient
from odfl_cli.algorithms.restart import Restart
from odfl_cli.algorithms.rls import RLS
from odfl_cli.algorithms.spo import SPO
from odfl_cli.algorithms.spo_printed import SPOPrinted
from odfl_cli.algorithms.uniform import Uniform
from odfl_cli.core.settings import settings

__all__ = [
    "DFFTPL",
    "DFOGD",
    "OGD",
    "PFOGD",
    "RLS",
    "SPO",
    "Algorithm",
    "Clairvoyant",
    "FenchelYoung",
    "Hedge",
    "OracleCall",
    "Perturbed",
    "PolicyGradient",
    "Restart",
    "SPOPrinted",
    "State",
    "Uniform",
    "settings",
]
