"""Whatever lies in a run directory, reading ends soon, and one bad run is one line."""

import json
import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.finished_runs import write_failed, write_finished, write_hydra
from support.samples import marked
from support.synthetic_runs import change_summary, write_sweep

from odfl_cli.cli import main
from odfl_cli.core.reading import DEEPEST, YAML_LARGEST, UnreadableError, read_json, read_yaml
from odfl_cli.core.text import did_you_mean, printable, table

BOMB = "a0: &a0 [x, x]\n" + "".join(
    f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 40)
)


def deep(levels: int) -> str:
    return '{"a": ' * levels + "1" + "}" * levels


def fifo(name: str) -> Callable[[Path], None]:
    def plant(run: Path) -> None:
        (run / name).unlink(missing_ok=True)
        os.mkfifo(run / name)

    return plant


def link_to_device(run: Path) -> None:
    (run / "seed-1.csv").unlink()
    (run / "seed-1.csv").symlink_to("/dev/zero")


def huge(run: Path) -> None:
    with (run / "summary.json").open("ab") as file:
        file.truncate(1 << 34)


def alias_bomb(run: Path) -> None:
    (run / "summary.json").unlink()
    (run / ".hydra" / "config.yaml").write_text(BOMB)


def very_deep(run: Path) -> None:
    (run / "summary.json").write_text("[" * 10**6)


PLANTED: dict[str, Callable[[Path], None]] = {
    "FIFO for the summary": fifo("summary.json"),
    "FIFO for a CSV": fifo("seed-1.csv"),
    "FIFO for a failure": fifo("failed.json"),
    "FIFO for the lock": fifo(".lock"),
    "FIFO for Hydra": fifo(".hydra/hydra.yaml"),
    "device for a CSV": link_to_device,
    "huge summary": huge,
    "per_seed as text": lambda run: change_summary(run, final={"avg_cost": {"per_seed": "0.5"}}),
    "target as a list": lambda run: change_summary(run, config={"data": {"_target_": [1, {}]}}),
    "target as a number": lambda run: change_summary(run, config={"algo": {"_target_": 10**30}}),
    "deep config": lambda run: change_summary(run, config=json.loads(deep(200))),
    "very deep": very_deep,
    "choices as a list": lambda run: change_summary(run, choices=["algo"]),
    "gamma as a long number": lambda run: change_summary(run, config={"data": {"gamma": 10**400}}),
    "a command that is none": lambda run: change_summary(run, command={"rm": "-rf"}),
    "huge seed": lambda run: change_summary(run, seeds=[10**4000, 1, 2]),
    "alias bomb": alias_bomb,
    "escape sequences": lambda run: change_summary(run, overrides=["x=\x1b]0;owned\x07\x1b[2J"]),
}


@pytest.mark.parametrize(
    "plant",
    marked(PLANTED.values(), lambda plant: plant is not PLANTED["huge summary"]),
    ids=PLANTED,
)
def test_a_bad_run_is_one_line(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    plant: Callable[[Path], None],
) -> None:
    monkeypatch.chdir(tmp_path)
    good = write_finished(tmp_path / "runs" / "pf_ogd-good", "pf_ogd")
    bad = write_finished(tmp_path / "runs" / "df_ogd-bad")
    write_hydra(bad)
    plant(bad)
    sweep = write_sweep(tmp_path / "sweep", [good, bad])
    for where in ("runs", str(sweep)):
        for verb in (["list"], ["list", "--json"], ["best"], ["export", "-o", "x.csv"],
                     ["plot", "--list"]):  # fmt: skip
            assert main([*verb, where]) == 0
            shown = capsys.readouterr()
            assert "\x1b" not in shown.out + shown.err
            assert re.search("(?i)pf.ogd", shown.out) or verb[0] == "export"
    for verb in (["show"], ["show", "--json"]):
        assert main([*verb, str(bad)]) == 0
        assert "\x1b" not in capsys.readouterr().out


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("name", ["", "summary.json", "seed-1.csv", ".hydra"])
def test_no_permission(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    good = write_finished(tmp_path / "runs" / "pf_ogd-good", "pf_ogd")
    bad = write_finished(tmp_path / "runs" / "df_ogd-bad")
    write_hydra(bad)
    sweep = write_sweep(tmp_path / "sweep", [good, bad])
    (bad / name).chmod(0)
    try:
        for where in (tmp_path / "runs", sweep):
            for verb in (["list"], ["best"], ["plot", "--out", str(tmp_path / "out")]):
                assert main([*verb, str(where)]) == 0
            assert main(["list", str(where)]) == 0
            (row,) = [line for line in capsys.readouterr().out.splitlines() if "bad" in line][-1:]
            assert ("damaged" in row) == (name != ".hydra")
    finally:
        (bad / name).chmod(0o700)


def test_escape_sequences_are_written_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_failed(tmp_path / "runs" / "a\x1b[2Jb", error="\x1b]0;title\x07 \r\n no")
    for verb in (["list"], ["show"]):
        target = tmp_path / "runs" / ("a\x1b[2Jb" if verb == ["show"] else "")
        assert main([*verb, str(target)]) == 0
        shown = capsys.readouterr()
        assert not {"\x1b", "\x07", "\r"}.intersection(shown.out + shown.err)
    assert main(["\x1b[31m"]) == 2
    assert "\\x1b[31m: no such verb" in capsys.readouterr().err


def test_yaml_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "x.yaml"
    for text in (BOMB, "[" * 10**5, "- " * 10**5, "x" * (YAML_LARGEST + 1), "a: !!python/none x",
                 "[a]", "a: b: c", "\x00", "a: [" + "9" * 9999 + "]"):  # fmt: skip
        file.write_text(text)
        with pytest.raises(UnreadableError) as refused:
            read_yaml(file)
        assert "\n" not in str(refused.value)
    file.write_text("when: 2020-01-01\n1: !!set {x}\nlong: 1000000000000000000000\n")
    assert json.loads(json.dumps(read_yaml(file))) == read_yaml(file)


def test_json_is_bounded(tmp_path: Path) -> None:
    file = tmp_path / "x.json"
    file.write_text(deep(DEEPEST))
    assert read_json(file)["a"]
    file.write_text(deep(DEEPEST + 1))
    with pytest.raises(UnreadableError, match="nests deeper"):
        read_json(file)
    file.write_text(f'{{"n": {"9" * 400}}}')
    assert read_json(file) == {"n": float("inf")}


def test_what_is_printed() -> None:
    assert printable("γ ± 1–2 −") == "γ ± 1–2 −"
    assert printable("a\x1b\n\ud800\u202eb") == "a\\x1b\\n\\ud800\\u202eb"
    assert "\x1b" not in table([("a", "\x1b[0m")])


def test_suggestions() -> None:
    known = ["data.gamma", "data.items", "algo.eta"]
    assert did_you_mean("gamma", known).startswith("did you mean data.gamma? there are data.gamma,")
    assert did_you_mean("data.item", known).startswith("did you mean data.items?")
    assert did_you_mean("algo.etta", known).startswith("did you mean algo.eta?")
    assert did_you_mean("xyz", known) == "there are data.gamma, data.items, algo.eta"
