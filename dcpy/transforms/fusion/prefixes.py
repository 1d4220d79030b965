"""Common prefixes of iteration spaces: the outer parameters of two maps, matched one by one.

The accesses of an iteration of the outer parameters are those of the body over all values of the inner parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import EnclosingRegion, MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import Variable
from dcpy.ir.nodes import Map
from dcpy.ir.symbolic import Expr, Ranges, sym

Renaming = Mapping[str, Expr]  #: a map's outer parameters in terms of those of another map


def prefix_of(node: Map, depth: int) -> tuple[Variable, ...]:
    """The `depth` outermost parameters of a map, with their ranges."""
    return tuple(zip(node.params[:depth], node.domain[:depth], strict=True))


def same_prefix(first: Map, second: Map, depth: int, ranges: Ranges) -> Renaming | None:
    """The `depth` outer parameters of the second map in terms of the first map's; None if they do not match.

    Parameters match if they have equally many values and equal steps; shifts do not matter.
    """
    if len(first.params) < depth or len(second.params) < depth:
        return None
    values: dict[str, Expr] = {}
    for (mine, ours), (its, theirs) in zip(prefix_of(first, depth), prefix_of(second, depth), strict=True):
        assert ours is not None
        assert theirs is not None
        theirs = theirs.subs(values)
        shift = theirs.start - ours.start
        pairs = ((ours.stop + shift, theirs.stop), (ours.step, theirs.step))
        if not all(same_value(left, right, ranges) for left, right in pairs):
            return None
        values[its] = sym(mine) + shift
    return values


def same_value(left: Expr, right: Expr, ranges: Ranges) -> bool:
    """Return whether two bounds are proved to be equal: as written, or by the condition of a check."""
    if ranges.simplify(left) is ranges.simplify(right):
        return True
    return ranges.proves_le(left, right) and ranges.proves_le(right, left)


def accesses_below(node: Map, depth: int, uses: Uses) -> tuple[MemoryAccess, ...]:
    """The accesses of one iteration of the `depth` outer parameters of a map; the others are variables."""
    inner = tuple(zip(node.params[depth:], node.domain[depth:], strict=True))
    accesses = accesses_of_body(node, uses)
    if not inner:
        return accesses
    around = EnclosingRegion(node.body, inner)
    return tuple(replace(access, scopes=(around, *access.scopes)) for access in accesses)
