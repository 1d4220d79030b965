"""Long chains of ``elif`` whose tests need code: which side is taken is found first, test after test, then one branch.

``if f(x): a elif g(x): b else: c`` becomes ``k = -1; if k < 0: if f(x): k = 0; if k < 0: if g(x): k = 1``, and then
``if k == 0: a elif k == 1: b else: c``: however long the chain is, branches are two deep.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from dcpy.frontend.desugar import core

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame

LONGEST = 24  # tests that may be in each other


def flattened(frame: Frame, chain: list[core.If]) -> core.Body:
    """The statements for a chain, made once: what is known of statements is kept by them."""
    known, key = frame.program.expression_loops, ("chain", chain[0])
    if key not in known:
        known[key] = _flat(chain, f".side_{len(known)}")
    found: core.Body = known[key]
    frame.liveness.block(found, frame.liveness.after[chain[0]])
    return found


def _flat(chain: list[core.If], name: str) -> core.Body:
    first = chain[0]
    found: list[core.Statement] = [_chosen(first, name, -1)]
    for number, part in enumerate(chain):
        taken = core.If(part.test, (_chosen(part, name, number),), (), span=part.span)
        found.append(core.If(_compared(part, name, ast.Lt(), 0), (taken,), (), span=part.span))
    side = chain[-1].orelse
    for number, part in reversed(list(enumerate(chain))):
        side = (core.If(_compared(part, name, ast.Eq(), number), part.body, side, span=part.span),)
    return (*found, *side)


def _chosen(part: core.If, name: str, number: int) -> core.Statement:
    return core.Assign((_located(ast.Name(name, ast.Store()), part),), _located(ast.Constant(number), part),
                       span=part.span)  # fmt: skip


def _compared(part: core.If, name: str, how: ast.cmpop, number: int) -> ast.expr:
    left, right = _located(ast.Name(name, ast.Load()), part), _located(ast.Constant(number), part)
    return _located(ast.Compare(left, [how], [right]), part)


def _located(tree: ast.expr, part: core.If) -> ast.expr:
    if isinstance(part.test, ast.AST):
        return ast.copy_location(tree, part.test)
    tree.lineno, tree.col_offset = part.span.line, part.span.column
    tree.end_lineno, tree.end_col_offset = part.span.end_line, part.span.end_column
    return tree
