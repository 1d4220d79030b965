"""HostControl: conditions and bounds that depend on one element of the device get that one, not the whole array."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.name_resolution import symbols_assigned_in
from dcpy.ir.analysis.device_side import on_device, run_by_host, twins
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Load, ScalarExpr, loads_of, rewrite
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Node
from dcpy.ir.region import Block, Continue, Loop, Region, State, While
from dcpy.ir.subsets import Subset
from dcpy.ir.tree import owners_around
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class HostControl(GraphPass):
    """Reads back what control flow of the host depends on, element by element.

    before   if A[i] > 0 { ... }                 after   data seen: f64;  copy gpu_A[i] -> seen
                                                         if seen > 0 { ... }
             while A[0] > tol { ... }                    copy gpu_A[0] -> seen
                                                         while seen > tol { ...;  copy gpu_A[0] -> seen }

    Where kernels write the array and the host does not, no map is around, nor a loop that launches nothing, and the
    index is proved to be in range: an expression need not get to each of its parts. In the condition of a `while` loop
    the index must stay what it is; the element comes back before the loop, and wherever an iteration ends. Everything
    else is copied back as a whole, where the analysis of validity says so.
    """

    name: ClassVar[str] = "host-control"

    def decide(self, rw: Rewriter) -> None:
        """Block by block."""
        changing = {host: twin for twin, host in twins(rw.sdfg).items() if _changes_there(host, twin, rw)}
        for element in list(run_by_host(rw.sdfg.body)):
            if isinstance(element, Block) and not isinstance(element, State) and not _is_swept(element):
                _read_back(element, changing, rw)


def _is_swept(block: Block) -> bool:
    """Return whether a loop around it launches nothing: it goes through elements, and waits once for all of them."""
    loop = next((owner for owner in owners_around(block) if isinstance(owner, Loop | While)), None)
    return loop is not None and not any(map(on_device, loop.body.walk_nodes()))


def _changes_there(host: str, twin: str, rw: Rewriter) -> bool:
    """Return whether kernels write a container, or callers have it there, and nothing on the host writes it."""
    views = (name for name in rw.uses.overlapping(twin))
    by_kernel = twin in rw.sdfg.arguments or any(rw.uses.writers(name) for name in views)
    return by_kernel and not any(rw.uses.writers(name) for name in rw.uses.overlapping(host))


def _read_back(block: Block, on_device: dict[str, str], rw: Rewriter) -> None:
    found: dict[Load, None] = {}
    for expr in block.exprs():
        for load in loads_of(expr):
            desc = rw.uses.desc(load.container)
            if isinstance(block, While) and not _stays(load, block):
                continue
            if load.container in on_device and desc.shape and _in_range(load, desc, block, rw):
                found[load] = None
    names: dict[Load, str] = {}
    assert block.region is not None
    for load in found:
        seen = rw.declare_fresh("seen", Scalar(load.dtype, transient=True, span=block.span), block.region)
        names[load] = seen
        source = Memlet(on_device[load.container], Subset.point(*load.indices))
        rw.insert_before(block, _copied(source, seen, block))
        if isinstance(block, While):
            for end in _ends(block.body):
                rw.insert_before(end, _copied(source, seen, block))
            rw.insert(_copied(source, seen, block), block.body)
        rw.remark(block, True, f"reads one element of {load.container!r} back from the device")
    if names:
        rw.rewrite_exprs(block, lambda expr: rewrite(expr, lambda part: _renamed(part, names)))


def _copied(source: Memlet, seen: str, block: Block) -> State:
    return State(nodes=[Copy(source, Memlet(seen, Subset()), span=block.span)], span=block.span)


def _stays(load: Load, loop: While) -> bool:
    """Return whether a load of a loop's condition is of the same element each time."""
    changed = frozenset(symbols_assigned_in(loop.body))
    return all(changed.isdisjoint(index.symbols) for index in load.indices)


def _ends(region: Region) -> Iterator[Continue]:
    """The places where an iteration of a loop ends early, and another one may begin."""
    for block in list(region.blocks):
        if isinstance(block, Continue):
            yield block
        elif not isinstance(block, Loop | While):
            for inner in block.regions():
                yield from _ends(inner)


def _renamed(part: ScalarExpr, names: dict[Load, str]) -> ScalarExpr | None:
    return Load(names[part], (), part.dtype) if isinstance(part, Load) and part in names else None


def _in_range(load: Load, desc: object, block: Block, rw: Rewriter) -> bool:
    if not isinstance(desc, Array) or any(isinstance(owner, Node) for owner in owners_around(block)):
        return False  # within a map each iteration would wait for an element of its own
    return rw.uses.ranges_at(block).proves_in_range(load.indices, desc.shape)
