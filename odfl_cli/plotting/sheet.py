"""What becomes one set of files."""

from typing import NamedTuple

import pandas as pd
from matplotlib.figure import Figure


class Sheet(NamedTuple):
    """A figure, and its numbers, under one file name."""

    stem: str
    figure: Figure
    numbers: pd.DataFrame
