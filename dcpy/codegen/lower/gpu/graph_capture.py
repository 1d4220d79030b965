"""Graph capture: loops of launches as graphs (the schedule `Recorded`), in statements of the host.

A graph has no conditions: what its launches get is what they got when it was recorded. A loop whose iterations launch
alike records once and replays; any other records each band of iterations again, and the device's driver changes in
the graph what differs.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name, integer, plus
from dcpy.codegen.lir.types import INDEX, TRUTH, Basic
from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.program_state import program_of
from dcpy.ir.schedules import Recorded


def with_graphs(context: Context, loop: tree.Loop, recorded: Recorded, head: tree.Body) -> tree.Statement:
    """A loop of launches in bands of iterations that are graphs; as it is where there are not two bands.

    Each band begins with `head`, and so does each iteration outside of graphs.

    before   for t in 0:T { launch(t) }
    after    if has_graphs() and T >= 128 {
               for band in 0:T:64 {
                 if band + 63 < T { begin(g);  for t in band:band + 64 { launch(t) };  end(g);  replay(g) }
                 else { for t in band:T { launch(t) } }
               }
             } else { for t in 0:T { launch(t) } }
    """
    assert isinstance(loop.step, Literal)  # the verifier saw to it
    assert isinstance(loop.step.value, int)
    width, step = recorded.width, loop.step.value
    program = program_of(context.module)
    number = integer(program.graph_count)
    program.graph_count += 1
    band = Name(context.names.fresh(f"{loop.var}_band"), INDEX)
    full = replace(loop, start=band, stop=plus(band, integer(width * step)))
    record: tree.Body = (_ask("graph_begin", number), full, _ask("graph_end", number))
    if recorded.graphs == "one":
        record = (tree.If(((_is("==", band, loop.start), record),)),)
    last = plus(band, integer((width - 1) * step))
    replayed = tree.If(
        ((_is("<", last, loop.stop), (*record, _ask("graph_replay", number))),), (replace(loop, start=band),)
    )
    bands = tree.Loop(band.name, loop.start, loop.stop, integer(width * step), (*head, replayed), span=loop.span)
    enough = _is("<", plus(loop.start, integer((2 * width - 1) * step)), loop.stop)
    pays = Infix("&&", Intrinsic("has_graphs", (), TRUTH), enough, TRUTH)
    return tree.If(((pays, (bands,)),), (replace(loop, body=(*head, *loop.body)),))


def _ask(what: str, number: LirExpr) -> tree.Evaluate:
    return tree.Evaluate(Intrinsic(what, (number,), Basic.VOID))


def _is(operator: str, left: LirExpr, right: LirExpr) -> LirExpr:
    return Infix(operator, left, right, TRUTH)
