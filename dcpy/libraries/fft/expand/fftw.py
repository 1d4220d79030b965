"""Transforms by FFTW, where it is the quicker one: as long as the elements of a line lie close together."""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, Load, ScalarExpr, op
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.schedules import UNDECIDED
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.fft.environments import FUNCTION
from dcpy.libraries.fft.expand.mixed_radix_programs import CPU
from dcpy.libraries.fft.expand.program_calls import TransformLines, lines_of
from dcpy.libraries.fft.nodes import Transform

NEAR = 16384  #: elements; further apart, the loops of dcpy are quicker than a plan that FFTW only estimates


@expands(Transform, "fftw", environment="fftw")
def transform(node: Transform, f: Fragment) -> None:
    """One call for all lines, or the loops."""
    lines = lines_of(node, f)
    extent = lines.extent
    if f.ranges.proves_le(extent, NEAR):
        _call(f, lines)
    elif f.ranges.proves_lt(NEAR, extent):
        lines.call_program(CPU)
    else:
        near, far = f.branch(op("le", Index(extent), Const(NEAR, types.int64)))
        with f.inside(near):
            _call(f, lines)
        with f.inside(far):
            lines.call_program(CPU)
    lines.finish()


def _call(f: Fragment, lines: TransformLines) -> None:
    x, y, node = lines.x, lines.y, lines.node
    status = f.scalar("status", types.int32)
    kind = 2 if lines.is_from_real else 3 if lines.is_to_real else int(node.backward)
    sizes = [lines.length, lines.outer, *lines.steps("o"), lines.inner, *lines.steps("i"), *lines.steps("k")]
    arguments: tuple[str | ScalarExpr, ...] = (Const(kind, types.int32), "x", "y", *map(Index, sizes))
    inputs, outputs = {"x": x.memlet}, {"y": y.memlet, "status": status.memlet}
    f.add(ForeignCall(FUNCTION[lines.real], arguments, inputs, outputs, "fftw", result="status"))
    loaded = Load(status.memlet.container, (), types.int32)
    f.check(op("eq", loaded, Const(0, types.int32)), "MemoryError", "no memory for a plan of FFTW")
    if node.is_scaled():
        _scale(f, lines)


def _scale(f: Fragment, lines: TransformLines) -> None:
    numbers = f.reals(lines.y)
    with f.map(Range(ZERO, numbers.shape[0]), UNDECIDED, "j") as j:
        f.compute(numbers.at(j), times, numbers.at(j), lines.scale.at())


def times(number: ScalarExpr, factor: ScalarExpr) -> ScalarExpr:
    """A part of a complex number, scaled."""
    return op("mul", number, factor)
