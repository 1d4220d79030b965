"""Transforms through cuFFT or hipFFT: one call for all lines, whose plan is kept with the program."""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.nodes import Copy, ForeignCall
from dcpy.ir.schedules import UNDECIDED
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.fft.expand.fftw import times
from dcpy.libraries.fft.expand.program_calls import TransformLines, lines_of
from dcpy.libraries.fft.nodes import Transform
from dcpy.libraries.vendor.call_operands import ON_DEVICE, lies_the_same, number, refuse_in_maps

ENVIRONMENT = "gpu.fft"
FORWARD, BACKWARD, FROM_REAL, TO_REAL = range(4)


@expands(Transform, "cufft", environment=ENVIRONMENT, on=ON_DEVICE, fuses=False)
def transform(node: Transform, f: Fragment) -> None:
    """One call, and a map that scales."""
    refuse_in_maps(f)
    lines = lines_of(node, f)
    if not all(lies_the_same(f, operand) for operand in (f.input("x"), lines.out)):
        f.decline("lies in an array with gaps")
    _call(f, lines)
    if node.is_scaled():
        numbers = f.reals(lines.y)
        with f.map(Range(ZERO, numbers.shape[0]), UNDECIDED, "j") as j:
            f.compute(numbers.at(j), times, numbers.at(j), lines.scale.at())
    lines.finish()


def _call(f: Fragment, lines: TransformLines) -> None:
    x, y, node = lines.x, lines.y, lines.node
    kind = FROM_REAL if lines.is_from_real else BACKWARD if node.backward else FORWARD
    if lines.is_to_real:
        kind = TO_REAL
        if x.memlet.container == node.inputs["x"].container:  # the library may use it as a workspace
            points = f.array("points", x.dtype, x.shape)
            f.add(Copy(x.memlet, points.memlet))
            x = points
    sizes = [lines.length, lines.outer, *lines.steps("o"), lines.inner, *lines.steps("i"), *lines.steps("k")]
    letter = number(ord("d" if lines.real == types.float64 else "s"))
    arguments: tuple[str | ScalarExpr, ...] = (letter, number(kind), "x", "y", *map(Index, sizes))
    f.add(ForeignCall("dcpy_fft", arguments, {"x": x.memlet}, {"y": y.memlet}, ENVIRONMENT))
