"""What keys, columns and values are called in figures."""

from collections.abc import Mapping
from typing import Any

COLUMNS = {
    "avg_cost": ("average cost", r"$t^{-1}\sum_{s\leq t}\,\langle c_s, w_s\rangle$"),
    "avg_mse": ("average MSE", r"$t^{-1}\sum_{s\leq t}\,\|\hat{c}_s-c_s\|^2/d$"),
    "avg_regret": ("average regret", r"$R_t\,/\,t$ above each round's best"),
    "avg_static_regret": (
        "average static regret",
        r"$t^{-1}(\sum_{s\leq t} f_s(\theta_s)-\min_\theta\sum_{s\leq t} f_s(\theta))$",
    ),
    "avg_expected_static_regret": (
        "expected static regret",
        r"$t^{-1}(\sum_{s\leq t} F_s(\theta_s)-\min_\theta\sum_{s\leq t} F_s(\theta))$",
    ),
    "avg_dynamic_regret": (
        "average dynamic regret",
        r"$t^{-1}\sum_{s\leq t}(F_s(\theta_s)-\min_\theta F_s(\theta))$",
    ),
    "expected_cost": ("expected cost", r"$F_t(\theta_t)$"),
    "path_length": ("path length of the oracle", "$P_t$"),
    "alpha": ("smoothing", r"$\alpha_t$"),
    "eta": ("step size", r"$\eta_t$"),
    "cost": ("cost of the round", r"$\langle c_t, w_t\rangle$"),
    "mse": ("MSE of the round", r"$\|\hat{c}_t-c_t\|^2/d$"),
    "best_cost": ("best cost of the round", r"$\min_w\,\langle c_t, w\rangle$"),
    "regret": ("regret", r"$R_t$ above each round's best"),
}

KEYS = {
    "data.gamma": ("misspecification", r"$\gamma$"),
    "data.items": ("items", "$K$"),
    "data.features": ("features", "$p$"),
    "data.rho": ("correlation of the items", r"$\rho$"),
    "data.amplitude": ("amplitude", "$A$"),
    "data.noise_std": ("noise", r"$\sigma_\varepsilon$"),
    "data.theta_star_norm": ("norm of the hidden parameter", r"$\|\theta^\star\|$"),
    "horizon.rounds": ("rounds", "$T$"),
    "algo.c_alpha": ("smoothing constant", r"$c_\alpha$"),
    "algo.c_eta": ("step-size constant", r"$c_\eta$"),
    "algo.eta": ("step size", r"$\eta$"),
    "theta_radius": (r"radius of $\Theta$", "$R$"),
}


def label(name: str, varying: Mapping[str, Any]) -> str:
    """The name of a curve in a legend: DF-OGD, γ = 0.5."""
    settings = [f"{symbol(key)} = {shorten_value(value)}" for key, value in varying.items()]
    return ", ".join(filter(None, [plain(name), *settings]))


def symbol(key: str) -> str:
    """The paper's symbol for a key, or the key."""
    return KEYS[key][1] if key in KEYS else plain(key)


def key_label(key: str) -> str:
    """A key in words, with the paper's symbol."""
    return "  ".join(KEYS[key]) if key in KEYS else plain(key)


def column_words(column: str) -> str:
    """A column in words."""
    return COLUMNS[column][0] if column in COLUMNS else plain(column)


def column_label(column: str, final: bool = False) -> str:
    """A column in words, with its formula on a second line; after the last round t is T."""
    words, formula = column_words(column), COLUMNS.get(column, ("", ""))[1]
    if final:
        formula = formula.replace("t^{-1}", "T^{-1}").replace(r"\leq t", r"\leq T")
        formula = formula.replace("R_t", "R_T").replace(r"\,/\,t$", r"\,/\,T$")
        words = f"final {words}"
    return f"{words}\n{formula}".rstrip()


def shorten_value(value: object) -> str:
    """A value of the config, short enough for a legend."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return plain(text if len(text) <= 24 else f"{text[:23]}…")


def plain(text: str) -> str:
    """Text that matplotlib does not take for a formula."""
    return text.replace("$", r"\$")
