"""`odfl export`: every logged round of a sweep as one tidy table."""

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from odfl_cli.cli.parser import Parser, check_output, read_selection
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import atomic, check_replaceable, explain_write_errors
from odfl_cli.core.text import format_value, printable, tell
from odfl_cli.results.finding import find_runs, keep_whole

if TYPE_CHECKING:
    import pandas as pd

    from odfl_cli.results.tables import Run

DESCRIPTION = """\
Writes one table with a row for every run, seed and logged round. Its columns are run, algo, the keys
in which the runs differ, seed, t, and all columns of the CSVs. An existing file is replaced only if
it is such a table, or with --force."""
EXAMPLES = """\
  odfl export main -o results.csv --where algo=df_ogd,pf_ogd
  odfl export main -o results.parquet          needs the extra parquet
"""


def main(argv: list[str]) -> int:
    """Writes the table; returns the exit code."""
    parser = Parser("export", DESCRIPTION, EXAMPLES)
    parser.add_runs("+", "or a folder of runs")
    parser.add_argument(
        "-o", "--output", type=Path, required=True, metavar="FILE", help="….csv or ….parquet"
    )
    parser.add_argument("--force", action="store_true", help="replace a file that is not an export")
    arguments = parser.parse_args(argv)
    output: Path = arguments.output
    check_output(output, ".csv", ".parquet")
    check_replaceable(output, _is_export, arguments.force)
    if output.suffix == ".parquet" and find_spec("pyarrow") is None:
        raise UserError(
            f"{output}: Parquet needs pyarrow: pip install -e '.[parquet]' in odfl's clone"
        )
    from odfl_cli.results.tables import read_found

    paths, where = read_selection(arguments)
    found = find_runs(paths, tell, where)
    place = ", ".join(map(str, paths))
    whole = tidy(read_found(keep_whole(found, place, tell), place, tell))
    with explain_write_errors(output), atomic(output, "wb") as file:
        if output.suffix == ".csv":
            whole.to_csv(file, index=False, lineterminator="\n")
        else:
            whole.to_parquet(file, index=False)
    print(f"{printable(str(output))}: {len(whole)} rows of {whole['run'].nunique()} runs")
    return 0


def tidy(runs: "list[Run]") -> "pd.DataFrame":
    """The runs as one table: run, algo, differing keys, seed, t, then the columns of the runs."""
    from odfl_cli.plotting.result import Result

    result = Result(runs)
    names = [run.directory.name for run in runs]
    if len(set(names)) < len(names):
        names = [str(run.directory) for run in runs]
    whole, rows = result.rows, zip(names, result.runs, strict=True)
    whole.insert(0, "run", [name for name, run in rows for _ in range(len(run.rows))])
    for key in result.keys:
        if not _is_plain({type(run.settings.get(key)) for run in runs}):
            whole[key] = [None if value is None else format_value(value) for value in whole[key]]
    return whole


def _is_plain(types: set[type]) -> bool:
    """True if all values of a column are numbers, texts or booleans."""
    return types <= {int, float} or types <= {str} or types <= {bool}


def _is_export(content: bytes) -> bool:
    """True if the content is a CSV or Parquet file of this verb."""
    return content.startswith(b"run,algo,") or (
        content.startswith(b"PAR1") and all(name in content for name in (b'"run"', b'"algo"'))
    )
