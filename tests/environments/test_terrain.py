"""Height maps: the costs edge by edge, the law of the heights, and the network that reads them."""

from functools import partial
from itertools import product

import numpy as np
import pytest
import torch
from height_maps import EdgeNet, Terrain

from odfl_cli import run
from odfl_cli.core.errors import UserError
from odfl_cli.problem.polytopes.shortest_path import ShortestPath
from odfl_cli.problem.predictors.torch_module import TorchModule

WORLD = Terrain(rows=3, columns=4, pixels=2, noise_width=0.0)


def edges(world: Terrain) -> list[tuple[tuple[int, int], ...]]:
    """The pixels of every edge, in the order in which the polytope has them."""
    q, found = world.pixels, {}
    right, down = ShortestPath(rows=world.rows, columns=world.columns)._edges
    for i, j in product(range(world.rows), range(world.columns)):
        node = i * world.columns + j
        if j + 1 < world.columns:
            found[right[node]] = tuple((q * i, q * j + k) for k in range(q + 1))
        if i + 1 < world.rows:
            found[down[node]] = tuple((q * i + k, q * j) for k in range(q + 1))
    return [found[edge] for edge in range(world.items)]


def test_costs_are_those_of_the_pixels_of_an_edge() -> None:
    X, costs = WORLD.rounds((3,), 0, 2)
    assert X.shape == (1, 2, 5, 7)
    for edge, pixels in enumerate(edges(WORLD)):
        heights = np.array([X[0, 1][pixel] for pixel in pixels])
        slopes = np.mean([(b - a) ** 2 for a, b in zip(heights, heights[1:], strict=False)])  # noqa: RUF007
        wet = np.mean([1 / (1 + np.exp((h + 0.5) / 0.1)) for h in heights])
        assert costs[0, 1, edge] == pytest.approx(1 + 4 * slopes + 3 * wet)


def test_heights_are_standard_and_smooth() -> None:
    X = Terrain().rounds(tuple(range(20)), 0, 200).X
    assert X.mean() == pytest.approx(0, abs=0.03)
    assert X.std() == pytest.approx(1, abs=0.02)
    # two Gaussians of deviation s, convolved: correlation exp(−1/(4s²)) one pixel apart
    assert (X[..., 1:] * X[..., :-1]).mean() == pytest.approx(np.exp(-1 / 4 / 1.2**2), abs=0.02)


def test_noise_has_mean_one() -> None:
    world = Terrain()
    X, costs = world.rounds((0,), 0, 2000)
    share = costs / world.costs(X)
    assert share.min() >= 0.8
    assert share.max() <= 1.2
    assert share.mean() == pytest.approx(1, abs=0.002)


def test_the_network_reads_the_edges_in_their_order() -> None:
    """Convolutions that copy the picture: the mean height, once for edges to the right, thrice down."""
    net = EdgeNet(1, 1, WORLD.pixels, "none").double()
    with torch.no_grad():
        for tensor in net.parameters():
            tensor.zero_()
        net.body[0].weight[0, 0, 1, 1] = 1.0
        net.right.weight[:], net.down.weight[:] = 1.0, 3.0
    X = WORLD.rounds((3,), 0, 1).X[0, 0]
    means = [
        np.mean([X[pixel] for pixel in pixels]) * (1 if pixels[0][0] == pixels[1][0] else 3)
        for pixels in edges(WORLD)
    ]
    np.testing.assert_allclose(net(torch.from_numpy(X)).detach(), means)


@pytest.mark.thorough
def test_without_an_activation_it_is_linear_in_the_pixels() -> None:
    net = partial(EdgeNet, pixels=2, activation="none", layers=2)
    part = TorchModule(module=net).prepared(WORLD.items, WORLD.shape)
    X = WORLD.rounds((3,), 0, 2).X[0]
    zero = np.zeros(part.parameter_count(0, 0))
    predict = lambda picture: part.predict(zero, picture) - part.predict(zero, 0 * picture)  # noqa: E731
    np.testing.assert_allclose(predict(X[0] - 2 * X[1]), predict(X[0]) - 2 * predict(X[1]))


@pytest.mark.slow
def test_a_network_finds_paths_that_a_linear_map_of_the_pixels_does_not() -> None:
    words = ("polytope=shortest_path", "regularizer=log_barrier", "algo=spo", "theta_radius=10")
    size = {"horizon": {"rounds": 400}, "seeds": [1000, 1001, 1002], "progress": False}
    late, linear = (
        run(*words, data=Terrain(), predictor=partial(EdgeNet, activation=activation), **size)
        .rows.query("t > 200").groupby("seed")["cost"].mean().to_numpy()
        for activation in ("relu", "none")
    )  # fmt: skip
    costs = Terrain().rounds((1000, 1001, 1002), 0, 400).costs
    path = ShortestPath(rows=5, columns=5).minimise(costs.mean(1))
    constant = (costs * path[:, None]).sum(-1).mean(-1)
    assert (late < linear).all()
    assert (late < 0.85 * constant).all()


def test_a_linear_predictor_of_pictures_is_refused() -> None:
    words = ("polytope=shortest_path", "regularizer=log_barrier", "horizon=smoke", "seeds=1")
    with pytest.raises(UserError, match=r"Linear .*\[13, 13\]; choose predictor=torch"):
        run(*words, data=Terrain(), progress=False)
