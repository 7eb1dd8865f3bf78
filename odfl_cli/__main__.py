"""`python -m odfl_cli`: the same as `odfl`."""

import sys

from odfl_cli.cli import main

sys.exit(main())
