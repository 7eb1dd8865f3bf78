"""Real rounds without a download: data that come inside installed Python packages.

A builder reads the package's file, without importing the package, and writes a long table that
data=replay reads. What a round's features hold was known before the round.
"""

from odfl_cli.environments.datasets.sp500 import stocks
from odfl_cli.environments.datasets.victoria import electricity

BUILDERS = {"stocks": stocks, "electricity": electricity}

__all__ = ["BUILDERS", "electricity", "stocks"]
