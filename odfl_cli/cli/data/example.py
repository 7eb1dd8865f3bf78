"""`odfl data example`: a table of real rounds to look at, to change and to replay."""

import shutil
from pathlib import Path

from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.environments.datasets import BUILDERS


def main(arguments: list[str]) -> int:
    """Writes the example's CSV and prints the line that checks it."""
    options = Parser("data example", __doc__ or "")
    options.add_argument("name", choices=list(BUILDERS))
    options.add_argument("-o", "--out", type=Path, required=True, metavar="FILE.csv")
    chosen = options.parse_args(arguments)
    if chosen.out.suffix.lower() != ".csv":
        raise UserError(f"{chosen.out}: the name should end in .csv")
    built = BUILDERS[chosen.name]()
    try:
        shutil.copyfile(built, chosen.out)
    except OSError as error:
        raise UserError(f"{chosen.out}: cannot write there ({error.strerror})") from error
    print(f"odfl data check {chosen.out} data.columns.round=day data.group=period")
    return 0
