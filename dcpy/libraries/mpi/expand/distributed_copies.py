"""Copies between distributed arrays, and halos, as C++ that comes with dcpy (sections.h, copies.h) and calls MPI.

What the ranks send each other follows from numbers that are the same on all of them, but for strides: those of the two
distributions, and of the sections. The C++ makes a plan of them at the first call, and keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dcpy.base.errors import ExpansionError
from dcpy.base.minloc_maxloc import LOCATIONS
from dcpy.ir.analysis.distributed.ownership import resolved
from dcpy.ir.distribution import Axis, Blocked, Distribution, Partial, ProcessGrid, Root, Section
from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS
from dcpy.ir.nodes import Copy, ForeignCall
from dcpy.ir.subsets import DimSubset, Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.mpi.distributed_copies import BeginExchange, DistributedCopy, EndExchange, Exchange
from dcpy.libraries.mpi.expand.expansion_pairs import both

WHOLE, BLOCKS, CYCLIC, ABSENT = range(4)  # as in sections.h
OPERATIONS = {name: number for number, name in enumerate(("", *CONFLICT_RESOLUTIONS, *LOCATIONS))}  # as in ranks.h
CALLS = {
    "comm.exchange": "dcpy::exchange_parts",
    "comm.begin_exchange": "dcpy::begin_exchange",
    "comm.end_exchange": "dcpy::end_exchange",
}
Grids = Mapping[str, ProcessGrid]
Numbers = Iterator[Expr]
Arguments = tuple[str | ScalarExpr, ...]


def _copy(node: DistributedCopy, f: Fragment, environment: str) -> None:
    """One call, which sends and receives what it must; a rank alone copies what it has to where it belongs."""
    source, target = f.input("src"), f._operand(node.outputs["dst"])
    if source.memlet.container == target.memlet.container:  # parts of one array: the old values count
        before = f.array(f"{source.memlet.container}_old", source.dtype, source.shape, outermost=True)
        f.add(Copy(source.memlet, before.memlet))
        source = before
    if source.dtype != target.dtype:
        f.decline(f"copies {source.dtype} to {target.dtype}: ranks send what they have")
    if node.wcr and source.dtype.kind == "c" and node.wcr not in ("add", "mul"):
        f.decline(f"combines complex numbers by {node.wcr!r}")
    numbers = (as_expr(OPERATIONS[node.wcr]), *_numbers(node.source, node.target, source, target, f.sdfg.grids))
    arguments: Arguments = ("src", "dst", *map(Index, numbers))
    operands = {"src": source.memlet}, {"dst": target.memlet}
    f.add(ForeignCall("dcpy::copy_parts", arguments, *operands, environment))


def _exchange(node: Exchange, f: Fragment, environment: str) -> None:
    """One call for all sections, which are under way together: of each its memory and its numbers. What is owned
    stays where it is; a rank alone has no neighbours."""
    arguments: list[str | ScalarExpr] = [Index(as_expr(len(node.sections)))]
    for number, section in enumerate(node.sections):
        x, out = f.input(f"x{number}"), f._operand(node.outputs[f"out{number}"])
        if x.memlet != out.memlet:
            f.decline("fills the halo of an array in its own memory")
        numbers = (ZERO, *_numbers(section, section, x, out, f.sdfg.grids))
        arguments += (f"x{number}", f"out{number}", *map(Index, (as_expr(len(numbers)), *numbers)))
    operands = dict(node.inputs), dict(node.outputs)
    f.add(ForeignCall(CALLS[node.kind], tuple(arguments), *operands, environment))


copy, copy_alone = both(DistributedCopy, _copy)
exchange, exchange_alone = both(Exchange, _exchange)
begin, begin_alone = both(BeginExchange, _exchange)
end, end_alone = both(EndExchange, _exchange)


def _numbers(source: Section, target: Section, src: Operand, dst: Operand, known: Grids) -> Numbers:
    of_source, of_target = (_with_own_grid(section, known) for section in (source, target))
    yield from _placement(source.distribution, of_source)
    yield from _placement(target.distribution, of_target)
    pairs = list(_pairs(source, target))
    yield as_expr(len(pairs))
    for count, first, second in pairs:
        yield count
        yield from _side(source, first, src, of_source)
        yield from _side(target, second, dst, of_target)


def _with_own_grid(section: Section, known: Grids) -> Grids:
    """The grids that a section's distribution is about: those of the program, or the section's own."""
    if section.grid is None or section.distribution is None:
        return known
    return {**known, section.distribution.grid: section.grid}


def _placement(placed: Distribution | None, grids: Grids) -> Numbers:
    """Return whether there is a distribution, the grid's sizes, where roots are, and what is still to be combined how.
    """
    if placed is None:
        yield from map(as_expr, (0, 0, 0, 0, 0))
        return
    sizes = grids[placed.grid].sizes
    roots = [part for part in placed.rest if isinstance(part, Root)]
    partials = [part for part in placed.rest if isinstance(part, Partial)]
    operations = {part.op for part in partials}
    if len(operations) > 1:
        raise ExpansionError(f"parts are combined by {' and '.join(sorted(operations))}")
    yield from (ONE, as_expr(len(sizes)), *sizes, as_expr(len(roots)))
    for root in roots:
        yield from (as_expr(root.axis), root.at)
    yield from (as_expr(len(partials)), as_expr(OPERATIONS[operations.pop()] if operations else 0))
    yield from (as_expr(part.axis) for part in partials)


def _pairs(source: Section, target: Section) -> Iterator[tuple[Expr, int | None, int | None]]:
    """Dimensions that belong together, with the number of positions; alone are those of one position."""
    long = [[number for number, dim in enumerate(s.subset.dims) if _size(dim) is not ONE] for s in (source, target)]
    if len(long[0]) != len(long[1]):
        raise ExpansionError(f"copies {source.subset} to {target.subset}, which have other dimensions")
    for first, second in zip(*long, strict=True):
        yield _size(target.subset.dims[second]), first, second
    for number in range(len(source.subset.dims)):
        if number not in long[0]:
            yield ONE, number, None
    for number in range(len(target.subset.dims)):
        if number not in long[1]:
            yield ONE, None, number


def _size(dim: DimSubset) -> Expr:
    return dim.size if isinstance(dim, Range) else ONE


def _side(section: Section, number: int | None, operand: Operand, grids: Grids) -> Numbers:
    """The fields of a Side of sections.h."""
    if number is None:
        yield from map(as_expr, (0, 0, 1, 1, ABSENT, 0, 0, 0, 0, 0))
        return
    dim, size, placed = section.subset.dims[number], section.shape[number], section.distribution
    yield operand.strides[number]
    yield from (dim.start, dim.step) if isinstance(dim, Range) else (dim, ONE)
    yield size
    exact = None if placed is None else resolved(placed, section.shape, grids)
    yield from _axis(None if exact is None else exact.axes[number])
    yield from map(as_expr, (0, 0) if exact is None else exact.halo_of(number))


def _axis(axis: Axis) -> Numbers:
    if axis is None:
        yield from map(as_expr, (WHOLE, 0, 1, 0))
        return
    assert axis.block is not None  # it is resolved
    yield from (as_expr(BLOCKS if isinstance(axis, Blocked) else CYCLIC), as_expr(axis.axis), axis.block, axis.offset)
