"""Recorded rounds from a CSV, Parquet or NPZ file."""

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import AliasChoices, Field

from odfl_cli.core.errors import UserError
from odfl_cli.core.seeds import seeds_word
from odfl_cli.core.settings import PositiveInt, settings
from odfl_cli.environments.base import Rounds
from odfl_cli.environments.look import join
from odfl_cli.environments.replay.tables import Columns, OnMissing
from odfl_cli.problem.targets import Target

if TYPE_CHECKING:
    from odfl_cli.environments.replay.recording import Recording

# The key is `items`, as in all data; the attribute of that name is the number in the file.
ITEMS_KEY = Field(validation_alias=AliasChoices("items", "expected_items"))
Name = Annotated[str, Field(min_length=1)]


@settings
class Replay:
    """Replays X_t and c_t from one file or several; seed s is the s-th group or file.

    Where a column or an NPZ array `seed` names the groups, seed s is the group of that name, so that
    an algorithm draws as in the run that the rounds were exported from.

    A long table has a row per round and item: a round label that increases, an item label, features
    and the cost. An NPZ file holds X [T, d, p] and c [T, d], or both with a leading axis of groups.
    `standardise` scales a feature by the rounds before; `intercept` appends a column of ones;
    learners learn from the `target` of the costs and pay the costs. package:NAME is a stream of
    odfl_cli.environments.streams.
    """

    file: Name | Annotated[tuple[Name, ...], Field(min_length=1)]
    columns: Columns = Field(default_factory=Columns)
    group: str | None = None
    standardise: bool = False
    intercept: bool = False
    on_missing: OnMissing = "refuse"
    target: Target = "raw"
    expected_items: Annotated[PositiveInt | None, ITEMS_KEY] = None

    def __post_init__(self) -> None:
        if self.expected_items not in {None, self.items}:
            raise UserError(f"data.items={self.expected_items}: {self._name} has {self.items}")
        first = self._recordings[0]
        for path, other in zip(self._paths, self._recordings, strict=True):
            if (other.items, other.features) != (first.items, first.features):
                raise UserError(
                    f"{path}: {other.items} items and {other.features} features, where "
                    f"{self._paths[0]} has {first.items} and {first.features}"
                )

    @property
    def items(self) -> int:
        """d, the rows of a round."""
        return self._recordings[0].items

    @property
    def features(self) -> int:
        """p, the columns of features, and one for the intercept."""
        return self._recordings[0].features + self.intercept

    @property
    def feature_names(self) -> tuple[str, ...]:
        names = tuple(self._recordings[0].names)
        return (*names, "intercept") if names and self.intercept else names

    @property
    def offers_all(self) -> bool:
        return not any(recording.masked for recording in self._recordings)

    def theta_star(self, seeds: tuple[int, ...], t: int = 0) -> None:
        """Unknown for recorded costs."""

    def rounds(self, seeds: tuple[int, ...], start: int, stop: int) -> Rounds:
        """The rounds; an item that is not offered has NaN as features and cost 0."""
        X = np.ones((len(seeds), stop - start, self.items, self.features))
        costs = np.empty(X.shape[:-1])
        for row, seed in enumerate(seeds):
            recording, group = self._groups[seed]
            values = recording.read(group, start, stop)
            X[row, ..., : recording.features] = values[..., :-1]
            costs[row] = values[..., -1]
        if not self.offers_all:
            absent = np.isnan(costs)
            X[absent], costs[absent] = np.nan, 0.0
        return Rounds(X, costs)

    @property
    def extent(self) -> dict[str, Any]:
        """Values for null keys: all seeds, and the number of rounds that all of them have."""
        rounds = min(map(self._length, self._groups))
        return {"seeds": list(self._groups), "horizon.rounds": rounds}

    def check_extent(self, seeds: tuple[int, ...], rounds: int) -> None:
        """Raises for more seeds or rounds than were recorded."""
        if missing := [seed for seed in seeds if seed not in self._groups]:
            there = f"{self._name} has seed {join([str(seed) for seed in self._groups])}"
            say = seeds_word(list(self._groups))
            raise UserError(f"seeds: there is no seed {max(missing)}; {there}; write {say}")
        lengths = {seed: self._length(seed) for seed in seeds}
        shortest = min(lengths, key=lengths.__getitem__)
        if rounds > lengths[shortest]:
            raise UserError(
                f"horizon.rounds={rounds}: {self._name} has {lengths[shortest]} rounds for seed "
                f"{shortest}; set horizon.rounds={lengths[shortest]} or less"
            )

    def _length(self, seed: int) -> int:
        recording, group = self._groups[seed]
        return recording.lengths[group]

    @property
    def _paths(self) -> tuple[str, ...]:
        return (self.file,) if isinstance(self.file, str) else self.file

    @property
    def _name(self) -> str:
        return self._paths[0] if len(self._paths) == 1 else f"data.file ({len(self._paths)} files)"

    @cached_property
    def _recordings(self) -> "list[Recording]":
        from odfl_cli.environments.replay.recording import record

        chosen = self.columns, self.group, self.standardise, self.on_missing
        try:
            return [record(Path(path), *chosen) for path in self._paths]
        except UserError as error:  # it begins with the file's name
            raise UserError(f"data.file={error}") from error

    @cached_property
    def _groups(self) -> "dict[int, tuple[Recording, int]]":
        """Seed → its recording and the number of its group."""
        places = [(one, group) for one in self._recordings for group in range(len(one.groups))]
        names = [one.seeds(self.group) for one in self._recordings]
        seeds = [seed for named in names for seed in named or ()]
        if None in names or len(set(seeds)) < len(places):
            seeds = list(range(len(places)))
        return dict(zip(seeds, places, strict=True))
