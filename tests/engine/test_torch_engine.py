"""The array and torch engines are loops over decide and update; torch is left as it was."""

from dataclasses import replace
from typing import ClassVar

import numpy as np
import pytest
import torch
from support.problems import block_of, choices, composed_job, make_job
from support.samples import some_of

from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.core.settings import settings
from odfl_cli.engine.array_engine import ArrayEngine
from odfl_cli.engine.torch_engine import TorchEngine
from odfl_cli.runs.simulate import simulate


@pytest.mark.parametrize("engine", [ArrayEngine(), TorchEngine()], ids=["array", "torch"])
@pytest.mark.parametrize("algo", some_of(choices("algo"), 8))
def test_trace_equals_a_loop_on_numpy_arrays(algo, engine):
    """Mixtures let the engine play their learners first, and yet decide as this loop does."""
    sizes = ("horizon.rounds=10", "data.items=6", "data.features=4", "seeds=[1,4,6]")
    job = replace(composed_job(f"algo={algo}", *sizes), engine=engine)
    rounds, draws = block_of(job, 0, 10)
    truth = job.environment.theta_star(job.seeds)
    end, trace = job.engine.advance(job.algorithm, job.algorithm.init(3, truth), rounds, draws)

    state = job.algorithm.init(3, truth)
    for t in range(10):
        X, c = rounds.X[:, t], rounds.costs[:, t]
        now = {name: values[:, t] for name, values in draws.items()}
        prediction, decision = job.algorithm.act(state, X, now)
        for s in range(3):
            assert trace.cost[s, t] == pytest.approx(c[s] @ decision[s], rel=1e-9)
            assert trace.mse[s, t] == pytest.approx(np.mean((prediction[s] - c[s]) ** 2), rel=1e-9)
        state = job.algorithm.update(state, X, c, now)
    assert type(end) is type(state)
    assert end.t == 10
    np.testing.assert_allclose(end.theta, state.theta, rtol=1e-9, atol=1e-12)


@settings
class Spy(PFOGD):
    """Looks around in every update, and may break one."""

    seen: ClassVar[list] = []
    breaks: bool = False

    def update(self, state, X, costs, draws):
        if self.breaks:
            raise ZeroDivisionError
        self.seen.append((torch.get_num_threads(), torch.is_grad_enabled(), state.theta, X))
        return super().update(state, X, costs, draws)


def on_torch(**given):
    return replace(make_job(Spy, **given), engine=TorchEngine())


@pytest.fixture
def three_threads():
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield
    torch.set_num_threads(before)


@pytest.mark.usefixtures("three_threads")
def test_one_thread_double_precision_and_no_graph_inside_and_torch_as_before_outside():
    Spy.seen.clear()
    result = simulate(on_torch(rounds=4))
    assert len(Spy.seen) == 4
    for threads, recording, theta, X in Spy.seen:
        assert (threads, recording, theta.dtype) == (1, False, torch.float64)
        assert not theta.requires_grad
        assert not X.requires_grad
    assert result.state.theta.dtype == np.float64
    assert (torch.get_num_threads(), torch.is_grad_enabled()) == (3, True)


@pytest.mark.usefixtures("three_threads")
def test_threads_come_back_after_an_error():
    with pytest.raises(ZeroDivisionError):
        simulate(on_torch(settings={"breaks": True}))
    assert torch.get_num_threads() == 3


@pytest.mark.parametrize("engine", [ArrayEngine(), TorchEngine()])
def test_rounds_and_state_given_to_the_engine_stay_as_they_are(engine):
    job = replace(make_job(PFOGD), engine=engine)
    rounds, draws = block_of(job, 0, 20)
    state = job.algorithm.init(2, None)
    kept = [array.copy() for array in (*rounds, state.theta)]
    job.engine.advance(job.algorithm, state, rounds, draws)
    for before, after in zip(kept, (*rounds, state.theta), strict=True):
        np.testing.assert_array_equal(before, after)


@pytest.mark.parametrize(
    "chosen",
    [
        ("algo=df_moments",),
        ("algo=dfhpg", "feedback=bandit"),
        ("algo=epsilon_greedy", "feedback=bandit"),
        ("algo=weighted", "feedback=bandit"),
    ],
    ids=lambda chosen: chosen[0],
)
def test_single_precision_is_taken_by_algorithms_with_divisions_and_draws(chosen):
    single = "engine=torch", "engine.dtype=float32"
    run = simulate(composed_job(*chosen, *single, "horizon.rounds=40", "seeds=[0,1]"))
    assert np.isfinite(run.state.theta).all()
