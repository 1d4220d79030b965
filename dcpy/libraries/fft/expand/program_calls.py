"""Program calls: transforms without a library, by calling a program of dcpy's own IR (`mixed_radix_programs`,
`real_transforms`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from dcpy.ir import types
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.nodes import Call, Copy
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, product_of
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.fft.expand.mixed_radix_programs import CPU, NEUTRAL, LoopStyle
from dcpy.libraries.fft.expand.real_transforms import BACKWARD, COMPLEX, FORWARD, program
from dcpy.libraries.fft.nodes import Transform

HALVED = (types.float32, types.float64)


@expands(Transform, "cpu", on=("cpu",))
def transform(node: Transform, f: Fragment) -> None:
    """All lines by one call; as many side by side as a vector holds."""
    lines = lines_of(node, f)
    lines.call_program(CPU)
    lines.finish()


@expands(Transform, "maps", fuses=False)
def transform_maps(node: Transform, f: Fragment) -> None:
    """All lines by one call; a map over the lines around those over the butterflies of each step."""
    lines = lines_of(node, f)
    lines.call_program(NEUTRAL)
    lines.finish()


@dataclass(frozen=True)
class TransformLines:
    """The packed operands of a node, and their lines: `outer` of them far apart, each with `inner` side by side.

    An operand that is not packed was copied; `finish` copies the result to where it belongs. Neighbours along the last
    axis are `inner`; where that is the axis itself, lines behind each other are. `scale` holds the factor.
    """

    node: Transform
    f: Fragment
    x: Operand
    y: Operand
    out: Operand
    scale: Operand

    @property
    def real(self) -> DType:
        """The dtype of real and imaginary parts."""
        return self.x.dtype.real

    @property
    def is_from_real(self) -> bool:
        return self.x.dtype in HALVED

    @property
    def is_to_real(self) -> bool:
        return self.y.dtype in HALVED

    @property
    def length(self) -> Expr:
        """Number of points to transform: those of the operand that is no half spectrum."""
        return (self.y if self.is_to_real else self.x).shape[self.node.axis]

    @property
    def extent(self) -> Expr:
        """Number of elements between the ends of a line."""
        return self.length * self._behind

    @cached_property
    def _behind(self) -> Expr:
        """Number of elements side by side behind the axis."""
        return product_of(*self.x.shape[self.node.axis + 1 :])

    @property
    def _before(self) -> Expr:
        return product_of(*self.x.shape[: self.node.axis])

    @property
    def outer(self) -> Expr:
        return ONE if self._behind is ONE else self._before

    @property
    def inner(self) -> Expr:
        return self._before if self._behind is ONE else self._behind

    def steps(self, along: str) -> tuple[Expr, Expr]:
        """Elements of ``x`` and of ``y`` from one line to the next ("o", "i"), or from point to point ("k")."""
        ends = (self.x.shape[self.node.axis], self.y.shape[self.node.axis])
        match along:
            case "k":
                return self._behind, self._behind
            case "i" if self._behind is not ONE:
                return ONE, ONE
        return ends[0] * self._behind, ends[1] * self._behind

    def call_program(self, style: LoopStyle) -> None:
        """Call the program for these dtypes; the forward one of swapped parts where the node goes backward."""
        kind = FORWARD if self.is_from_real else BACKWARD if self.is_to_real else COMPLEX
        swapped = kind == COMPLEX and self.node.backward
        symbols: dict[str, Expr] = {"n": self.length, "outer": self.outer, "inner": self.inner}
        arguments = {"scale": self.scale.memlet}
        for position, operand in enumerate((self.x, self.y)):
            name, parts = "xy"[position], 1 if operand.dtype in HALVED else 2
            reals = self.f.reals(operand)
            arguments[name] = reals.memlet
            symbols[name.upper()] = reals.shape[0]
            symbols |= {f"{name}0": ONE if swapped else ZERO, f"{name}im": as_expr(-1 if swapped else 1)}
            symbols |= {f"{name}{along}": self.steps(along)[position] * parts for along in "oik"}
        callee = program(kind, self.real, style)
        called = (call.sdfg for call in self.f.sdfg.body.walk_calls())
        callee = next((sdfg for sdfg in called if sdfg.name == callee.name), None) or copy_sdfg(callee)
        values = {symbol: symbols[symbol] for symbol in callee.symbols}
        memlets = {name: arguments[name] for name in callee.arguments if name in arguments}
        self.f.add(Call(callee, memlets, values, outlined=True))

    def finish(self) -> None:
        """Copy the result where the output is not packed."""
        if self.y is not self.out:
            self.f.add(Copy(self.y.memlet, self.out.memlet))


def lines_of(node: Transform, f: Fragment) -> TransformLines:
    """The operands as lines; declines dtypes that there is no transform of."""
    x, out = f.input("x"), f.output("y")
    real = x.dtype.real
    if real not in HALVED or out.dtype.real != real:
        f.decline(f"takes f32, f64, c64, c128 of one precision, not {x.dtype} and {out.dtype}")
    if not f.is_packed(x):
        points = f.array("points", x.dtype, x.shape)
        f.add(Copy(x.memlet, points.memlet))
        x = points
    y = out if f.is_packed(out) else f.array("spectrum", out.dtype, out.shape)
    lines = TransformLines(node, f, x, y, out, f.scalar("scale", real))
    f.compute(lines.scale.at(), lambda: _factor(node, lines.length, real))
    return lines


def _factor(node: Transform, length: Expr, real: DType) -> ScalarExpr:
    """Return the factor of the sums, as NumPy computes it."""
    one, n = Const(1.0, real), cast(Index(length), real)
    if not node.is_scaled():
        return one
    return op("div", one, op("sqrt", n) if node.norm == "ortho" else n)
