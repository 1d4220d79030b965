"""Iteration spaces that begin alike: the outer parameters of two maps, matched one by one.

What a map touches in one iteration of its outer parameters is what its body touches while the other parameters run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from dcpy.ir.analysis.access import MemoryAccess, Scope
from dcpy.ir.analysis.access_relations import accesses_of_body
from dcpy.ir.analysis.footprints import Variable
from dcpy.ir.analysis.uses import Uses
from dcpy.ir.nodes import Map
from dcpy.ir.symbolic import Expr, Ranges, sym

Renaming = Mapping[str, Expr]  #: a map's outer parameters in terms of those of another map


def prefix_of(node: Map, depth: int) -> tuple[Variable, ...]:
    """The `depth` outermost parameters of a map, with their ranges."""
    return tuple(zip(node.params[:depth], node.domain[:depth], strict=True))


def same_prefix(first: Map, second: Map, depth: int, ranges: Ranges) -> Renaming | None:
    """The `depth` outer parameters of the second map in terms of the first map's; None where they run elsewhere.

    They run alike where each takes as many values, in the same steps: shifts do not matter.
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
    """Whether two bounds are proved to be equal: as they are written, or by what a check has found out."""
    if ranges.simplify(left) is ranges.simplify(right):
        return True
    return ranges.proves_le(left, right) and ranges.proves_le(right, left)


def touches_below(node: Map, depth: int, uses: Uses) -> tuple[MemoryAccess, ...]:
    """What one iteration of the `depth` outer parameters of a map touches; the others are variables."""
    inner = tuple(zip(node.params[depth:], node.domain[depth:], strict=True))
    touches = accesses_of_body(node, uses)
    if not inner:
        return touches
    around = Scope(node.body, inner)
    return tuple(replace(touch, scopes=(around, *touch.scopes)) for touch in touches)
