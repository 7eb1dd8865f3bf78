"""Keys that do not change the numbers of a run."""

ATTEMPT = ("force", "retry", "outputs", "most_jobs", "save_state", "continue")
"""Keys that do not change the name of a sweep."""
SWEEP_GROUPS = ("until", "tune")  # groups of a sweep as a whole, not of its jobs
BOOKKEEPING = (*ATTEMPT, *SWEEP_GROUPS, "hydra", "sweep", "experiment", "objective")
"""Keys that say where results go and whether to compute them."""
NOT_REPEATED = {"seeds", *BOOKKEEPING} - {"experiment", "save_state"}
"""Keys left out of the command that repeats a run; its seeds are added."""
NOT_COMPARED = ("seeds", "engine", "horizon.rows", *BOOKKEEPING)
"""Keys that do not distinguish two runs: the seeds of otherwise equal runs are pooled."""
