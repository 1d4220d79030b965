"""Device properties: what every function of a program knows about its device, and about a kernel that it is in."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol

from dcpy.codegen.lir.expr import LirExpr
from dcpy.ir.nodes import Map


class KernelScope(Protocol):
    """The function of a device that is lowered, as seen by the code inside it."""

    block: Map | None  #: the map of a block that lowering is in

    def order(self, named: Callable[[str], str]) -> tuple[LirExpr, ...]:
        """Return the place of a check in the order of the program."""

    def looping(self, counter: LirExpr) -> AbstractContextManager[None]:
        """Enter a loop around maps of the block, whose iterations grow with a number."""


class DeviceProperties:
    """The properties of a CPU; `device_lowering.DeviceLowering` adds what lowering asks a device."""

    reserved_words: frozenset[str] = frozenset()  #: of its dialects: names of programs differ from them
    is_host = True  #: outside of kernels, all text is for the processors of this machine
    names_extents = True  #: functions compute sizes that they need several times once, at their beginning
