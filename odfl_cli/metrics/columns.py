"""The meaning of every column of a CSV; docs/reference/columns.md is made from it."""

MEANINGS = {
    "every run": {
        "t": "the round, from 1",
        "cost": "⟨c_t, w_t⟩, the cost of the decision",
        "avg_cost": "the mean of `cost` over all rounds so far, written or not",
        "mse": "the mean over the items of (ĉ_t − c_t)²",
        "avg_mse": "the mean of `mse` over all rounds so far",
        "best_cost": "min_w ⟨c_t, w⟩, the cost of the round's best decision",
        "regret": "Σ (cost − best_cost) so far",
        "avg_NAME": "of any regret or bound NAME: NAME / t; computed when files are read",
    },
    "data whose law is known": {
        "mean_cost": "⟨E[c_t given X_t], w_t⟩, the cost without the noise of the round",
        "avg_mean_cost": "the mean of `mean_cost` over all rounds so far",
    },
    "metrics=regret": {
        "expected_cost": "F_t(θ_t) = E⟨c_t, w*(θ_t, X_t)⟩, the mean over `metrics.sample` fresh rounds",
        "dynamic_regret": "Σ_{s≤t} (F_s(θ_s) − min_θ F_s(θ)), linear between evaluation rounds",
        "expected_static_regret": "Σ_{s≤t} F_s(θ_s) − min_θ Σ_{s≤t} F_s(θ)",
        "static_regret": "Σ_{s≤t} f_s(θ_s) − min_θ Σ_{s≤t} f_s(θ), a lower bound: the search may miss",
        "bound": "the theorem's bound on the regret of DF-OGD or DF-FTPL, with the run's constants",
        "alpha": "α_t, the smoothing; empty for an algorithm without one",
        "eta": "η_t, the step size or the rate; empty for an algorithm without one",
        "path_length": "P_t, the length of the path of the oracle's answers; DF-OGD alone",
    },
    "metrics=full": {
        "theta_norm": "‖θ_t‖",
        "oracle_before": "the objective of the oracle where it starts",
        "oracle_after": "the objective of the oracle where it ends",
        "xi": "ξ, how far that is above the answer of a far stronger solver",
    },
    "metrics=decisions": {
        "decision": "the item played, from 0; several items: −1 − Σ 2^item; none: −1",
        "best_decision": "the same of the round's best decision",
    },
    "parts that report something": {
        "certificate": "`vote` and `pool`: a bound on the regret to every expert",
        "expert_regret": "`vote` and `pool`: the regret to the best expert, by realised costs",
        "propensity": "algorithms that explore: how likely the last decision was whose costs were seen",
        "estimate_square": "`weighted`: ‖ĉ‖² of the estimated costs; on average ‖c‖² and their variance",
        "waiting": "`feedback.delay` > 0: rounds whose costs have not been seen yet",
        "kappa_gap": "`kappa` > 0: the predicted cost that was given away",
        "solver_limits": "`polytope=model`: solves that ended at a limit",
    },
}
"""Source of a column → its name → its meaning."""
