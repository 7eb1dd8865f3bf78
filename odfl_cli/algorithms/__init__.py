"""The learners: the paper's two, their baselines, rivals from the literature, and two references."""

from odfl_cli.algorithms.base import Algorithm, Belief, State, for_seeds, on_problem
from odfl_cli.algorithms.df_ftpl import DFFTPL
from odfl_cli.algorithms.df_moments import DFMoments
from odfl_cli.algorithms.df_ogd import DFOGD, OGD
from odfl_cli.algorithms.gradient import (
    PFOGD,
    SPO,
    FenchelYoung,
    GradientLearner,
    Perturbed,
    SPOPrinted,
)
from odfl_cli.algorithms.guard import Guard
from odfl_cli.algorithms.hedge import Hedge
from odfl_cli.algorithms.naive import Always, Forecast, LastWeek, RollingMean, Yesterday
from odfl_cli.algorithms.policy_gradient import PolicyGradient
from odfl_cli.algorithms.references import Clairvoyant, Frozen, Uniform
from odfl_cli.algorithms.restart import Restart
from odfl_cli.algorithms.rls import RLS
from odfl_cli.algorithms.vote import Vote
from odfl_cli.core.settings import settings
