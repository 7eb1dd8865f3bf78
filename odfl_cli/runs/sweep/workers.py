"""What a process of a cluster does before its first job."""

import os


def enter_directory() -> None:
    """Goes where the sweep was started: relative paths mean the same to every job."""
    os.chdir(os.environ["ODFL_DIRECTORY"])
