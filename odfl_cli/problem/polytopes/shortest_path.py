"""Shortest paths on a grid, from the top left node to the bottom right, moving right or down."""

from functools import cached_property
from typing import Annotated

import numpy as np
from pydantic import Field

from odfl_cli.core.settings import Integer, settings
from odfl_cli.problem.polytopes.linear import LinearSet

NO_EDGE = -1
ROUNDING = 1e-12
"""Paths are equal if their costs differ by less than this share of all costs: rounding breaks no ties."""


@settings
class ShortestPath(LinearSet):
    """Unit flows {w ≥ 0, out − in = supply} on a grid of rows × columns nodes.

    Edges are numbered row of nodes by row of nodes (PyEPO's order): first the edges to the right
    inside the row, from left to right, then the edges down to the next row, from left to right.
    The graph has no cycle, so that costs of any sign have a shortest path.
    A grid with a single row or column has one path only and is invalid.
    """

    rows: Annotated[Integer, Field(ge=2)]
    columns: Annotated[Integer, Field(ge=2)]

    @property
    def dimension(self) -> int:
        return self.rows * (self.columns - 1) + self.columns * (self.rows - 1)

    def minimise_rows(self, costs: np.ndarray) -> np.ndarray:
        """Bellman's recursion backwards from the last node; ties go to the right."""
        right, down = self._edges
        rounding = ROUNDING * np.abs(costs).sum(axis=1)
        last = len(right) - 1
        to_go = np.zeros((last + 1, len(costs)))
        goes_right = np.zeros((last + 1, len(costs)), dtype=bool)
        by_edge = np.vstack([costs.T, np.full(len(costs), np.inf)])  # NO_EDGE is the last row
        for node in reversed(range(last)):
            along = by_edge[right[node]] + to_go[node + 1]
            below = by_edge[down[node]] + to_go[min(node + self.columns, last)]
            goes_right[node] = along <= below + rounding
            if NO_EDGE in (right[node], down[node]):  # also for costs that are not finite
                goes_right[node] = down[node] == NO_EDGE
            to_go[node] = np.where(goes_right[node], along, below)
        return self._walk(goes_right)

    def faces(self) -> tuple[np.ndarray, np.ndarray]:
        return -np.eye(self.dimension), np.zeros(self.dimension)

    def equalities(self) -> tuple[np.ndarray, np.ndarray]:
        """out − in = 1 at the first node, 0 at the others; the equality of the last node follows."""
        C = np.zeros((self.rows * self.columns, self.dimension))
        for step, edges in zip((1, self.columns), self._edges, strict=True):
            tails = np.flatnonzero(edges != NO_EDGE)
            C[tails, edges[tails]] = 1.0
            C[tails + step, edges[tails]] = -1.0
        return C[:-1], np.eye(len(C))[0, :-1]

    def interior_point(self) -> np.ndarray:
        """The mean of d paths, one through every edge."""
        return self.minimise_rows(-np.eye(self.dimension)).mean(axis=0)

    @cached_property
    def _edges(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of every node's edge to the right and down, NO_EDGE at the borders."""
        i, j = np.divmod(np.arange(self.rows * self.columns), self.columns)
        right = i * (2 * self.columns - 1) + j
        down = right + self.columns - 1
        right[j == self.columns - 1] = NO_EDGE
        down[i == self.rows - 1] = NO_EDGE
        return right, down

    def _walk(self, goes_right: np.ndarray) -> np.ndarray:
        right, down = self._edges
        nodes, paths = goes_right.shape
        visited = np.zeros((nodes, paths), dtype=bool)
        visited[0] = True
        w = np.zeros((self.dimension, paths))
        for node in range(nodes - 1):
            for edge, head, taken in (
                (right[node], node + 1, goes_right[node]),
                (down[node], node + self.columns, ~goes_right[node]),
            ):
                if edge != NO_EDGE:
                    w[edge] = visited[node] & taken
                    visited[head] |= visited[node] & taken
        return np.ascontiguousarray(w.T)
