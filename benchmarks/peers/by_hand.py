"""Peers by hand: the kernels of NPBench as each framework's users wrote them for it, from a checkout of NPBench.

Nothing of NPBench is copied: ``NPBENCH_ROOT`` names the checkout, and its files are read when they are measured. They
take the arguments of `benchmarks.npbench`, and what they return or leave in their outputs is compared with NumPy's.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.npbench import kernels
from benchmarks.peers.calls import Arguments, JaxCall, PlainCall, Seen
from benchmarks.peers.subject import Subject

VARIABLE = "NPBENCH_ROOT"
SUFFIX = "-by-hand"  #: of the names of frameworks that run such files
NUMBA = ("numba_n", "numba_np", "numba_npr", "numba_o", "numba_op", "numba_opr")  #: object mode, parallel, ranges


def root() -> Path | None:
    """The checkout; None where there is none."""
    named = os.environ.get(VARIABLE, "")
    return Path(named) if named and (Path(named) / "bench_info").is_dir() else None


def entry(kernel: str) -> str:
    """The name of a kernel's function in NPBench."""
    return str(_facts(kernel)["func_name"])


def form(ending: str, more: str = "") -> Callable[[Subject], str]:
    """An adaptation: the file of a kernel with this ending, and a line more with ``{entry}`` for its function.

    It raises `FileNotFoundError` where nobody wrote that form.
    """

    def read(subject: Subject) -> str:
        facts, at = _facts(subject.name), root()
        assert at is not None
        folder = at / "npbench" / "benchmarks" / str(facts["relative_path"])
        text = (folder / f"{facts['module_name']}_{ending}.py").read_text()
        return text + more.format(entry=facts["func_name"])

    read.__name__ = ending
    return read


def _facts(kernel: str) -> dict[str, Any]:
    at = root()
    if at is None:
        raise FileNotFoundError(f"{VARIABLE} names no checkout of NPBench")
    facts: dict[str, Any] = json.loads((at / "bench_info" / f"{kernel}.json").read_text())["benchmark"]
    return facts


class OutputsCall(PlainCall):
    """By position; results and outputs count, in order, as in NPBench: it does not compare other arrays."""

    def seen(self, value: Any, arguments: Arguments) -> Seen:
        """Results, then the arrays that the kernel is to change."""
        outputs = (arguments[name] for name in kernels()[self.subject.name].outputs)
        return _numbered([*_values(value), *outputs])


class DaceOutputsCall(OutputsCall):
    """By keyword; DaCe finds sizes out from the shapes of arrays."""

    def run(self, function: Callable[..., Any], arguments: Arguments) -> Any:
        """The call."""
        return function(**arguments)


class JaxOutputsCall(JaxCall):
    """Functions of JAX return what NumPy's change."""

    def seen(self, value: Any, arguments: Arguments) -> Seen:
        """Results."""
        return _numbered(_values(value))


def _values(value: Any) -> list[Any]:
    return list(value) if isinstance(value, tuple | list) else [] if value is None else [value]


def _numbered(values: list[Any]) -> Seen:
    return [(f"output {number}", np.asarray(value)) for number, value in enumerate(values)]
