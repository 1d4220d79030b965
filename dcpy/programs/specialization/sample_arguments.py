"""Sample arguments: they give dtypes, ranks and memory order, but only those sizes that the program requires.

Two sizes may be equal in the samples by accident, and an SDFG for these samples is for all sizes. Equal are
those that the program compares on every way through it, and would raise an exception for: they share a symbol. Sizes of
slices are compared too, but may differ where one is 1 or less: these share a symbol as well, because that makes a
better program, and the `general` one is kept for calls that do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import DcpyError
from dcpy.frontend.specialize.argument_types import ArgType, ArrayType
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Index, Op, ScalarExpr
from dcpy.ir.nodes import Call
from dcpy.ir.region import Block, Check, Loop, Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.ir.symbolic.expr import Atom
from dcpy.ir.tree import jumps
from dcpy.programs.specialization.size_versions import types_of

if TYPE_CHECKING:
    from dcpy.frontend.lower.lowering_result import Lowered

_ROUNDS = 4  # each finds what follows from the equalities of those before
_APART = 1000  # between sizes of a made-up call, so that no two of them are related

@dataclass(frozen=True, slots=True)
class ForSamples:
    """A program, and the one for sizes that do not fit it."""

    lowered: Lowered
    general: Lowered | None = None


ArgumentDim = tuple[str, int]  # a dimension of an argument


def lowered_for_samples(
    bound: Mapping[str, Any],
    annotated: Mapping[str, ArgType],
    lower: Callable[[dict[str, ArgType]], Lowered],
    *,
    fields: Container[str] = (),
    taken: Iterable[str] = (),
) -> ForSamples:
    """The program for arguments like these, of any sizes; where it exists for related sizes only, for those."""
    arrays = {name: value for name, value in bound.items() if isinstance(value, np.ndarray) and name not in annotated}
    places = [(name, axis) for name, value in arrays.items() for axis in range(value.ndim)]
    group = {place: number for number, place in enumerate(places)}

    def settled(of_slices: bool, known: Lowered | None = None) -> Lowered:
        for _ in range(_ROUNDS):
            types = types_of(bound, annotated, earlier=[_made_up(arrays, group)], fields=fields, taken=taken)
            lowered = known or lower(types)
            known = None
            if not _join(group, arrays, types, required_equalities(lowered.sdfg, of_slices)):
                break
        return lowered

    try:
        exact = settled(of_slices=False)
        lowered = settled(of_slices=True, known=exact)
    except DcpyError:
        return ForSamples(lower(types_of(bound, annotated, fields=fields, taken=taken)))
    return ForSamples(lowered, exact if lowered is not exact else None)


def _made_up(
    arrays: Mapping[str, np.ndarray[Any, Any]], group: Mapping[ArgumentDim, int]
) -> dict[str, tuple[int, ...]]:
    """The shapes of a call in which sizes are equal within a group only."""
    return {
        name: tuple(_APART * (2 + group[name, axis]) for axis in range(value.ndim)) for name, value in arrays.items()
    }


def _join(
    group: dict[ArgumentDim, int],
    arrays: Mapping[str, np.ndarray[Any, Any]],
    types: Mapping[str, ArgType],
    equalities: Iterable[tuple[str, str]],
) -> bool:
    """Make one group of sizes that must be equal, and are; whether there were any."""
    found: dict[str, ArgumentDim] = {}
    for place in group:
        kind = types[place[0]]
        if isinstance(kind, ArrayType) and (symbol := kind.dims[place[1]].name) is not None:
            found.setdefault(symbol, place)
    changed = False
    for left, right in equalities:
        if left in found and right in found:
            (name, axis), (other, other_axis) = found[left], found[right]
            ours, theirs = group[name, axis], group[other, other_axis]
            if ours != theirs and arrays[name].shape[axis] == arrays[other].shape[other_axis]:
                first, last = min(ours, theirs), max(ours, theirs)
                group |= {place: first for place, number in group.items() if number == last}
                changed = True
    return changed


def required_equalities(sdfg: Sdfg, of_slices: bool = False) -> Iterator[tuple[str, str]]:
    """Symbols that a program requires to be equal, wherever it goes: pairs of sizes of its arguments.

    With those that slices of equal sizes have, unless one of them has at most one element, or a loop does not run.
    """
    yield from _required_in(sdfg.body, of_slices)


def _required_in(region: Region, of_slices: bool) -> Iterator[tuple[str, str]]:
    for block in region.blocks:
        if isinstance(block, Check):
            yield from _compared(block.condition, of_slices)
        elif _may_leave(block):
            return
        elif isinstance(block, Loop) and (of_slices or (block.range.size.constant or 0) > 0):
            yield from _required_in(block.body, of_slices)
        elif isinstance(block, State):
            for node in block.nodes:
                if isinstance(node, Call):  # which says what the callee's symbols are
                    yield from _required_by_callee(node, of_slices)


def _required_by_callee(node: Call, of_slices: bool) -> Iterator[tuple[str, str]]:
    for left, right in required_equalities(node.sdfg, of_slices):
        names = [node.symbols[name].name if name in node.symbols else None for name in (left, right)]
        if names[0] is not None and names[1] is not None:
            yield names[0], names[1]


def _compared(condition: ScalarExpr, of_slices: bool) -> Iterator[tuple[str, str]]:
    match condition:
        case Op(name="eq", args=(Index(value=left), Index(value=right))):
            if of_slices:
                left, right = _without_clamp(left), _without_clamp(right)
            pair = _symbols_of(left - right)
            if pair is not None:
                yield pair
        case Op(name="or", args=(Op(name="eq") as same, Op(name="eq"))) if of_slices:
            yield from _compared(same, of_slices)


def _without_clamp(size: Expr) -> Expr:
    """``N - 2`` for ``max(0, N - 2)``."""
    match size.terms:
        case ((((Atom(kind="max", args=args), 1),), 1),):
            rest = [arg for arg in args if arg is not ZERO]
            return rest[0] if len(rest) == 1 else size
    return size


def _symbols_of(difference: Expr) -> tuple[str, str] | None:
    """The two symbols of ``a - b``."""
    match difference.terms:
        case ((((one, 1),), 1), (((other, 1),), -1)) | ((((one, 1),), -1), (((other, 1),), 1)):
            return (one.name, other.name) if one.kind == other.kind == "sym" else None
    return None


def _may_leave(block: Block) -> bool:
    """Return whether what comes after a block may not be reached, other than by an exception of its own."""
    inside = [block, *(inner for region in block.regions() for inner in region.walk_blocks())]
    return any(jumps(block)) or any(Effect.MAY_NOT_END in inner.effects for inner in inside)
