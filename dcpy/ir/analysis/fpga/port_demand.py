"""Port demand: how often an iteration of a pipelined loop goes to each memory on the chip, and how many ports it has.

A block of memory has two ports, each of its pieces has its own two. Whether all accesses of an iteration find
different pieces is not asked here: what this refuses cannot work, whatever the addresses are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod

from dcpy.ir.analysis.accesses.access_relations import accesses_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Allocation, Array
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop
from dcpy.ir.schedules import Pipelined, Unrolled

PORTS = 2  #: of one block of memory


@dataclass(frozen=True, slots=True)
class PortDemand:
    """Accesses of one iteration to a container, and the ports that it has; an iteration starts every `ii` cycles."""

    container: str
    needed: int
    available: int
    ii: int


def port_demands(loop: Loop | Map, uses: Uses) -> Iterator[PortDemand]:
    """The demands on each memory on the chip that a loop with a demanded interval goes to."""
    if not isinstance(loop.schedule, Pipelined) or not loop.schedule.ii:
        return
    needed: dict[str, int] = {}
    for access in accesses_in(loop.body, uses):
        desc = uses.desc(access.root)
        if isinstance(desc, Array) and desc.allocation is Allocation.BRAM:
            needed[access.root] = needed.get(access.root, 0) + _copies(access)
    for container, count in needed.items():
        ports = ports_of(uses.desc(container))  # type: ignore[arg-type]  # arrays, as asked above
        if ports is not None:
            yield PortDemand(container, count, ports, loop.schedule.ii)


def ports_of(desc: Array) -> int | None:
    """Return how many elements may be read or written in one cycle; None: all of them."""
    if desc.allocation is not Allocation.BRAM:
        return None
    pieces = [desc.shape[part.axis].constant if part.style == "complete" else part.factor for part in desc.partition]
    if len(desc.shape) == len(desc.partition) and all(part.style == "complete" for part in desc.partition):
        return None
    return PORTS * prod(count or 1 for count in pieces)


def _copies(access: MemoryAccess) -> int:
    """Return how many copies of an access there are after the loops around it are unrolled."""
    count = 1
    for scope in access.scopes:
        schedule = getattr(scope.region.owner, "schedule", None)
        if isinstance(schedule, Unrolled):
            sizes = [values.size.constant for _, values in scope.variables if values is not None]
            count *= schedule.factor or prod(size or 1 for size in sizes)
    return count
