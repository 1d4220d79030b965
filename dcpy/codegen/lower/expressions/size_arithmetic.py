"""Size arithmetic at run time: plain where it is proved to fit into 64 bits, else in 128 bits, and checked.

What is checked becomes the largest number of 64 bits in the end, where these do not hold it: there is no memory for so
many elements. On the way there, that is a number like others. Nothing else is looked at: where memory exists, strides
and offsets inside of it fit, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, integer, times
from dcpy.codegen.lir.types import INDEX, TRUTH, Basic
from dcpy.codegen.lower.context import Context
from dcpy.ir.data import Array
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, max_of
from dcpy.ir.symbolic.expr import Atom
from dcpy.ir.symbolic.intervals import LIMITS, SymbolIntervals

_INTRINSICS = {
    "min": "least_size", "max": "greatest_size", "floordiv": "quotient_of_sizes", "mod": "remainder_of_sizes",
}  # fmt: skip


def fits(context: Context, value: Expr) -> bool:
    """Return whether 64 bits are proved to count a size."""
    return value.name is not None or value.constant is not None or _known(context).counts(value)


def checked(context: Context, value: Expr) -> LirExpr:
    """A size, or the largest number."""
    return counted(_wide(context, value))


def counted(size: LirExpr) -> LirExpr:
    """A size in 64 bits; the largest number, where they do not hold it."""
    return Intrinsic("counted_size", (size,), INDEX) if size.type is Basic.WIDE else size


def product_of_sizes(left: LirExpr, right: LirExpr) -> LirExpr:
    """The product of two sizes, in 128 bits."""
    return _combined("product_of_sizes", left, right)


def _wide(context: Context, value: Expr) -> LirExpr:
    """A size: an index where 64 bits hold it, else in 128 bits."""
    if value.constant is not None:
        return integer(min(value.constant, LIMITS[1]))
    if fits(context, value):
        return context.symbolic(value)
    total: LirExpr = integer(0)
    for monomial, factor in sorted(value.terms, key=lambda term: (not term[0], term[1] < 0)):
        term: LirExpr = integer(min(abs(factor), LIMITS[1]))
        for atom, power in monomial:
            for _ in range(power):
                term = product_of_sizes(term, _atom(context, atom))
        total = _combined("difference_of_sizes" if factor < 0 else "sum_of_sizes", total, term)
    return total


def checked_product(context: Context, sizes: Sequence[Expr]) -> LirExpr:
    """The number of elements of a box; sizes that may be negative count as 0."""
    exact = _not_negative(context, sizes)
    plain = _fit_together(context, exact)
    total: LirExpr = integer(1)
    for factor in (_wide(context, size) for size in exact):
        total = times(total, factor) if plain else product_of_sizes(total, factor)
    return counted(total)


def overflow_of_iterations(context: Context, domain: Sequence[Range]) -> LirExpr | None:
    """The condition that 64 bits do not count the iterations of a box; None where they are proved to.

    Steps make iterations fewer: the numbers that they leave out are counted for the proof.
    """
    spans = [dim.size if dim.step is ONE or not dim.step.constant else dim.stop - dim.start for dim in domain]
    forwards = [dim.step is ONE or context.ranges.proves_nonneg(dim.step) for dim in domain]
    if all(forwards) and _fit_together(context, _not_negative(context, spans)):
        return None
    return Infix("==", checked_product(context, [dim.size for dim in domain]), integer(LIMITS[1]), TRUTH)


def _not_negative(context: Context, sizes: Sequence[Expr]) -> list[Expr]:
    return [size if context.ranges.proves_nonneg(size) else max_of(size, 0) for size in sizes]


def _fit_together(context: Context, sizes: Sequence[Expr]) -> bool:
    """Return whether 64 bits are proved to count sizes that are not negative, and their product."""
    return all(fits(context, size) for size in sizes) and (len(sizes) < 2 or _known(context).counts_all(sizes))


def _known(context: Context) -> SymbolIntervals:
    known = context.size_intervals
    if known is not None and known.ranges is context.ranges:
        return known
    sdfg = context.sdfg
    arguments = [desc for name in sdfg.arguments if isinstance(desc := sdfg.containers.get(name), Array)]
    boxes = [(desc.shape, desc.dtype.itemsize) for desc in arguments] if context.array_sizes else ()
    context.size_intervals = SymbolIntervals(context.ranges, context.array_sizes, boxes)
    return context.size_intervals


def _combined(name: str, left: LirExpr, right: LirExpr) -> LirExpr:
    """``left op right`` of checked sizes; what an operand makes trivial is the other one."""
    if name == "product_of_sizes" and integer(1) in (left, right):
        return right if left == integer(1) else left
    if name != "product_of_sizes" and right == integer(0):
        return left
    if name == "sum_of_sizes" and left == integer(0):
        return right
    return Intrinsic(name, (left, right), Basic.WIDE)


def _atom(context: Context, atom: Atom) -> LirExpr:
    alone = Expr(((((atom, 1),), 1),))
    if fits(context, alone):
        return context.symbolic(alone)
    args = [_wide(context, arg) for arg in atom.args]
    return reduce(lambda a, b: Intrinsic(_INTRINSICS[atom.kind], (a, b), Basic.WIDE), args)
