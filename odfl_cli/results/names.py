"""What algorithms are called in figures and in the table of claims."""

ALGORITHMS = {
    "df_ogd": "DF-OGD",
    "df_ftpl": "DF-FTPL",
    "pf_ogd": "PF-OGD",
    "spo": "SPO+",
    "spo_printed": "SPO+ as printed",
    "df_moments": "DF-Moments",
    "guard": "DF-Moments, guarded",
    "vote": "Vote",
    "rls": "RLS",
    "rls_forgetting": "RLS, forgetting",
    "rls_adaptive": "RLS, adaptive",
    "restart": "Restarts",
    "fenchel_young": "Fenchel–Young",
    "perturbed": "Perturbed optimiser",
    "policy_gradient": "Policy gradient",
    "hedge": "Hedge",
    "ogd": "OGD, no oracle",
    "df_ogd_endpoint": "DF-OGD, δ = 1",
    "yesterday": "Yesterday",
    "last_week": "Last week",
    "rolling_mean": "Rolling mean",
    "forecast": "Forecast",
    "always": "Always the same",
    "uniform": "Uniform",
    "frozen": "Frozen",
    "clairvoyant": "Clairvoyant",
}
REFERENCES = ("uniform", "frozen", "clairvoyant")
"""Those that do not learn, and between which the others lie."""
