"""Remarks on rounds before they are played: possible problems, with the settings that solve them."""

from collections.abc import Iterator, Sequence

import numpy as np

SCALES = (1e-3, 1e3)  # root mean squares outside this range are far from 1
TIES = 0.05
LEVEL = 10.0
"""The ratio of mean cost to differences within a round from which costs have a level."""


def look(
    X: np.ndarray, costs: np.ndarray, columns: Sequence[str], shared: bool, scaled: bool = False
) -> Iterator[str]:
    """Remarks on X [T, d, p] and costs [T, d]; `shared`: items share weights, `scaled`: learners remove units.

    `columns` has the names of the first features in a table; an array has none.
    """
    names = [*columns, *(f"feature {place}" for place in range(len(columns), X.shape[-1]))]
    alike = bool((X[:, :1] == X).all())
    level, spread = np.sqrt((costs.mean(-1) ** 2).mean()), np.sqrt(costs.var(-1).mean())
    if alike and shared:
        yield "all items of a round have the same features: predictor=per_item learns weights for each"
    constant = (X[0, 0] == X).all((0, 1))
    intercepts = np.flatnonzero(constant & (X[0, 0] != 0))
    if not intercepts.size and (alike or abs(costs.mean()) > spread):
        yield "no feature is constant: data.intercept=true adds one, for what an item costs on average"
    constant[intercepts[-1:]] = False
    if constant.any():
        which = [name for name, same in zip(names, constant, strict=True) if same]
        kept = ",".join(name for name in columns if name not in which)
        leave = f"'data.columns.features=[{kept}]' leaves it out" if kept else "leave it out of X"
        yield f"constant, so that nothing depends on it: {join(which)}; {leave}"
    sizes = np.sqrt(np.append((X**2).mean((0, 1)), (costs**2).mean()))
    far = (sizes > 0) & ((sizes < SCALES[0]) | (sizes > SCALES[1]))
    if far.any() and not scaled:
        which = [
            f"{name} ({size:.2g})"
            for name, size, is_far in zip([*names, "cost"], sizes, far, strict=True)
            if is_far
        ]
        yield f"of a size far from 1: {join(which)}; theta_radius=auto, the default of replayed data, takes units out"
    tied = ((costs == costs.min(-1, keepdims=True)).sum(-1) > 1).mean()
    if tied > TIES:
        yield (
            f"several items share the lowest cost in {tied:.0%} of the rounds, and what learns from the "
            "best decision, such as spo or fenchel_young, takes the first; algo=rls learns from all costs"
        )
    if level > LEVEL * spread > 0:
        yield (
            f"the costs of a round share a level ({level:.2g}) and differ by less ({spread:.2g}); where "
            "all decisions have one sum it changes none, and data.target=rank learns without it"
        )


def join(names: Sequence[str], most: int = 3) -> str:
    """The first names, and the number of the others."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
