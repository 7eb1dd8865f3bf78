"""A decision set from a file, minimised over its vertices if they can be listed, else by HiGHS."""

import csv
import zipfile
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from odfl_cli.core.errors import RowError, UserError
from odfl_cli.core.settings import settings
from odfl_cli.problem.polytopes.highs import EXACT, HiGHS
from odfl_cli.problem.polytopes.linear import LinearSet
from odfl_cli.problem.polytopes.vertices import cheapest_rows, vertices_of

PROBES = 50
KEYS = ("A", "b", "A_eq", "b_eq")
LARGEST = 1e100  # the largest coefficient, as the square of a larger one may overflow


@settings
class Custom(LinearSet):
    """{A w ≤ b, A_eq w = b_eq}, read once from a YAML, NPZ or CSV file.

    YAML and NPZ hold A and b, and A_eq and b_eq for equalities. A line of a CSV is one
    constraint: d coefficients, one of <= >= =, and the right-hand side; # starts a comment.
    """

    file: Annotated[str, Field(min_length=1)]

    def __post_init__(self) -> None:
        if len(self.equalities()[1]) == self.dimension:
            raise self.refusal("the equalities leave at most one point, so nothing to decide")
        self.interior_point()
        if not self._solver.bounded:
            raise self.refusal(
                "the set is unbounded, or its numbers are too large or too small for the solver; "
                "state it in units in which they are near 1"
            )

    @property
    def dimension(self) -> int:
        return self._arrays["A"].shape[1]

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """The first vertex of least cost in the list; without a list, the one that HiGHS finds."""
        if self.vertices is not None and np.isfinite(costs).all():
            return cheapest_rows(self.vertices, costs)
        w = np.empty_like(costs)
        for row, cost in enumerate(costs):
            if (vertex := self._solver.vertex(cost)) is None:
                largest = np.abs(cost).max()
                reason = f"the solver found no optimum for costs up to {largest:g}"
                raise RowError(row, len(costs), str(self.refusal(reason)))
            w[row] = vertex
        return w

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        return self._arrays["A"], self._arrays["b"]

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """A_eq w = b_eq without the rows that follow from others."""
        return self._independent

    def refusal(self, reason: str) -> UserError:
        """The error with the file's name."""
        return UserError(f"polytope.file={self.file}: {reason}")

    @cached_property
    def vertices(self) -> np.ndarray | None:
        """The vertices, or None if HiGHS finds a better point, as with almost parallel faces."""
        found = vertices_of(*self.faces(), *self.equalities())
        if found is None or not len(found):
            return None
        for cost in np.random.default_rng(0).normal(size=(PROBES, self.dimension)):
            least, vertex = (found @ cost).min(), self._solver.vertex(cost)
            if vertex is None or abs(least - vertex @ cost) > EXACT * max(1.0, abs(least)):
                return None
        return found

    @cached_property
    def _arrays(self) -> dict[str, np.ndarray]:
        try:
            return _check_arrays(_read(Path(self.file)))
        except ValueError as error:
            raise self.refusal(str(error)) from error

    @cached_property
    def _independent(self) -> tuple[np.ndarray, np.ndarray]:
        C, e = self._arrays["A_eq"], self._arrays["b_eq"]
        if not len(e):
            return C, e
        from scipy.linalg import qr

        unit = C / np.linalg.norm(C, axis=1, keepdims=True)
        rank = np.linalg.matrix_rank(unit)
        kept = np.sort(qr(unit.T, mode="r", pivoting=True)[1][:rank])
        point = np.linalg.lstsq(C[kept], e[kept])[0]
        if not np.allclose(C @ point, e, rtol=EXACT, atol=EXACT):
            raise self.refusal("the equalities contradict each other")
        return C[kept], e[kept]

    @cached_property
    def _solver(self) -> HiGHS:
        return HiGHS(*self.faces(), *self.equalities())


def _read(path: Path) -> Mapping[str, Any]:
    import yaml

    kind = path.suffix.lower()
    if kind not in {".yaml", ".yml", ".npz", ".csv"}:
        raise ValueError("the name should end in .yaml, .npz or .csv")
    if not path.is_file():
        raise ValueError("there is no such file")
    try:
        if kind == ".csv":
            return _read_csv(path)
        given = dict(np.load(path)) if kind == ".npz" else yaml.safe_load(path.read_text("utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"cannot be read ({error})") from error
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML ({' '.join(str(error).split())})") from error
    except (TypeError, ValueError, zipfile.BadZipFile) as error:
        reason = "not an NPZ file of numbers" if kind == ".npz" else str(error)
        raise ValueError(reason) from error
    if not isinstance(given, dict):
        raise ValueError("should hold the keys A and b, and perhaps A_eq and b_eq")
    return given


def _read_csv(path: Path) -> Mapping[str, Any]:
    given: dict[str, list] = {key: [] for key in KEYS}
    lines = (line.split("#")[0] for line in path.read_text(encoding="utf-8").splitlines())
    for number, line in enumerate(csv.reader(lines), start=1):
        cells = [cell.strip() for cell in line]
        if not any(cells):
            continue
        if len(cells) < 3 or cells[-2] not in {"<=", ">=", "="}:
            raise ValueError(f"line {number} should be coefficients, one of <= >= =, and a number")
        row, right = _numbers(cells[:-2], f"line {number}"), _numbers(cells[-1:], f"line {number}")
        if given["A"] + given["A_eq"] and len(row) != len((given["A"] + given["A_eq"])[0]):
            raise ValueError(f"line {number} has another number of coefficients than the first")
        sign, suffix = (-1.0 if cells[-2] == ">=" else 1.0), ("_eq" if cells[-2] == "=" else "")
        given["A" + suffix].append(sign * row)
        given["b" + suffix].append(sign * right[0])
    return {key: values for key, values in given.items() if values}


def _check_arrays(given: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The four arrays; raises a ValueError unless their shapes fit and they are finite."""
    if unknown := [str(key) for key in given if key not in KEYS]:
        raise ValueError(f"{unknown[0]}: there is no such key; there are {', '.join(KEYS)}")
    for key, partner in (("A", "b"), ("b", "A"), ("A_eq", "b_eq"), ("b_eq", "A_eq")):
        if key not in given and (partner in given or key == "A"):
            raise ValueError(f"{key} is missing")
    arrays = {key: _numbers(values, key) for key, values in given.items()}
    for name, other in (("A", "b"), ("A_eq", "b_eq"))[: len(arrays) // 2]:
        matrix, right = arrays[name], arrays[other]
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(f"{name} should be a table, one row per constraint")
        if right.shape != (len(matrix),):
            raise ValueError(f"{name} has {len(matrix)} rows; {other} should have as many numbers")
        if not matrix.any(axis=1).all():
            raise ValueError(f"row {int(matrix.any(axis=1).argmin()) + 1} of {name} is all zeros")
    d = arrays["A"].shape[1]
    arrays = {"A_eq": np.zeros((0, d)), "b_eq": np.zeros(0)} | arrays
    if arrays["A_eq"].shape[1] != d:
        raise ValueError(f"A has {d} columns and A_eq {arrays['A_eq'].shape[1]}")
    return arrays


def _numbers(values: Any, name: str) -> np.ndarray:
    try:
        numbers = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} should hold numbers, in rows of one length") from error
    if not np.isfinite(numbers).all():
        raise ValueError(f"{name} holds a number that is not finite")
    if (np.abs(numbers) > LARGEST).any():
        raise ValueError(f"{name} holds a number beyond {LARGEST:g}")
    return numbers
