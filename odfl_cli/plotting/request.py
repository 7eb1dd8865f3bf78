"""The options of `odfl plot` as a record."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from odfl_cli.core.errors import UserError
from odfl_cli.results.gaps import Gap
from odfl_cli.results.words import escape

WIDTHS = {"single": 3.4, "double": 6.9}  # inches: one and two columns of a paper
FORMATS = ("png", "pdf", "svg")
OTHERS = ("forest", "rates")  # figures that are not curves of columns
RATES = ("avg_static_regret", "avg_dynamic_regret")
CURVES: dict[str, tuple[str, ...]] = {
    "overview": ("avg_cost", "avg_mse"),
    "cost": ("avg_cost",),
    "mse": ("avg_mse",),
    "regret": ("avg_regret",),
    "expected_cost": ("expected_cost",),
    "comparators": RATES,
    "path_length": ("path_length",),
}
BY_DEFAULT = ("overview", "forest", "expected_cost", "comparators", "rates")
NARROW = 4.5  # inches: panels of a narrower figure are one above the other


@dataclass(frozen=True)
class Request:
    """The figures to draw and their style."""

    x: tuple[str, ...] = ()  # no key: against the rounds; one: points; two: a heatmap
    y: tuple[str, ...] = ()  # none: avg_cost, or every column that has a figure of its own
    figures: tuple[str, ...] = ()  # none: those that are drawn by default
    forest: str | None = None  # the baseline of a forest plot alone; "": chosen by `baseline`
    facets: tuple[str, str] = ("", "")  # keys whose values are rows and columns of panels
    gap: Gap | None = None
    loglog: bool = False
    each_seed: bool = False  # a thin line for each seed instead of an interval
    panels: bool = False  # one figure, a panel for each sweep
    title: str | None = None  # None: K, T and the seeds; "": nothing
    width: float = WIDTHS["double"]
    formats: tuple[str, ...] = ("png", "pdf")
    style: str | None = None  # a style of matplotlib's, or its file
    labels: Mapping[str, str] = field(default_factory=dict)  # algorithm → its name in legends

    def __post_init__(self) -> None:
        heatmap, alone = len(self.x) == 2, self.gap or self.panels
        refusals = {
            "--x: should be one key, or two for a heatmap, as in data.gamma,data.items": len(self.x) > 2,
            "--loglog needs one key as --x, and differences (--gap) have no logarithm":
                self.loglog and (self.gap or len(self.x) != 1),
            "--panels draws a column (--y) against the rounds; leave out --x and --gap":
                self.panels and (self.x or self.gap),
            "--y: several columns are drawn against the rounds or one key (--x)":
                len(self.y) > 1 and (heatmap or alone or self.loglog),
            "--row, --col: panels need curves, or points against one key (--x)":
                any(self.facets) and (heatmap or alone or self.forest is not None),
            f"--width {self.width:g}: should be inches, from 1 to 40": not 1 <= self.width <= 40,
        }  # fmt: skip
        for words, refused in refusals.items():
            if refused:
                raise UserError(words)

    @classmethod
    def fields(cls) -> set[str]:
        """The names of the options."""
        return {field.name for field in fields(cls)}

    @property
    def column(self) -> str:
        """The column for figures of a single one."""
        return self.y[0] if self.y else "avg_cost"

    @property
    def stacked(self) -> bool:
        """True if panels are one above the other."""
        return self.width < NARROW

    def add_title(self, facts: str) -> str:
        """The text above a figure: the user's title, then the facts; nothing if the title is empty."""
        lines = [] if self.title == "" else [escape(self.title or ""), facts]
        return "\n".join(filter(None, lines))

    def rc(self) -> dict[Any, Any]:
        """matplotlib's settings: ours, then those of the user's matplotlibrc, then those of --style."""
        from matplotlib import get_data_path, matplotlib_fname, rc_params_from_file, style

        from odfl_cli.plotting.style import theme

        file, settings, read = matplotlib_fname(), theme(), rc_params_from_file
        if not file.startswith(get_data_path()):
            settings |= read(file, use_default_template=False)
        if self.style:
            try:
                known = style.library.get(self.style)
                settings |= known or read(self.style, use_default_template=False)
            except OSError:
                words = f"--style {self.style}: neither a style of matplotlib nor a file"
                raise UserError(words) from None
        return settings
