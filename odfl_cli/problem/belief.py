"""What the schedules take T, m and n for: the theory assumes them known, practice does not."""

from odfl_cli.core.settings import Positive, settings


@settings
class Belief:
    """Factors by which the schedules of α and η are wrong about the sizes they depend on.

    Nothing else is: a run still has T rounds and θ its m parameters.
    """

    horizon: Positive = 1.0  # of T
    parameters: Positive = 1.0  # of m
    faces: Positive = 1.0  # of n, which is ln d for the entropy
