"""Grids of processes, and what is distributed over them."""

from __future__ import annotations

from dcpy.ir.communication import HaloUpdate
from dcpy.ir.data import Array
from dcpy.ir.distribution import Blocked, Cyclic, Distribution, Partial, Root
from dcpy.ir.field_roles import Written
from dcpy.ir.nodes import Call, Map
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.rules.memlets import combines
from dcpy.ir.verify.subjects import Declaration, Scope


@rule("grid.sizes", Sdfg)
def grids_have_sizes(sdfg: Sdfg, scope: Scope) -> Findings:
    """A grid has at least one axis, each of one rank at least; sizes are known before the program runs."""
    for name, grid in sdfg.grids.items():
        if not grid.sizes:
            yield f"the grid {name!r} has no axis"
        for size in grid.sizes:
            if size.constant is not None and size.constant < 1:
                yield f"an axis of the grid {name!r} has {size} ranks"
        for symbol in grid.symbols:
            if symbol not in sdfg.symbols:
                yield f"the size of the grid {name!r} mentions {symbol!r}, which is no free symbol"


@rule("distribution.grid", Declaration)
def distributed_arrays_fit_their_grid(subject: Declaration, scope: Scope) -> Findings:
    """A distributed array is on a declared grid; its dimensions, and its other properties, use each axis once."""
    desc = subject.desc
    if isinstance(desc, Array) and desc.distribution is not None:
        yield from _grid(f"{subject.name!r}", desc.distribution, scope.sdfg)


@rule("distribution.axes", Declaration)
def distributions_have_an_entry_per_dimension(subject: Declaration, scope: Scope) -> Findings:
    """A distribution covers each dimension; only blocks have room for neighbours."""
    desc = subject.desc
    if not isinstance(desc, Array) or desc.distribution is None:
        return
    placed, count = desc.distribution, len(desc.shape)
    if len(placed.axes) != count:
        yield f"{subject.name!r} has {count} dimensions, its distribution has {len(placed.axes)}"
    if placed.halo and len(placed.halo) != count:
        yield f"{subject.name!r} has {count} dimensions, its halo has {len(placed.halo)}"
    for axis, room in zip(placed.axes, placed.halo, strict=False):
        if min(room) < 0:
            yield f"the halo of {subject.name!r} has a negative width"
        elif any(room) and not isinstance(axis, Blocked):
            yield f"{subject.name!r} has a halo along a dimension that has no blocks"


@rule("distribution.blocks", Declaration)
def blocks_hold_all_elements(subject: Declaration, scope: Scope) -> Findings:
    """As far as sizes are numbers, blocks have elements, offsets are not negative, and all elements are on the grid."""
    desc = subject.desc
    if not isinstance(desc, Array) or desc.distribution is None or desc.distribution.grid not in scope.sdfg.grids:
        return
    sizes = scope.sdfg.grids[desc.distribution.grid].sizes
    yield from _blocks(f"{subject.name!r}", desc.distribution)
    for axis, count in zip(desc.distribution.axes, desc.shape, strict=False):
        if isinstance(axis, Blocked) and axis.block is not None and axis.axis < len(sizes):
            missing = (count + axis.offset - axis.block * sizes[axis.axis]).constant
            if missing is not None and missing > 0:
                yield f"{missing} elements of {subject.name!r} are on no rank: {axis} of {sizes[axis.axis]} ranks"


@rule("distribution.partial", Declaration)
def partial_values_can_be_combined(subject: Declaration, scope: Scope) -> Findings:
    """Partial values over an axis have a dtype that the operation takes, and are no argument."""
    desc = subject.desc
    if not isinstance(desc, Array) or desc.distribution is None:
        return
    for part in desc.distribution.rest:
        if isinstance(part, Partial) and not combines(part.op, desc.dtype.kind):
            yield f"{desc.dtype} values of {subject.name!r} cannot be combined with {part.op!r}"
        elif isinstance(part, Partial) and not desc.transient:
            yield f"the argument {subject.name!r} has a value that is still to be combined", "copy it out of one"


@rule("distribution.constant", Declaration)
def constants_are_everywhere(subject: Declaration, scope: Scope) -> Findings:
    """A constant, and a container private to an iteration, is whole on each rank."""
    desc = subject.desc
    if isinstance(desc, Array) and desc.distribution is not None:
        if subject.name in scope.sdfg.constants:
            yield f"the constant {subject.name!r} is distributed"
        if any(isinstance(owner, Written) and owner.concurrent for owner in scope.owners):
            yield f"{subject.name!r} is private to iterations, and distributed"


