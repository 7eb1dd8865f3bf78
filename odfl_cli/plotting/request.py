"""The options of `odfl plot` as a record."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.plotting.style import WIDTHS
from odfl_cli.plotting.words import plain
from odfl_cli.results.gaps import Gap

FORMATS = ("png", "pdf", "svg")
NARROW = 4.5  # inches: panels of a narrower figure are one above the other


@dataclass(frozen=True)
class Request:
    """Which figures, and how they look."""

    x: tuple[str, ...] = ()  # no key: against the rounds; one: points; two: a heatmap
    y: str | None = None  # None: avg_cost, or every column that has a figure of its own
    gap: Gap | None = None
    loglog: bool = False
    seeds: bool = False  # a thin line for each seed instead of an interval
    panels: bool = False  # one figure, a panel for each sweep
    title: str | None = None  # None: K, T and the seeds; "": nothing
    width: float = WIDTHS["double"]
    formats: tuple[str, ...] = ("png", "pdf")
    style: str | None = None  # a style of matplotlib's, or its file
    labels: Mapping[str, str] = field(default_factory=dict)  # algorithm → its name in legends

    def __post_init__(self) -> None:
        if len(self.x) > 2:
            raise UserError(
                "--x: should be one key, or two for a heatmap, as in data.gamma,data.items"
            )
        if self.loglog and (self.gap or len(self.x) != 1):
            raise UserError(
                "--loglog needs one key as --x, and differences (--gap) have no logarithm"
            )
        if self.panels and (self.x or self.gap):
            raise UserError(
                "--panels draws a column (--y) against the rounds: without --x and --gap"
            )
        if not 1 <= self.width <= 40:
            raise UserError(f"--width {self.width:g}: should be inches, from 1 to 40")

    @property
    def column(self) -> str:
        """The column that is drawn where there is only one."""
        return self.y or "avg_cost"

    @property
    def stacked(self) -> bool:
        """Whether panels are one above the other."""
        return self.width < NARROW

    def titled(self, facts: str) -> str:
        """The text above a figure: what the user says, then the facts."""
        return "" if self.title == "" else "\n".join(filter(None, [plain(self.title or ""), facts]))

    def rc(self) -> dict[Any, Any]:
        """matplotlib's settings: ours, then those of the user's matplotlibrc, then those of --style."""
        from matplotlib import get_data_path, matplotlib_fname, rc_params_from_file, style

        from odfl_cli.plotting.style import theme

        own, settings = matplotlib_fname(), theme()
        if not own.startswith(get_data_path()):
            settings |= rc_params_from_file(own, use_default_template=False)
        if self.style:
            with style.context("default"):
                try:
                    settings |= style.library.get(self.style) or rc_params_from_file(
                        self.style, use_default_template=False
                    )
                except OSError:
                    raise UserError(
                        f"--style {self.style}: neither a style of matplotlib nor a file"
                    ) from None
        return settings
