"""Copies of an algorithm that restart on clocks of their own."""

import numpy as np
import pytest
from support.commands import odfl
from support.playing import final_regret, play
from support.problems import composed_job, make_problem, random_rounds
from support.samples import some_of

from odfl_cli.algorithms.df_ogd import DFOGD
from odfl_cli.algorithms.gradient import PFOGD
from odfl_cli.algorithms.restart import Restart
from odfl_cli.algorithms.rls import RLS
from odfl_cli.runs.simulate import simulate


def restarting(base, **settings):
    return Restart(problem=make_problem(rounds=64), base=base, **settings)


def test_copies_are_renewed_on_their_own_clocks():
    algorithm = restarting(DFOGD, shortest=3, copies=4)
    rounds = random_rounds(2, 14, 4, 3)
    draws = {"restart/choice": np.full((2, 14), 0.5), "restart/df_ogd/delta": np.full((2, 14), 0.5)}
    states = play(algorithm, rounds, draws)
    ages = [[copy.t for copy in state.states] for state in states]
    assert ages == [[t % 3, t % 6, t % 12, t] for t in range(1, 15)]
    for state in states:
        assert (np.stack([c.theta for c in state.states]) == state.theta).all(-1).any(0).all()


def test_a_renewed_copy_keeps_theta_and_forgets_the_rest():
    algorithm = restarting(DFOGD, shortest=4, copies=2)
    rounds = random_rounds(2, 4, 4, 3)
    draws = {"restart/choice": np.full((2, 4), 0.9), "restart/df_ogd/delta": np.full((2, 4), 0.5)}
    state = play(algorithm, rounds, draws)[-1]
    young, old = state.states
    np.testing.assert_array_equal(young.theta, state.theta)
    np.testing.assert_array_equal(young.theta, old.theta)  # the last copy was drawn
    assert (young.path_length == 0).all()
    assert (old.path_length > 0).all()


def test_one_copy_is_the_algorithm_itself():
    rounds = random_rounds(2, 9, 4, 3)
    mine = play(
        restarting(PFOGD, copies=1, shortest=2), rounds, {"restart/choice": np.zeros((2, 9))}
    )
    base = play(PFOGD(problem=make_problem(rounds=64)), rounds)
    for one, other in zip(mine, base, strict=True):
        np.testing.assert_array_equal(one.theta, other.theta)


def test_weights_by_hand():
    """v_k ∝ v_k exp(−η loss_k), then 10 % are dealt out evenly."""
    algorithm = restarting(PFOGD, copies=2, eta=0.5, share=0.1)
    rounds = random_rounds(1, 1, 4, 3)
    thetas = np.array([[0.3, -0.5, 0.1], [-0.2, 0.6, 0.4]])
    state = algorithm.init(1, None)
    copies = tuple(
        copy._replace(theta=theta[None]) for copy, theta in zip(state.states, thetas, strict=True)
    )
    state = state._replace(states=copies, weights=np.array([[0.7, 0.3]]))
    now = algorithm.update(
        state, rounds.X[:, 0], rounds.costs[:, 0], {"restart/choice": np.zeros(1)}
    )
    losses = rounds.costs[0, 0, (rounds.X[0, 0] @ thetas.T).argmin(0)]
    assert losses[0] != losses[1]
    raw = np.array([0.7, 0.3]) * np.exp(-0.5 * losses)
    np.testing.assert_allclose(now.weights[0], 0.9 * raw / raw.sum() + 0.05, rtol=1e-13)


def test_a_history_is_not_shared_between_copies():
    """DF-FTPL writes into its buffer; with one copy renewed the others' rounds stay."""
    job = composed_job(
        "algo=restart", "algo@algo.base=df_ftpl", "algo.shortest=4", "horizon.rounds=9"
    )
    state = simulate(job).state
    buffers = [copy.X for copy in state.states]
    assert all(not np.shares_memory(buffers[0], other) for other in buffers[1:])
    everything = job.environment.rounds(job.seeds, 0, 9).X
    np.testing.assert_array_equal(buffers[-1][:, :9], everything)
    np.testing.assert_array_equal(buffers[0][:, :1], everything[:, 8:])  # renewed after round 8


def turning_world(T=1200, turn=600):
    """Costs Xθ* + noise, and θ* turns round in the middle."""
    rng = np.random.default_rng(5)
    rounds = random_rounds(6, T, 4, 3, seed=5)
    sign = np.where(np.arange(T) < turn, 1.0, -1.0)[:, None]
    rounds.costs[:] = sign * (rounds.X @ np.array([0.6, -0.5, 0.4])) + rng.normal(size=(6, T, 4))
    return rounds


@pytest.mark.thorough
def test_restarts_recover_from_a_turn_where_the_base_does_not():
    rounds, last = turning_world(), slice(900, 1200)
    base = RLS(problem=make_problem(rounds=1200))
    wrapped = Restart(problem=make_problem(rounds=1200), base=RLS, shortest=50, copies=4, eta=0.5)
    choice = {"restart/choice": np.random.default_rng(6).random((6, 1200))}

    def late_cost(algorithm, draws):
        states = play(algorithm, rounds, draws)
        theta = np.stack([state.theta for state in states], axis=1)[:, last.start - 1 : -1]
        chosen = (rounds.X[:, last] * theta[:, :, None]).sum(-1).argmin(-1)
        return np.take_along_axis(rounds.costs[:, last], chosen[..., None], -1).mean()

    assert late_cost(wrapped, choice) < late_cost(base, None) - 0.3
    forgetful = RLS(problem=make_problem(rounds=1200), forgetting=0.98)
    assert late_cost(forgetful, None) < late_cost(base, None) - 0.3


SWITCHING = ("data.items=80", "data.drift=switching", "horizon=paper", "seeds=4")


@pytest.mark.slow
@pytest.mark.parametrize("adaptive", ["df_ogd", "restart"])
@pytest.mark.parametrize("rigid", ["ogd", "df_ftpl", "rls_forgetting", "spo"])
def test_in_a_switching_world_the_adaptive_win(adaptive, rigid):
    """Every seed: the oracle's path raises DF-OGD's rates after a switch, restarts raise OGD's."""
    regret, theirs = (final_regret(algo, *SWITCHING)[0] for algo in (adaptive, rigid))
    assert (regret < theirs).all()


@pytest.mark.parametrize(
    ("arguments", "words"),
    some_of(
        [
            (["algo.base.c_eta=-1"], ["algo.base.c_eta=-1", "greater than 0"]),
            (["algo.base.c_etta=1"], ["algo.base.c_etta", "did you mean algo.base.c_eta?"]),
            (["algo@algo.base=uniform"], ["algo.base: uniform learns nothing"]),
            (["algo@algo.base=guard"], ["algo.base: guard decides by more than θ"]),
            (["algo@algo.base=nope"], ["nope: no such choice", "rls"]),
            (["algo.shortest=0"], ["algo.shortest=0", "greater than or equal to 1"]),
        ],
        2,
    ),
    ids=" ".join,
)
def test_a_wrong_base_is_refused_in_one_line(arguments, words, tmp_path):
    done = odfl("run", "algo=restart", "horizon=smoke", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.splitlines()
    assert all(word in line for word in words), line
    assert list(tmp_path.iterdir()) == []
