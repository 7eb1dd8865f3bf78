"""A throw-away Slurm cluster of one node on the loopback address, in a directory of its own."""

import getpass
import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from odfl_cli.core.cores import available_cores

PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "squeue", "scancel")
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin"])


def missing_programs() -> list[str]:
    """The programs that have to be installed first."""
    return [program for program in PROGRAMS if shutil.which(program, path=PATH) is None]


@contextmanager
def slurm_cluster() -> Iterator[dict[str, str]]:
    """The environment in which sbatch, squeue and scancel talk to the cluster."""
    with tempfile.TemporaryDirectory(prefix="odfl-slurm-") as name:
        place = Path(name)
        place.chmod(0o711)  # munged wants its socket to be reached by everyone
        with _daemons(place) as environment:
            yield environment


@contextmanager
def _daemons(place: Path) -> Iterator[dict[str, str]]:
    for folder in ("state", "spool"):
        (place / folder).mkdir()
    environment = {"SLURM_CONF": str(place / "slurm.conf"), "PATH": PATH}
    (place / "slurm.conf").write_text(_configuration(place))
    key = place / "munge.key"
    key.touch(mode=0o600)
    key.write_bytes(secrets.token_bytes(128))
    with ExitStack() as daemons:

        def start(*command: str) -> None:
            daemons.enter_context(_daemon(command, place, environment))

        munge = {kind: place / f"munge.{kind}" for kind in ("socket", "pid", "log", "seed")}
        files = {"key": key, "pid": munge["pid"], "log": munge["log"], "seed": munge["seed"]}
        options = [f"--{name}-file={path}" for name, path in files.items()]
        start("munged", "--foreground", f"--socket={munge['socket']}", *options)
        wait_until(munge["socket"].exists, "munged to open its socket")
        start("slurmctld", "-D")
        start("slurmd", "-D", "-N", _host())
        wait_until(lambda: "idle" in _ask("sinfo", environment), "the node to be idle")
        yield environment
        wait_until(lambda: not _ask("squeue", environment), "the last job to leave")


def wait_until(holds: Callable[[], object], what: str, seconds: float = 60) -> None:
    """Looks again and again, and fails where it never comes true."""
    deadline = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > deadline:
            raise TimeoutError(f"waited {seconds:g} s for {what}")
        time.sleep(0.1)


@contextmanager
def _daemon(command: tuple[str, ...], place: Path, environment: dict[str, str]) -> Iterator[None]:
    """Runs in the foreground and ends by its own process id."""
    program = shutil.which(command[0], path=PATH)
    with (place / f"{command[0]}.out").open("w") as output:
        process = subprocess.Popen(
            [str(program), *command[1:]],
            env=os.environ | environment,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
        try:
            yield
        finally:
            process.terminate()
            try:
                process.wait(timeout=30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _ask(program: str, environment: dict[str, str]) -> str:
    """The states of all nodes (sinfo) or of all jobs (squeue)."""
    command = [program, "--noheader", "--format=%T"]
    done = subprocess.run(command, env=os.environ | environment, capture_output=True, text=True)
    return done.stdout


def _host() -> str:
    return socket.gethostname().split(".")[0]


def _free_ports(count: int) -> list[int]:
    with ExitStack() as sockets:
        opened = [sockets.enter_context(socket.socket()) for _ in range(count)]
        for one in opened:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in opened]


def _configuration(place: Path) -> str:
    """No accounting, no cgroups: what runs everywhere."""
    host, user = _host(), getpass.getuser()
    controller, node = _free_ports(2)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**21
    return f"""
ClusterName=odfl
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={place}/munge.socket
StateSaveLocation={place}/state
SlurmdSpoolDir={place}/spool
SlurmctldPidFile={place}/slurmctld.pid
SlurmdPidFile={place}/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
KillWait=1
NodeName={host} NodeAddr=127.0.0.1 CPUs={available_cores()} RealMemory={memory}
PartitionName=all Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""
