"""A kernel computes the same whether it was just compiled or found on disk."""

from pathlib import Path

from support.commands import odfl, run_directories


def test_the_first_run_on_a_machine_writes_the_same_bytes_as_the_second(tmp_path: Path) -> None:
    bytes_of = []
    for outputs in ("first", "second"):
        job = ("run", "algo=df_ogd", "horizon=smoke", "seeds=2", f"outputs={outputs}")
        done = odfl(*job, cwd=tmp_path, NUMBA_CACHE_DIR=str(tmp_path / "kernels"))
        assert ("compiling the df_ogd kernel" in done.stderr) == (outputs == "first")
        (run,) = run_directories(tmp_path / outputs)
        bytes_of.append([(run / f"seed-{seed}.csv").read_bytes() for seed in (0, 1)])
    assert bytes_of[0] == bytes_of[1]
