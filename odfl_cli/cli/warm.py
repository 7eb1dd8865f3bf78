"""`odfl warm`: compiles kernels before the first run needs them."""

from odfl_cli.cli.parser import Parser
from odfl_cli.core.cores import allotted_threads
from odfl_cli.core.errors import FAILED, UserError
from odfl_cli.core.kernel_cache import is_compiled, kernels, load_kernel
from odfl_cli.core.processes import side_by_side
from odfl_cli.core.text import did_you_mean

EXAMPLES = """\
  odfl warm                    all kernels, about two minutes
  odfl warm df_ogd gradient    those that DF-OGD, PF-OGD and SPO+ need"""


def main(arguments: list[str]) -> int:
    """Compiles the kernels that this machine lacks, side by side on the cores."""
    parser = Parser("warm", "Compile kernels ahead, which is otherwise done when needed.", EXAMPLES)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL", help="its name; all by default")
    known = kernels()
    names = parser.parse_args(arguments).kernels or list(known)
    for name in names:
        if name not in known:
            raise UserError(f"{name}: no such kernel; {did_you_mean(name, known)}")
    missing = [name for name in dict.fromkeys(names) if not is_compiled(name)]
    _compile([known[name] for name in missing])
    lost = [name for name in missing if not is_compiled(name)]
    print(f"{len(missing) - len(lost)} compiled, {len(names) - len(missing)} were already")
    if lost:
        print(f"not compiled: {', '.join(lost)}")
    return FAILED if lost else 0


def _compile(modules: list[str]) -> None:
    def load(number: int) -> float:
        load_kernel(modules[number])
        return 0.0

    workers = min(allotted_threads(), len(modules))
    for _ in side_by_side(len(modules), workers, load):
        pass
