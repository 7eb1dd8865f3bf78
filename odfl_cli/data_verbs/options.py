"""Command-line options whose mistakes are one line like all others."""

import argparse
from typing import NoReturn

from odfl_cli.errors import UserError


class Options(argparse.ArgumentParser):
    """Refuses by a UserError instead of a usage message."""

    def error(self, message: str) -> NoReturn:
        """One line that names the verb."""
        raise UserError(f"{self.prog.removeprefix('odfl ')}: {message}; see {self.prog} --help")
