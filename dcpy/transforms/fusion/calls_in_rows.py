"""Calls in rows: the price of a fusion that brings functions to where rows are split.

A loop over a row whose index jumps is split there (`index-set-splitting`): its ends are computed alone, and what
vectors leave of each part, too. A function of one number takes as long as that of a whole vector.
"""

from __future__ import annotations

from collections.abc import Iterable

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.expressions.scalar import Op, walk
from dcpy.ir.machine_model import Costs
from dcpy.ir.nodes import Map
from dcpy.transforms.maps.index_set_splitting import jumps_of

Rows = tuple[bool, bool]  # whether an index jumps along the rows of a map, and whether its body calls functions

CALLS_IN_SPLIT_ROWS = "one map is split where its indices jump, and the other one calls functions, which need vectors"

_ROWS = "rows"  # what `Uses.facts` keeps of a map


def calls_in_split_rows(first: Map, second: Map, uses: Uses, costs: Costs) -> bool:
    """Return whether just one of two maps jumps along its rows, and the other one calls functions."""
    (jumps, calls), (other_jumps, other_calls) = (rows_of(node, uses, costs) for node in (first, second))
    return (jumps and other_calls and not other_jumps) or (other_jumps and calls and not jumps)


def rows_of(node: Map, uses: Uses, costs: Costs) -> Rows:
    """The two answers for a map, found once until something inside changes."""
    facts = uses.facts(node)
    found: Rows | None = facts.get(_ROWS)
    if found is None:
        found = facts[_ROWS] = next(jumps_of(node), None) is not None, _calls(node, costs)
    return found


def remember_rows(fused: Map, parts: Iterable[Rows], uses: Uses) -> None:
    """Enter the answers for a map that took up the body of another one."""
    jumps, calls = zip(*parts, strict=True)
    uses.facts(fused)[_ROWS] = any(jumps), any(calls)


def _calls(node: Map, costs: Costs) -> bool:
    exprs = (expr for inner in node.body.walk_nodes() for expr in inner.exprs())
    ops = (part.name for expr in exprs for part in walk(expr) if isinstance(part, Op) and part.dtype.is_inexact)
    return any(costs.operations.of(name) > costs.operations.sqrt for name in ops)
