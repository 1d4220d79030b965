"""Dependence pragmas of pipelines: that iterations do not meet in a memory, or how far apart they do; where proved."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Name
from dcpy.codegen.lower.context import Context
from dcpy.ir.analysis.fpga.pipeline_dependences import iteration_distances
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop


def with_dependence_pragmas(context: Context, loop: Loop | Map, marks: Iterable[tree.Mark]) -> Iterator[tree.Mark]:
    """The marks of a loop; a pipeline of hardware has promises for the arrays that it reads and writes."""
    for mark in marks:
        if isinstance(mark, tree.Pipelined) and context.process:
            found = [
                (context.locations[one.container].base, one.distance) for one in iteration_distances(loop, context.uses)
            ]
            names = tuple((base.name, distance) for base, distance in found if isinstance(base, Name))
            yield replace(mark, apart=tuple((name, distance) for name, distance in names if distance != 1))
        else:
            yield mark
