"""What tests of recorded rounds share."""

from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest
from support.commands import odfl
from support.recordings import DATA


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


@pytest.fixture(scope="session")
def exported(tmp_path_factory) -> Path:
    """The same rounds as CSV, NPZ and Parquet."""
    folder = tmp_path_factory.mktemp("exported")
    for name in ("rounds.csv", "rounds.npz"):
        done = odfl("data", "export", "-o", name, *DATA, cwd=folder)
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith(f"odfl run data=replay data.file={name}")
    table = pyarrow.csv.read_csv(folder / "rounds.csv")
    pyarrow.parquet.write_table(table, folder / "rounds.parquet")
    return folder
