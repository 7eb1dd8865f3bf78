"""Linear bandits on any decision set: least squares of the costs seen, and decisions that explore.

Agrawal & Goyal, *Thompson Sampling for Contextual Bandits with Linear Payoffs*, ICML 2013; Li, Chu,
Langford & Schapire, *A Contextual-Bandit Approach to Personalized News Article Recommendation*
(LinUCB), WWW 2010; Wen, Kveton & Ashkan, *Efficient Learning in Large-Scale Combinatorial
Semi-Bandits* (CombLinTS, CombLinUCB), ICML 2015, arXiv 1406.7443.
"""

from odfl_cli.algorithms.rls import RLS, RLSState
from odfl_cli.core.arrays import Array, array_namespace, positive
from odfl_cli.core.settings import Positive, settings
from odfl_cli.core.streams import Draw
from odfl_cli.feedback.base import Seen
from odfl_cli.problem.polytopes.linear import is_simplex


@settings
class LinearBandit(RLS):
    """A = λI + Σ DᵀD and θ̂ = A⁻¹ Σ Dᵀc over the rows seen; σ² is their mean squared error so far."""

    def moments(self, state: RLSState) -> tuple[Array, Array, Array]:
        """θ̂ [S, m], A [S, m, m] and σ [S, 1], which is 1 before the first costs are seen."""
        xp, gram = array_namespace(state.gram), state.gram[:, 0]
        identity = xp.eye(gram.shape[-1], dtype=gram.dtype, device=gram.device)
        error = state.missed / max(state.t, 1) if state.t else xp.ones_like(state.missed)
        sigma = xp.sqrt(positive(error))[:, None]
        return state.thetas[:, 0], gram + self.ridge * identity, sigma

    def update(self, state: RLSState, X: Array, costs: Array, draws: dict[str, Array]) -> RLSState:
        """The state after a round; the error is a mean over the offered items."""
        xp, marks = array_namespace(X), X.reshape(*X.shape[:2], -1)[..., 0]
        offered = xp.astype(~xp.isnan(marks), X.dtype).sum(-1)
        return self._regress(state, self.design(X), costs, xp.clip(offered, min=1.0))

    def learn(self, state: RLSState, seen: Seen, draws: dict[str, Array]) -> RLSState:
        if seen.kind == "full":
            return self.update(state, seen.X, seen.costs, draws)
        return RLS.learn(self, state, seen, draws)


@settings
class Thompson(LinearBandit):
    """Plays the best decision for θ̃ ~ N(θ̂, (scale·σ)² A⁻¹), a draw from the posterior of a Gaussian model."""

    scale: Positive = 0.001
    name = "thompson"
    explores = True

    def draws(self) -> dict[str, Draw]:
        return {"thompson/theta": Draw("normal", (self.problem.parameters,))}

    def decide(
        self, state: RLSState, X: Array, draws: dict[str, Array] | None = None
    ) -> tuple[Array, Array]:
        """ĉ = Dθ̂, and argmin ⟨Dθ̃, w⟩ with θ̃ = θ̂ + scale·σ L⁻ᵀ Z for A = LLᵀ."""
        predict, (theta, A, sigma) = self.problem.predictor.predict, self.moments(state)
        prediction = predict(theta, X)  # NaN for an item that is not offered
        if draws is None:
            return prediction, self.problem.decide(prediction)
        xp = array_namespace(X)
        root = xp.linalg.cholesky(A).swapaxes(-1, -2)
        noise = xp.linalg.solve(root, draws["thompson/theta"][..., None])[..., 0]
        sampled = theta + self.scale * sigma * noise
        return prediction, self.problem.decide(predict(sampled, X))


@settings
class UCB(LinearBandit):
    """Plays the best decision for costs ĉ_i − width·σ √(d_iᵀ A⁻¹ d_i), with d_i the rows of D."""

    width: Positive = 0.1
    name = "ucb"

    def takes_feedback(self, kind: str) -> bool:
        """Bandit feedback on the simplex only: the bonus of several items is not a sum over items."""
        return kind != "bandit" or is_simplex(self.problem.polytope)

    def decide(self, state: RLSState, X: Array) -> tuple[Array, Array]:
        """ĉ = Dθ̂, and the best decision for its lower bounds."""
        D, (theta, A, sigma) = self.design(X), self.moments(state)
        xp, prediction = array_namespace(X), self.problem.predictor.predict(theta, X)
        columns = D.swapaxes(-1, -2)
        square = (columns * xp.linalg.solve(A, columns)).sum(-2)
        bonus = self.width * sigma * xp.sqrt(xp.clip(square, min=0.0))
        return prediction, self.problem.decide(prediction - bonus)
