"""What a module has learnt, in a file beside the seed's CSV."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from support.commands import odfl, run_directories

JOB = ("run", "algo=pf_ogd", "predictor=mlp", "predictor.width=3", "horizon.rounds=5", "seeds=2")


@pytest.mark.thorough
def test_weights_lie_beside_the_csv_and_are_a_start(tmp_path: Path) -> None:
    assert odfl(*JOB, cwd=tmp_path).returncode == 0
    (folder,) = run_directories(tmp_path)
    assert not list(folder.glob("*.safetensors"))
    # asked for later, the seeds are computed again, for files do not hold the parameters
    done = odfl(*JOB, "save_state=true", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert [one.name for one in sorted(folder.glob("*.safetensors"))] == [
        "seed-0.state.safetensors",
        "seed-1.state.safetensors",
    ]
    listed = json.loads((folder / "summary.json").read_text())["files"]
    assert {"seed-0.csv", "seed-0.state.safetensors"} <= listed.keys()
    first, second = (load_file(folder / f"seed-{seed}.state.safetensors") for seed in (0, 1))
    weights = {"module.0.weight", "module.0.bias", "module.2.weight", "module.2.bias"}
    assert weights == {name for name in first if name.startswith("module.")}
    assert not np.array_equal(first["module.2.weight"], second["module.2.weight"])
    # a file that is not what was written is not believed
    written = (folder / "seed-1.state.safetensors").read_bytes()
    (folder / "seed-1.state.safetensors").write_bytes(written[:-1] + bytes([written[-1] ^ 1]))
    done = odfl(*JOB, "save_state=true", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "computing seeds [1]" in (folder / "run.log").read_text()
    assert (folder / "seed-1.state.safetensors").read_bytes() == written
    refused = odfl("run", "save_weights=true", "seeds=1", cwd=tmp_path)
    assert refused.returncode == 2
    assert "save_weights=true: this is written as save_state=true" in refused.stderr
    assert len(run_directories(tmp_path)) == 1
    start = f"predictor.weights={folder / 'seed-1.state.safetensors'}"
    started = odfl(*JOB, start, "save_state=true", "algo.eta=1e-300", cwd=tmp_path)
    assert started.returncode == 0, started.stderr
    (other,) = (one for one in run_directories(tmp_path) if one != folder)
    kept = load_file(other / "seed-0.state.safetensors")
    assert all(np.array_equal(kept[name], second[name]) for name in weights)


@pytest.mark.thorough
def test_seeds_from_another_start_are_not_pooled(tmp_path: Path) -> None:
    file, costs = tmp_path / "start.safetensors", []
    for number, seeds in ((0.0, "seeds=1"), (1.0, "seeds=2"), (0.0, "seeds=2")):
        layers = {"0.weight": np.full((1, 10), number), "0.bias": np.zeros(1)}
        save_file(layers, file)
        depth = ("predictor=mlp", "predictor.depth=1", f"predictor.weights={file}")
        assert odfl("run", *depth, "horizon.rounds=5", seeds, cwd=tmp_path).returncode == 0
        costs.append(sorted(path.read_text() for path in tmp_path.rglob("seed-0.csv")))
    assert [len(one) for one in costs] == [1, 2, 2]  # the third adds a seed to the first
    assert costs[1] == costs[2]
    assert [len(list(folder.glob("seed-*.csv"))) for folder in run_directories(tmp_path)] == [2, 2]
