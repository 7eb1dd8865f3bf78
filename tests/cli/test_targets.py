"""Files that a verb writes where the user says: what is there already is not destroyed."""

import os
from pathlib import Path

import pytest
from support.commands import complaints, odfl
from support.samples import some_of
from support.synthetic_runs import write_run

FOREIGN = "name,value\nyears of work,1\n"
SMALL = ("horizon.rounds=2", "seeds=1")
TARGETS = {
    "report.html": ("report", "runs", "-o", "report.html"),
    "table.csv": ("export", "runs", "-o", "table.csv"),
    "table.parquet": ("export", "runs", "-o", "table.parquet"),
    "rounds.csv": ("data", "export", *SMALL, "-o", "rounds.csv"),
    "rounds.npz": ("data", "export", *SMALL, "-o", "rounds.npz"),
    "cost.png": ("plot", "runs", "--y", "avg_cost", "--out", "cost.png"),
    "figures/runs/avg_cost.svg": ("plot", "runs", "--y", "avg_cost", "--format", "svg", "--out", "figures"),
    "figures/runs/summary.csv": ("plot", "runs", "--y", "avg_cost", "--format", "svg", "--out", "figures"),
}  # fmt: skip


@pytest.fixture
def here(tmp_path: Path) -> Path:
    """A folder with two runs and an empty one for figures."""
    write_run(tmp_path / "runs" / "a", levels={0: 0.5})
    write_run(tmp_path / "runs" / "b", "pf_ogd", levels={0: 0.7})
    (tmp_path / "figures" / "runs").mkdir(parents=True)
    return tmp_path


@pytest.mark.parametrize("name", some_of(list(TARGETS), 3))
def test_a_file_of_others_is_kept_unless_it_is_forced(name: str, here: Path) -> None:
    (here / name).write_text(FOREIGN)
    before = sorted(here.rglob("*"))
    done = odfl(*TARGETS[name], cwd=here)
    assert done.returncode == 2
    assert complaints(done) == [f"odfl: {name}: it exists and odfl did not write it; --force replaces it"]  # fmt: skip
    assert (here / name).read_text() == FOREIGN
    assert sorted(here.rglob("*")) == before
    assert odfl(*TARGETS[name], "--force", cwd=here).returncode == 0
    written = (here / name).read_bytes()
    assert len(written) > 0
    assert written != FOREIGN.encode()
    # what odfl wrote is replaced without being forced
    done = odfl(*TARGETS[name], cwd=here)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("content", [b"\n", b"a\rb\n", b"\0,\xff", b'"' + 200_000 * b"x"])
def test_what_is_no_table_is_kept_and_refused_in_one_line(content: bytes, here: Path) -> None:
    (here / "figures" / "runs" / "summary.csv").write_bytes(content)
    done = odfl(*TARGETS["figures/runs/summary.csv"], cwd=here)
    assert done.returncode == 2
    assert complaints(done) == ["odfl: figures/runs/summary.csv: it exists and odfl did not write it; --force replaces it"]  # fmt: skip
    assert (here / "figures" / "runs" / "summary.csv").read_bytes() == content


@pytest.mark.parametrize("name", TARGETS)
def test_nothing_is_written_through_a_link(name: str, here: Path) -> None:
    (here / "precious").write_text(FOREIGN)
    (here / name).symlink_to(here / "precious")
    done = odfl(*TARGETS[name], "--force", cwd=here)
    assert done.returncode == 2
    assert complaints(done) == [f"odfl: {name}: it is a link or not a regular file; choose another name"]  # fmt: skip
    assert (here / "precious").read_text() == FOREIGN


def test_a_fifo_among_the_figures_blocks_nothing(here: Path) -> None:
    os.mkfifo(here / "figures" / "runs" / "avg_cost.svg")
    assert odfl(*TARGETS["figures/runs/summary.csv"], cwd=here).returncode == 2
