"""Runs docs/tutorial.ipynb from top to bottom and stores its outputs: `make tutorial`."""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbformat import NotebookNode

PATH = Path(__file__).parents[1] / "docs" / "tutorial.ipynb"
PATIENCE = 600  # seconds for a cell; the first run of an algorithm compiles it


def read() -> NotebookNode:
    """The notebook as it is stored."""
    return nbformat.read(PATH, as_version=4)


def execute(notebook: NotebookNode) -> NotebookNode:
    """The notebook with the outputs of a fresh run; a cell that fails raises an error."""
    beside = str(Path(sys.executable).parent)
    os.environ["PATH"] = os.pathsep.join([beside, os.environ["PATH"]])  # where odfl is
    client = NotebookClient(notebook, timeout=PATIENCE, record_timing=False, coalesce_streams=True)
    return client.execute()


def results(notebook: NotebookNode) -> list[str]:
    """The results of the cells as text."""
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    return [one.data["text/plain"] for one in outputs if one.output_type == "execute_result"]


def drop_remarks(notebook: NotebookNode) -> NotebookNode:
    """The notebook without output on stderr, such as lines about compiling."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if one.get("name") != "stderr"]
    return notebook


if __name__ == "__main__":
    nbformat.write(drop_remarks(execute(read())), PATH)
