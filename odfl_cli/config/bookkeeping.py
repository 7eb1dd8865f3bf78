"""Keys that are no settings: they change no number of a run."""

ATTEMPT = ("force", "retry", "outputs", "most_jobs", "save_state", "continue")
"""What makes another attempt at a sweep, not another sweep."""
SWEEP_GROUPS = ("until", "tune")
"""Groups of a sweep as a whole, not of its jobs."""
BOOKKEEPING = (*ATTEMPT, *SWEEP_GROUPS, "hydra", "sweep", "experiment", "objective")
"""Where results go and whether to compute them, not what they are."""
NOT_REPEATED = {"seeds", *BOOKKEEPING} - {"experiment", "save_state"}
"""What the command that repeats a run leaves out; its seeds are added."""
NOT_COMPARED = ("seeds", "engine", "horizon.rows", *BOOKKEEPING)
"""What does not distinguish two runs; seeds of otherwise equal runs are pooled."""
