"""Branches for reverse mode: a case is a loop of at most one iteration, whose number of iterations is a symbol.

before   if x[i] > 0.0 { A } else { B }
after    let taken = i64(x[i] > 0.0)
         loop t = 0:min(1, taken) { A }
         loop e = 0:min(1, 1 - taken) { B }

Reversed, the loops run as often as they did: the path that was taken is a value like any other that a bound reads. What
it depends on is kept where it is not there any more.
"""

from __future__ import annotations

from dcpy.autodiff.activity import Activity
from dcpy.ir import types
from dcpy.ir.editing.cloning import clone_body
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import cast
from dcpy.ir.region import Block, Branch, Loop, Region, SymbolAssign
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, min_of, sym


def branch_as_loops(branch: Branch, rw: Rewriter) -> None:
    """Replace a branch by a loop for its first case, and one for all the others."""
    taken = rw.sdfg.assign_symbol(rw.fresh_name("taken"))
    condition, first = branch.cases[0]
    blocks: list[Block] = [SymbolAssign(taken, cast(condition, types.int64), span=branch.span)]
    blocks.append(_at_most_once(sym(taken), clone_body(first, {}, rw), branch, rw))
    rest = branch.otherwise and clone_body(branch.otherwise, {}, rw)
    if len(branch.cases) > 1:
        cases = [(case, clone_body(body, {}, rw)) for case, body in branch.cases[1:]]
        rest = Region([Branch(cases, rest, span=branch.span)])
    if rest is not None:
        blocks.append(_at_most_once(ONE - sym(taken), rest, branch, rw))
    rw.replace(branch, *blocks)


def _at_most_once(times: Expr, body: Region, branch: Branch, rw: Rewriter) -> Loop:
    return Loop(rw.fresh_name("once"), Range(ZERO, min_of(1, times)), body, span=branch.span)


def next_active_branch(rw: Rewriter, activity: Activity) -> Branch | None:
    """An outermost branch in which something active is written."""
    for block in rw.sdfg.body.walk_blocks():
        if isinstance(block, Branch):
            nodes = (node for region in block.regions() for node in region.walk_nodes())
            if any(activity.holds(memlet.container) for node in nodes for memlet in node.writes()):
                return block
    return None
