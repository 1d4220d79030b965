"""IPython's cells: their names, and the texts of those that ran under a magic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any


def shell() -> Any:
    """The running IPython; None outside of it. Nothing is imported for that."""
    ipython = sys.modules.get("IPython")
    get = getattr(ipython, "get_ipython", None)
    return get() if get is not None else None


def cell_name(file: str) -> str:
    """``Cell In[3]`` for the name under which IPython has compiled that cell; "" for any other file."""
    name = getattr(getattr(shell(), "compile", None), "format_code_name", None)
    found = name(file) if name is not None else None
    return " ".join(found) if found else ""


def magic_cells() -> Iterator[tuple[str, str]]:
    """Name and text of the cells that ran under a cell magic (``%%time``), the latest one first.

    IPython compiles those under names without a meaning: ``<timed exec>``, ``<string>``.
    """
    running = shell()
    inputs = getattr(getattr(running, "history_manager", None), "input_hist_raw", ())
    for number in reversed(range(len(inputs))):
        head, _, text = inputs[number].partition("\n")
        if head.startswith("%%"):
            yield f"<Cell In[{number}] under {head.split()[0]}>", running.transform_cell(text)
