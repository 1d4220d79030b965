"""``python -m benchmarks.temporaries [NAME ...]``: how many arrays a kernel computes only to read them again.

For each kernel of NPBench, in the version that a call of size S gets: number and bytes of the temporaries that are
stored in memory, in simple form and behind `auto_optimize`. Rows that are private to an iteration of a map stay in the
cache and do not count; nor do results. Arrays whose size only the run tells (what a mask chooses) count as none of the
bytes, and the plus behind the number stands for them.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from unittest import mock

import numpy as np

import dcpy
from benchmarks.npbench import kernels
from dcpy import driver
from dcpy.base.errors import SymbolicError
from dcpy.ir.data import Array
from dcpy.ir.nodes import Map
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import owners_around


@dataclass(frozen=True)
class Temporaries:
    """The arrays of a program that are neither arguments nor results."""

    names: tuple[str, ...]
    bytes: int
    unknown: int  # how many have a size that depends on values

    def __str__(self) -> str:
        return f"{len(self.names):4}{self.bytes:14,}{'+' if self.unknown else ' '}"


class _Found(Exception):
    pass


def sdfg_of_call(function: Any, arguments: Iterable[Any], *, auto: bool) -> Sdfg:
    """What a first call with these arguments has compiled, before it is lowered."""
    found: list[Sdfg] = []

    def keep(sdfg: Sdfg, *_: Any, **__: Any) -> None:
        found.append(sdfg)
        raise _Found

    program = dcpy.program(function, auto_optimize=auto)
    no_cache = mock.patch("dcpy.programs.specialization.compiled_calls.recall", _nothing)
    with contextlib.suppress(_Found), mock.patch.object(driver, "compile_sdfg", keep), no_cache:
        program(*arguments)
    return found[0]


def _nothing(*_: Any) -> None:
    """What a cache without entries has."""


def temporaries(sdfg: Sdfg, arguments: Iterable[Any]) -> Temporaries:
    """The temporaries of an SDFG, with the bytes that they have for these arguments."""
    values = _sizes(sdfg, arguments)
    total, unknown, names = 0, 0, []
    for region in sdfg.body.walk_regions():
        for name, desc in region.containers.items():
            if not isinstance(desc, Array) or not desc.transient or desc.shape == ():
                continue
            if region.owner is not sdfg and _is_private(region.owner):
                continue
            names.append(name)
            try:
                total += Subset.whole(desc.shape).volume.evaluate(values) * desc.dtype.itemsize
            except SymbolicError:
                unknown += 1
    return Temporaries(tuple(names), total, unknown)


def _is_private(owner: Any) -> bool:
    return isinstance(owner, Map) or any(isinstance(other, Map) for other in owners_around(owner))


def _sizes(sdfg: Sdfg, arguments: Iterable[Any]) -> dict[str, int]:
    """Values of symbols: sizes of arrays and integers among the arguments."""
    values: dict[str, int] = {}
    for name, value in zip(sdfg.arguments, arguments, strict=False):
        if isinstance(value, int | np.integer):
            values[name] = int(value)
        elif isinstance(value, np.ndarray):
            dims = sdfg.body.containers[name].shape
            values |= {dim.name: size for dim, size in zip(dims, value.shape, strict=True) if dim.name}
    for name, value in zip(sdfg.arguments, arguments, strict=False):  # N + 4, where nothing has N elements
        if isinstance(value, np.ndarray):
            for dim, size in zip(sdfg.body.containers[name].shape, value.shape, strict=True):
                unknown = [symbol for symbol in dim.symbols if symbol not in values]
                form = dim.linear_in(unknown[0]) if len(unknown) == 1 else None
                if form is not None and form[0].constant == 1:
                    values[unknown[0]] = size - form[1].evaluate(values)
    return values


def table(names: Iterable[str] = (), preset: str = "S") -> Iterator[tuple[str, Temporaries, Temporaries]]:
    """Each kernel with its temporaries in simple form, and optimized."""
    for name in names or kernels():
        kernel = kernels()[name]
        arguments = tuple(kernel.initialize(preset).values())
        plain, auto = (
            temporaries(sdfg_of_call(kernel.function, arguments, auto=auto), arguments) for auto in (False, True)
        )
        yield name, plain, auto


def main(names: list[str]) -> int:
    """Prints the table."""
    warnings.simplefilter("ignore")
    print(f"{'kernel':28}{'simple form':>18} {'auto_optimize':>18}  stored")
    for name, plain, auto in table(names):
        print(f"{name:28}{plain}{auto}  {', '.join(auto.names)}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
