"""Rows of assignments with derivatives: the code of a tasklet, one operation after another, and what to add to it.

Derivatives of nested expressions would repeat their parts; so each operation that is needed more than once gets a name.
Products with the numbers 0 and 1 are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from dcpy.base.errors import GradientRefused
from dcpy.base.source import SrcSpan
from dcpy.ir.expressions.ops import op_info
from dcpy.ir.expressions.scalar import Cast, Const, Index, Op, Ref, ScalarExpr, cast, op, substitute_refs
from dcpy.ir.text.expr_parser import ExprParser
from dcpy.ir.types import DType

#: no derivative: a number that depends on nothing active
Tangent = ScalarExpr | None


class Assignments:
    """Assignments in order, under names that are not `taken`. `span` is the place for refusals."""

    def __init__(self, taken: Iterable[str], span: SrcSpan | None = None) -> None:
        self.code: list[tuple[str, ScalarExpr]] = []
        self.span = span
        self._taken = dict.fromkeys(taken)
        self._known: dict[ScalarExpr, Ref] = {}
        self._number = 0

    def fresh(self, stem: str) -> str:
        """A name that nothing has yet."""
        while True:
            self._number += 1
            name = f"{stem}{self._number}"
            if name not in self._taken:
                self._taken[name] = None
                return name

    def named(self, value: ScalarExpr, stem: str = "v") -> ScalarExpr:
        """A name for a value, the same one for equal values; names and numbers stand for themselves."""
        if isinstance(value, Ref | Const | Index):
            return value
        if value not in self._known:
            name = self.fresh(stem)
            self.code.append((name, value))
            self._known[value] = Ref(name, value.dtype)
        return self._known[value]

    def set(self, name: str, value: ScalarExpr) -> None:
        """Assign a name that exists: an output, or a local of the tasklet."""
        self.code.append((name, value))


# -- products without zeros and ones ---------------------------------------------------------------------------------


def number(value: float, dtype: DType) -> Const:
    """A constant of a floating-point dtype."""
    return Const(complex(value) if dtype.kind == "c" else float(value), dtype)


def plus(left: Tangent, right: Tangent) -> Tangent:
    """The sum, where one or both may be nothing."""
    if left is None or right is None:
        return right if left is None else left
    return op("add", left, right)


def times(partial: ScalarExpr, tangent: ScalarExpr) -> ScalarExpr:
    """The product of a partial and a tangent."""
    if isinstance(partial, Const) and partial.value in (1, -1):
        return tangent if partial.value == 1 else op("neg", tangent)
    return op("mul", partial, tangent)


def guarded(product: ScalarExpr, seed: ScalarExpr) -> ScalarExpr:
    """`product`, or 0 where `seed`, one of its factors, is 0: others may be infinite."""
    zero = number(0.0, seed.dtype)
    return op("select", op("eq", seed, zero), number(0.0, product.dtype), product)


# -- partials of one operation ---------------------------------------------------------------------------------------


def partial_of(value: Op, which: int, y: ScalarExpr, span: SrcSpan | None = None) -> ScalarExpr | None:
    """The derivative of an operation by one of its arguments; None where it is 0. `y` is its value, by name.

    Raises `GradientRefused` where there is none.
    """
    known = op_info(value.name).partials
    if known.refused:
        raise GradientRefused(f"{value.name} has no derivative here: {known.refused}", span=span)
    text = known.texts[which]
    if text == "0":
        return None
    arg = value.args[which].dtype
    if value.name == "pow" and which == 0 and isinstance(value.args[1], Const):
        return _of_power(value.args[0], value.args[1])
    if text in ("1", "-1"):
        return number(float(text), arg)
    parsed = _parsed(text, tuple(each.dtype for each in value.args), value.dtype)
    return substitute_refs(parsed, {**dict(zip("abc", value.args, strict=False)), "y": y})


def _of_power(base: ScalarExpr, exponent: Const) -> ScalarExpr | None:
    """The derivative of a power with a number as the exponent."""
    assert not isinstance(exponent.value, bool)
    if exponent.value == 0:
        return None
    if exponent.value == 1:
        return exponent
    rest = base if exponent.value == 2 else op("pow", base, Const(exponent.value - 1, exponent.dtype))
    return op("mul", exponent, rest)


@lru_cache(maxsize=1024)
def _parsed(text: str, args: tuple[DType, ...], result: DType) -> ScalarExpr:
    """A text of the table, for arguments and a value of these dtypes."""
    parser = ExprParser(text, "<partial>")
    parser.refs = {**dict(zip("abc", args, strict=False)), "y": result}
    value = parser.scalar(args[0])
    return _in(value, args[0]) if args[0].kind == "f" else value


def _in(value: ScalarExpr, dtype: DType) -> ScalarExpr:
    """A parsed partial with its numbers in a dtype: those that stand beside numbers alone were read as float64."""
    match value:
        case Const() if value.dtype.is_inexact:
            return value if value.dtype == dtype else number(float(value.value), dtype)  # type: ignore[arg-type]
        case Op(name=name, args=args):
            return op(name, *(_in(arg, dtype) for arg in args))
    return value


# -- forward ---------------------------------------------------------------------------------------------------------


class ForwardCode:
    """Code with tangents beside it: `dots` are the tangents of connectors by name; those without one are constant."""

    def __init__(self, row: Assignments, dots: Mapping[str, ScalarExpr]) -> None:
        self.row = row
        self.dots = dict(dots)

    def assign(self, target: str, value: ScalarExpr) -> Tangent:
        """Write the assignment; return the tangent of its target, by name where it is no name or number."""
        again, tangent = self._both(value)
        self.row.set(target, again)
        if tangent is not None:
            self.dots[target] = tangent = self.row.named(tangent, "d")
        else:
            self.dots.pop(target, None)
        return tangent

    def _both(self, value: ScalarExpr) -> tuple[ScalarExpr, Tangent]:
        match value:
            case Ref(name=name):
                return value, self.dots.get(name)
            case Cast(arg=arg, dtype=dtype):
                inner, tangent = self._both(arg)
                active = tangent is not None and dtype.is_inexact
                return Cast(inner, dtype), cast(tangent, dtype) if active and tangent is not None else None
            case Op():
                return self._operation(value)
        return value, None

    def _operation(self, value: Op) -> tuple[ScalarExpr, Tangent]:
        pairs = [self._both(arg) for arg in value.args]
        known = op_info(value.name).partials
        tangents = [tangent for _, tangent in pairs]
        if known.is_flat or all(tangent is None for tangent in tangents):
            return Op(value.name, tuple(arg for arg, _ in pairs), value.dtype), None
        args = tuple(self.row.named(arg) for arg, _ in pairs)
        again = Op(value.name, args, value.dtype)
        if known.linear:
            return again, _linear(again, tangents)
        y = self.row.named(again)
        total: Tangent = None
        for which, tangent in enumerate(tangents):
            if tangent is None:
                continue
            tangent = self.row.named(tangent, "d")
            partial = partial_of(again, which, y, self.row.span)
            if partial is None:
                continue
            product = times(partial, tangent)
            if known.singular and product is not tangent:
                product = guarded(product, tangent)
            total = plus(total, product if product.dtype == value.dtype else op("real", product))
        return y, total


def _linear(value: Op, tangents: list[Tangent]) -> ScalarExpr:
    """The operation on tangents; arguments without one are 0, but the condition of a selection."""
    if value.name == "select":
        tangents[0] = value.args[0]
    args = [number(0.0, arg.dtype) if dot is None else dot for arg, dot in zip(value.args, tangents, strict=True)]
    return op(value.name, *args)
