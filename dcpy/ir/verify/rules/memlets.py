"""Memlets: they name elements that exist, of containers that can be accessed in that way."""

from __future__ import annotations

from dcpy.ir.analysis.dataflow.aliasing import shown_by
from dcpy.ir.data import Scalar, Stream, View
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS
from dcpy.ir.nodes import Copy, Map, Tasklet
from dcpy.ir.subsets import Range
from dcpy.ir.verify.out_of_bounds import outside
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import MemletUse, Scope


@rule("memlet.container", MemletUse)
def containers_are_visible(use: MemletUse, scope: Scope) -> Findings:
    """A memlet names a container that is declared in a region around its node."""
    if use.desc is None:
        yield f"no container {use.memlet.container!r} is visible at the {use.node.kind}"


@rule("memlet.rank", MemletUse)
def subsets_have_the_rank_of_their_container(use: MemletUse, scope: Scope) -> Findings:
    """A memlet has one index or range per dimension of its container."""
    if use.desc is not None and use.memlet.subset.rank != len(use.desc.shape):
        yield f"{use.memlet} has {use.memlet.subset.rank} dimensions, its container has {len(use.desc.shape)}"


@rule("memlet.point", MemletUse)
def tasklets_access_elements(use: MemletUse, scope: Scope) -> Findings:
    """A memlet of a tasklet names one element."""
    if isinstance(use.node, Tasklet) and not use.memlet.subset.is_point:
        yield f"{use.memlet} of a tasklet is not a single element"


@rule("memlet.step", MemletUse)
def steps_are_not_zero(use: MemletUse, scope: Scope) -> Findings:
    """The step of a range is not 0."""
    for dim in use.memlet.subset.dims:
        if isinstance(dim, Range) and dim.step.constant == 0:
            yield f"{use.memlet} has a step of 0"


@rule("memlet.bounds", MemletUse)
def subsets_are_inside(use: MemletUse, scope: Scope) -> Findings:
    """A memlet that is surely reached does not surely leave its container."""
    if use.desc is None or use.memlet.dynamic or scope.guarded or use.memlet.subset.rank != len(use.desc.shape):
        return
    if problem := outside(use.memlet.subset, use.desc.shape, scope):
        yield f"{use.memlet}: {problem}"


@rule("memlet.wcr", MemletUse)
def conflict_resolutions_fit(use: MemletUse, scope: Scope) -> Findings:
    """A conflict resolution is a known operation that the dtype of the written container has."""
    wcr = use.memlet.wcr
    if not wcr:
        return
    if wcr not in CONFLICT_RESOLUTIONS:
        yield f"no conflict resolution is called {wcr!r}", f"there are {', '.join(CONFLICT_RESOLUTIONS)}"
    elif not use.is_write:
        yield f"{use.memlet} has a conflict resolution, but is read"
    elif use.node.callees():
        yield f"{use.memlet} of a call has a conflict resolution", "write to a transient, then combine"
    elif use.desc is not None and not combines(wcr, use.desc.dtype.kind):
        yield f"{use.memlet}: {use.desc.dtype} values cannot be combined with {wcr!r}"


def combines(wcr: str, kind: str) -> bool:
    """Return whether values of a kind of dtype can be combined with an operation."""
    match wcr:
        case "and" | "or" | "xor":
            return kind == "b"
        case "bitand" | "bitor" | "bitxor":
            return kind in "biu"
    return True  # complex numbers are ordered too: by the real part, then by the imaginary one, as in NumPy


@rule("memlet.read-only", MemletUse)
def read_only_containers_are_not_written(use: MemletUse, scope: Scope) -> Findings:
    """Scalar arguments, constants and broadcast views are never written."""
    if not use.is_write or use.desc is None:
        return
    for name in (use.memlet.container, *shown_by(use.memlet.container, scope.desc)):
        desc = scope.desc(name)
        axes = zip(desc.axes, desc.shape, strict=False) if isinstance(desc, View) else ()
        if any(axis < 0 and size.constant != 1 for axis, size in axes):
            yield f"{name!r} is a broadcast view, and written"
    if isinstance(desc, Scalar) and not desc.transient:
        yield f"{name!r} is a scalar argument, and written", "copy it to a transient first"
    if name in scope.sdfg.constants:
        yield f"{name!r} is a constant, and written"


@rule("memlet.stream", MemletUse)
def streams_are_pushed_and_popped(use: MemletUse, scope: Scope) -> Findings:
    """A stream is pushed to by copies and tasklets, popped by copies: one queue of it, without conflict resolution."""
    if not isinstance(use.desc, Stream):
        return
    if not use.node.takes_queues:
        yield f"the stream {use.memlet.container!r} is an operand of a {use.node.kind}", "pop it into an array"
    elif not (use.is_write or isinstance(use.node, Copy)):
        yield f"a {use.node.kind} pops {use.memlet}", "copy it to a scalar first"
    if not use.memlet.subset.is_point:
        yield f"{use.memlet} names several queues of a stream"
    if use.memlet.wcr:
        yield f"{use.memlet} pushes with a conflict resolution"
    if any(isinstance(owner, Map) for owner in scope.owners):
        yield f"{use.memlet} is in a map, whose iterations have no order", "make the map a loop"
