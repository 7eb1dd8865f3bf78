"""Runs `odfl run …` in this process and prints, last, its seconds and its peak memory as JSON."""

import json
import shutil
import sys
from pathlib import Path

from odfl_cli.cli import main


def peak_megabytes() -> float:
    """The peak memory of this program; getrusage would include the parent's memory at the fork."""
    try:
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1000 * 1.024
    except (OSError, IndexError):
        import resource

        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


if __name__ == "__main__":
    shutil.rmtree("run", ignore_errors=True)  # the run weighed before
    if code := main(["run", *sys.argv[1:], "hydra.run.dir=run"]):
        sys.exit(code)
    summary = json.loads(Path("run/summary.json").read_text())
    lines = len(Path("run/seed-0.csv").read_text().splitlines())
    print(json.dumps({**summary["seconds"], "megabytes": peak_megabytes(), "rows": lines - 1}))