@rule("map.home", Map)
def homes_fit_their_map(node: Map, scope: Scope) -> Findings:
    """The home of a map is on a declared grid, and assigns the values of each parameter to ranks."""
    home = node.home
    if home is None:
        return
    what = f"the home of the map over {', '.join(node.params)}"
    if len(home.axes) != len(node.params):
        yield f"{what} has {len(home.axes)} entries"
    if any(isinstance(part, Partial) for part in home.rest):
        yield f"{what} has something to combine"
    if any(isinstance(axis, Blocked) and axis.block is None for axis in home.axes):
        yield f"{what} does not say how large blocks are"
    if any(isinstance(owner, Written) and owner.concurrent for owner in scope.owners):
        yield f"{what} is inside of what runs on one rank"
    yield from _grid(what, home, scope.sdfg)
    yield from _blocks(what, home)


@rule("map.halo", Map)
def iterations_of_neighbours_are_in_blocks(node: Map, scope: Scope) -> Findings:
    """Ranks run iterations of their neighbours along parameters that are distributed in blocks, where all have some."""
    if node.home is None or not node.home.halo:
        return
    home, what = node.home, f"the halo of the map over {', '.join(node.params)}"
    if len(home.halo) != len(node.params):
        yield f"{what} has {len(home.halo)} entries"
    for axis, room in zip(home.axes, home.halo, strict=False):
        if min(room) < 0:
            yield f"{what} has a negative width"
        elif any(room) and not isinstance(axis, Blocked):
            yield f"{what} is along a parameter that has no blocks"
    if home.rest:
        yield f"{what} is on ranks that run nothing"


@rule("update.room", HaloUpdate)
def updated_arrays_have_room(node: HaloUpdate, scope: Scope) -> Findings:
    """An update covers whole arrays, which have room for the elements that arrive."""
    if any(node.problems()):
        return
    for memlet, widths in zip(node.inputs.values(), node.widths().values(), strict=True):
        desc = scope.desc(memlet.container)
        if not isinstance(desc, Array):
            yield f"an update is of {memlet.container!r}, which is no array"
        elif memlet.subset != Subset.whole(desc.shape):
            yield f"an update is of {memlet}, a part of {memlet.container!r}"
        elif desc.distribution is not None:
            for dim, (before, behind) in enumerate(widths):
                low, high = desc.distribution.halo_of(dim)
                if before > low or behind > high:
                    yield (
                        f"an update is of {max(before, behind)} elements of neighbours along dimension {dim} of "
                        f"{memlet.container!r}, which has room for {low} before and {high} behind"
                    )


@rule("call.grids", Call)
def called_programs_are_on_one_rank(node: Call, scope: Scope) -> Findings:
    """A program that is called has no grid of its own."""
    if node.sdfg.grids:
        yield f"@{node.sdfg.name} is distributed over a grid of its own", "inline it (simplify does)"


def _grid(what: str, placed: Distribution, sdfg: Sdfg) -> Findings:
    if placed.grid not in sdfg.grids:
        yield f"{what} is on the grid {placed.grid!r}, which does not exist", "declare it: grids(g[Px, Py])"
        return
    count = len(sdfg.grids[placed.grid].sizes)
    used = [part.axis for part in (*placed.axes, *placed.rest) if part is not None]
    for axis in dict.fromkeys(used):
        if not 0 <= axis < count:
            yield f"{what} is along axis {axis} of the grid {placed.grid!r}, which has {count}"
        if used.count(axis) > 1:
            yield f"{what} is along axis {axis} of the grid {placed.grid!r} twice"


def _blocks(what: str, placed: Distribution) -> Findings:
    for axis in placed.axes:
        if isinstance(axis, Blocked | Cyclic):
            if _below(axis.block, 1):
                yield f"{what} has blocks of {axis.block} elements"
            if _below(axis.offset, 0):
                yield f"{what} has the offset {axis.offset}"
    for part in placed.rest:
        if isinstance(part, Root) and _below(part.at, 0):
            yield f"{what} is at the coordinate {part.at}"


def _below(value: Expr | None, least: int) -> bool:
    return value is not None and value.constant is not None and value.constant < least
