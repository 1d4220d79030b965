"""Kernel resources: registers, spills, stack and shared memory of each kernel, and limits on them.

ptxas reports it for every kernel that it compiles; binaries.py keeps it beside the machine code in resources.json.
A gate compares with limits: none spills, and registers and shared memory stay within a recorded figure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields


@dataclass(frozen=True, slots=True)
class KernelResources:
    """Of one kernel: registers of a thread; bytes of a thread's stack, and of registers that it stores and loads there;
    bytes of a block's static shared memory.
    """

    kernel: str
    registers: int
    stack: int = 0
    spill_stores: int = 0
    spill_loads: int = 0
    shared: int = 0

    def as_numbers(self) -> dict[str, int]:
        """All but the name, for JSON."""
        return {name: value for name, value in asdict(self).items() if name != "kernel"}

    @classmethod
    def of_numbers(cls, kernel: str, numbers: Mapping[str, int]) -> KernelResources:
        """The inverse of `as_numbers`; raises KeyError, TypeError or ValueError for anything else."""
        return cls(kernel, **{f.name: int(numbers[f.name]) for f in fields(cls) if f.name != "kernel"})

    def blocks_per_processor(self, threads: int, *, registers: int = 65536, shared: int = 233472) -> int:
        """Return the blocks of `threads` that fit a multiprocessor by registers and shared memory (sm_90's sizes)."""
        by_thread = 2048 // max(threads, 1)
        by_registers = registers // max(-(-self.registers // 8) * 8 * (-(-threads // 32) * 32), 1)
        by_shared = shared // (self.shared + 1024)
        return min(by_thread, by_registers, by_shared, 32)


_KERNEL = re.compile(r"Compiling entry function '(?P<kernel>[^']+)'")
_PROPERTIES = re.compile(r"(\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads")
_USED = re.compile(r"Used (\d+) registers(?P<rest>.*)")
_SHARED = re.compile(r"(\d+) bytes smem")


def resources_in(log: str) -> tuple[KernelResources, ...]:
    """Return the resources in ptxas's report (``-v``), by kernel, in order of names: its own order varies."""
    found: dict[str, dict[str, int]] = {}
    here: dict[str, int] = {}
    for line in log.splitlines():
        if kernel := _KERNEL.search(line):
            here = found.setdefault(kernel["kernel"], {})
        elif (frame := _PROPERTIES.search(line)) and "stack" not in here:  # functions that it calls have theirs later
            here |= dict(zip(("stack", "spill_stores", "spill_loads"), map(int, frame.groups()), strict=True))
        elif used := _USED.search(line):
            shared = _SHARED.search(used["rest"])
            here |= {"registers": int(used[1]), "shared": int(shared[1]) if shared else 0}
    complete = (kernel for kernel in sorted(found) if "registers" in found[kernel])
    return tuple(KernelResources(kernel, **found[kernel]) for kernel in complete)


def exceeded(measured: Iterable[KernelResources], golden: Mapping[str, KernelResources]) -> tuple[str, ...]:
    """Return why kernels exceed the figures in `golden`, a sentence each.

    Kernels exceed them that spill or have a stack, need more registers or shared memory, or are not in `golden`.
    """
    return tuple(reason for one in measured for reason in _excess(one, golden.get(one.kernel)))


def _excess(measured: KernelResources, golden: KernelResources | None) -> Iterable[str]:
    name = measured.kernel
    if measured.spill_stores or measured.spill_loads:
        yield f"{name} spills: {measured.spill_stores} bytes stored, {measured.spill_loads} bytes loaded"
    if measured.stack:
        yield f"{name} has a stack of {measured.stack} bytes: an array in it is indexed, or a function is not inlined"
    if golden is None:
        yield f"{name} has no golden figure"
        return
    for what in ("registers", "shared"):
        here, most = getattr(measured, what), getattr(golden, what)
        if here > most:
            yield f"{name} needs {here} {'bytes of shared memory' if what == 'shared' else what}, golden are {most}"
