"""Adjoints of a row of assignments: what each input gets of the adjoints of the results.

The row is gone through backwards: a line that has an adjoint hands it on to its arguments, times its partials, and the
adjoints of a name add up. Lines of the row that no partial reads are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dcpy.autodiff.assignments import Assignments, Tangent, guarded, number, partial_of, plus, times
from dcpy.autodiff.reverse.items import Pointwise, Row
from dcpy.base.errors import GradientRefused
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.expressions.scalar import Cast, Op, Ref, ScalarExpr, cast, op, walk


class AdjointCode:
    """The reversed code of a pointwise item: `row` is the item's own, and what the adjoints of inputs need.

    `bars` has for each active input its adjoint, by connector. The adjoint of result ``o0`` is the connector ``b_o0``.
    """

    def __init__(self, item: Pointwise, active: Iterable[str], seeds: Iterable[str]) -> None:
        self.item = item
        self._row = Assignments((*item.inputs, *(name for name, _ in item.code)), item.element.span)
        self._row.code += item.code
        self._active = self._forward(set(active))
        self._bars: dict[str, ScalarExpr] = {}
        for name in seeds:
            result = item.results[name]
            if isinstance(result, Ref):
                self._add(result, Ref(f"b_{name}", result.dtype))
        for name, value in reversed(item.code):
            if name in self._bars:
                self._hand_on(Ref(name, value.dtype), value, self._row.named(self._bars.pop(name), "a"))
        self.row: Row = self._row.code
        self.bars = {name: bar for name, bar in self._bars.items() if name in item.inputs}

    def _forward(self, active: set[str]) -> set[str]:
        for name, value in self.item.code:
            if any(isinstance(part, Ref) and part.name in active for part in walk(value)):
                active.add(name)
        return active

    def _add(self, to: ScalarExpr, bar: Tangent) -> None:
        if bar is None or not isinstance(to, Ref) or to.name not in self._active or not to.dtype.is_inexact:
            return
        total = plus(self._bars.get(to.name), cast(bar, to.dtype))
        assert total is not None
        self._bars[to.name] = total

    def _hand_on(self, target: Ref, value: ScalarExpr, bar: ScalarExpr) -> None:
        match value:
            case Cast(arg=arg, dtype=dtype):
                if dtype.is_inexact:
                    self._add(arg, cast(bar, arg.dtype) if arg.dtype.is_inexact else None)
            case Op(name="select", args=(chosen, holds, fails)):
                zero = number(0.0, bar.dtype)
                self._add(holds, op("select", chosen, bar, zero))
                self._add(fails, op("select", chosen, zero, bar))
            case Op(args=args):
                self._operation(target, value, args, bar)

    def _operation(self, target: Ref, value: Op, args: tuple[ScalarExpr, ...], bar: ScalarExpr) -> None:
        known = op_info(value.name).partials
        if known.is_flat:
            return
        if known.linear:
            raise GradientRefused("complex numbers have no gradients yet", span=self.item.element.span,
                                  help="dcpy.jvp takes them, or compute with real and imaginary parts")  # fmt: skip
        for which, arg in enumerate(args):
            if not isinstance(arg, Ref) or arg.name not in self._active:
                continue
            partial = partial_of(value, which, target, self._row.span)
            if partial is None:
                continue
            product = times(partial, bar)
            self._add(arg, guarded(product, bar) if known.singular and product is not bar else product)

    def needed(self, bars: Iterable[ScalarExpr]) -> tuple[Row, set[str]]:
        """The lines that some adjoints need, and all the names that they read which no line assigns."""
        return lines_for(self.row, bars)

    def values_read(self) -> set[str]:
        """The inputs whose values some adjoint reads."""
        _, names = self.needed(self.bars.values())
        return names & set(self.item.inputs)


def forward_row(item: Pointwise, results: Mapping[str, ScalarExpr]) -> tuple[Row, set[str]]:
    """The lines of the item itself that some results need, and the inputs that they read."""
    return lines_for(item.code, results.values())


def lines_for(row: Row, values: Iterable[ScalarExpr]) -> tuple[Row, set[str]]:
    """The lines of a row that some values need, and all the names that they read which no line assigns."""
    wanted = {part.name for value in values for part in walk(value) if isinstance(part, Ref)}
    kept: Row = []
    for name, value in reversed(row):
        if name in wanted:
            wanted.discard(name)
            wanted |= {part.name for part in walk(value) if isinstance(part, Ref)}
            kept.append((name, value))
    return kept[::-1], wanted
