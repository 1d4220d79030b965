"""Loops of launches as graphs: the launches of many iterations are recorded, and given to the device in one call.

A graph has no conditions: what its launches get is what they got when it was recorded. A loop whose launches do not
depend on its counter records once and replays; any other records each band of iterations again, and the device's
driver changes in the graph what differs.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name, integer, plus
from dcpy.codegen.lir.types import INDEX, TRUTH, Basic
from dcpy.codegen.lir.walk import expressions, parts
from dcpy.codegen.lower.context import Context

MOST = 64  #: launches in a graph


def with_graphs(context: Context, loop: tree.Loop) -> tree.Statement:
    """A loop of nothing but launches, in bands of iterations that are graphs; as it is where there are not two bands.

    before   for t in 0:T { launch(t) }
    after    if has_graphs() and T >= 128 {
               for band in 0:T:64 {
                 if band + 63 < T { begin(g);  for t in band:band + 64 { launch(t) };  end(g);  replay(g) }
                 else { for t in band:T { launch(t) } }
               }
             } else { for t in 0:T { launch(t) } }
    """
    gpu = context.module.gpu
    step = loop.step.value if isinstance(loop.step, Literal) else None
    launches = _launches(loop.body)
    if gpu is None or not gpu.graphs or loop.down is not False or not isinstance(step, int) or step < 1 or not launches:
        return loop
    width = max(MOST // len(launches), 1)
    number = integer(context.module.graphs)
    context.module.graphs += 1
    band = Name(context.names.fresh(f"{loop.var}_band"), INDEX)
    own = {loop.var, *(one.name for one in _simple(loop.body) if isinstance(one, tree.Declare))}
    full = replace(loop, start=band, stop=plus(band, integer(width * step)))
    record: tree.Body = (_ask("graph_begin", number), full, _ask("graph_end", number))
    if own.isdisjoint(part.name for one in launches for part in _names(one)):
        record = (tree.If(((_is("==", band, loop.start), record),)),)
    last = plus(band, integer((width - 1) * step))
    replayed = tree.If(
        ((_is("<", last, loop.stop), (*record, _ask("graph_replay", number))),), (replace(loop, start=band),)
    )
    bands = tree.Loop(band.name, loop.start, loop.stop, integer(width * step), (replayed,), span=loop.span)
    enough = _is("<", plus(loop.start, integer((2 * width - 1) * step)), loop.stop)
    pays = Infix("&&", Intrinsic("has_graphs", (), TRUTH), enough, TRUTH)
    return tree.If(((pays, (bands,)),), (loop,))


def _launches(body: tree.Body) -> list[tree.Launch]:
    """The launches of a body that has nothing else, but for numbers that they need; none of any other."""
    found = list(_simple(body))
    only = all(isinstance(one, tree.Launch) or (isinstance(one, tree.Declare) and one.constant) for one in found)
    return [one for one in found if isinstance(one, tree.Launch)] if only else []


def _simple(body: tree.Body) -> Iterator[tree.Statement]:
    """The statements of a body, blocks opened."""
    for statement in body:
        if isinstance(statement, tree.Block):
            yield from _simple(statement.body)
        else:
            yield statement


def _names(launch: tree.Launch) -> Iterator[Name]:
    return (part for expr in expressions(launch) for part in parts(expr) if isinstance(part, Name))


def _ask(what: str, number: LirExpr) -> tree.Evaluate:
    return tree.Evaluate(Intrinsic(what, (number,), Basic.VOID))


def _is(operator: str, left: LirExpr, right: LirExpr) -> LirExpr:
    return Infix(operator, left, right, TRUTH)
