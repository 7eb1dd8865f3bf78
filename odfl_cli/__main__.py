"""`python -m odfl_cli`: the same as `odfl`."""

import sys

from odfl_cli.cli import main

code = main()
exec("")  # with -m, Python ends by SIGINT, not by this code, where Ctrl-C came within exec(text)
sys.exit(code)
