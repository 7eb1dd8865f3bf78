"""What algorithms are called in figures and in the table of claims."""

ABBREVIATIONS = ("df", "pf", "ogd", "ftpl", "rls")
SPECIAL = {
    "spo": "SPO+",
    "spo_printed": "SPO+ as printed",
    "guard": "DF-Moments, guarded",
    "rls_forgetting": "RLS, forgetting",
    "rls_adaptive": "RLS, adaptive",
    "restart": "Restarts",
    "fenchel_young": "Fenchel–Young",
    "perturbed": "Perturbed optimiser",
    "ogd": "OGD, no oracle",
    "df_ogd_endpoint": "DF-OGD, δ = 1",
    "always": "Always the same",
}
"""Names that do not follow from the choice."""
REFERENCES = ("uniform", "frozen", "clairvoyant")
"""Those that do not learn, and between which the others lie."""


def display_name(algorithm: str) -> str:
    """DF-OGD for df_ogd, Rolling mean for rolling_mean."""
    first, *others = algorithm.split("_")
    if algorithm in SPECIAL or first not in ABBREVIATIONS:
        return SPECIAL.get(algorithm, algorithm.replace("_", " ").capitalize())
    words = [word.upper() if word in ABBREVIATIONS else word.capitalize() for word in others]
    return "-".join([first.upper(), *words])
