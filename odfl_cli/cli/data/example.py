"""`odfl data example`: a table of real rounds to look at, to change and to replay."""

from pathlib import Path

from odfl_cli.cli.parser import Parser
from odfl_cli.core.errors import UserError
from odfl_cli.core.files import explain_write_errors
from odfl_cli.environments.replay.files import name_file_in_errors
from odfl_cli.environments.streams import find_sources


def main(arguments: list[str]) -> int:
    """Writes the example's CSV and prints the line that checks it."""
    sources = find_sources()
    tables = {name: source.table for name, source in sources.items() if source.table}
    options = Parser("data example", __doc__ or "")
    options.add_argument("name", choices=list(tables))
    options.add_argument("-o", "--out", type=Path, required=True, metavar="FILE.csv")
    chosen = options.parse_args(arguments)
    if chosen.out.suffix.lower() != ".csv":
        raise UserError(f"{chosen.out}: the name should end in .csv")
    source = sources[chosen.name]
    with name_file_in_errors(Path(f"package:{chosen.name}")):
        table = tables[chosen.name](source.files()[0])
    with explain_write_errors(chosen.out):
        table.write(chosen.out, source.features)
    print(f"odfl data check {chosen.out} data.columns.round=day data.group=period")
    return 0
