"""Vector tiles: a loop whose vectors are right only where nothing is out of the ordinary, which each tile asks first.

before   loop i { ... as written ... }
after    loop tile step 256 {
             var odd = 0;  loop i in tile simd reduction(bitor: odd) { odd |= is this one odd }
             if odd != 0 { loop i in tile { ... as written ... } } else { loop i in tile simd { vectors } }
         }
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Literal, Name, Operation, integer, plus
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.cpu.vector_checks import ANY, some_fail

TILE = 256  #: iterations: what is read twice stays in the first cache


def in_tiles(loop: tree.Loop, names: Names, odd: Name, question: tree.Body, vectors: tree.Body) -> tree.Loop:
    """The loop in tiles: `question` sets bits of `odd`, and where it does not, `vectors` is an iteration."""
    tile = Name(names.fresh(f"{loop.var}_tile"), INDEX)
    end = Operation("min", (loop.stop, plus(tile, integer(TILE))), INDEX, INDEX)
    divided = any(isinstance(mark, tree.Divided) for mark in loop.marks)
    inner = replace(loop, start=tile, stop=end, marks=tuple(m for m in loop.marks if not isinstance(m, tree.Divided)))
    asked = replace(inner, body=question, marks=(tree.Simd(), tree.Reduction(ANY, odd.name)))
    return tree.Loop(
        tile.name, loop.start, loop.stop, integer(TILE),
        (
            tree.Declare(odd.name, INDEX, Literal(0, INDEX)),
            asked,
            tree.If(((some_fail(odd), (replace(inner, marks=()),)),), (replace(inner, body=vectors),)),
        ),
        marks=tuple(mark for mark in loop.marks if divided and not isinstance(mark, tree.Simd)), span=loop.span,
    )  # fmt: skip
