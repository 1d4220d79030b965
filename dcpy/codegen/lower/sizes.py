"""Sizes that run time computes: plain arithmetic where it is proved to fit into 64 bits, else checked arithmetic.

What is checked becomes the largest number where it does not fit, whatever is computed of it afterwards: there is no
memory for so many elements. Nothing else is looked at: where memory exists, strides and offsets inside of it fit, too.
"""

from __future__ import annotations

from functools import reduce

from dcpy.codegen.lir.expr import Intrinsic, LirExpr, Operation, integer, times
from dcpy.codegen.lir.types import INDEX
from dcpy.codegen.lower.context import Context
from dcpy.ir.data import Array
from dcpy.ir.symbolic import Expr, max_of
from dcpy.ir.symbolic.expr import Atom
from dcpy.ir.symbolic.intervals import SymbolIntervals

_INTRINSICS = {"min": "least_size", "floordiv": "quotient_of_sizes", "mod": "remainder_of_sizes"}


def fits(context: Context, value: Expr) -> bool:
    """Whether 64 bits are proved to count a size."""
    return value.name is not None or value.constant is not None or _known(context).counts(value)


def checked(context: Context, value: Expr) -> LirExpr:
    """A size, or the largest number."""
    if fits(context, value):
        return context.symbolic(value)
    total: LirExpr = integer(0)
    for monomial, factor in sorted(value.terms, key=lambda term: (not term[0], term[1] < 0)):
        term: LirExpr = integer(abs(factor))
        for atom, power in monomial:
            for _ in range(power):
                term = _combined("product_of_sizes", term, _atom(context, atom))
        total = _combined("difference_of_sizes" if factor < 0 else "sum_of_sizes", total, term)
    return total


def checked_product(context: Context, sizes: tuple[Expr, ...]) -> LirExpr:
    """The number of elements of a box; sizes that may be negative count as 0."""
    exact = [size if context.ranges.proves_nonneg(size) else max_of(size, 0) for size in sizes]
    plain = all(fits(context, size) for size in exact) and (len(sizes) < 2 or _known(context).counts_all(exact))
    total: LirExpr = integer(1)
    for factor in (checked(context, size) for size in exact):
        total = times(total, factor) if plain else _combined("product_of_sizes", total, factor)
    return total


def _known(context: Context) -> SymbolIntervals:
    sdfg = context.sdfg
    arguments = [desc for name in sdfg.arguments if isinstance(desc := sdfg.containers.get(name), Array)]
    boxes = [(desc.shape, desc.dtype.itemsize) for desc in arguments] if context.told_sizes else ()
    return SymbolIntervals(context.ranges, context.told_sizes, boxes)


def _combined(name: str, left: LirExpr, right: LirExpr) -> LirExpr:
    """``left op right`` of checked sizes; what an operand makes trivial is the other one."""
    if name == "product_of_sizes" and integer(1) in (left, right):
        return right if left == integer(1) else left
    if name != "product_of_sizes" and right == integer(0):
        return left
    if name == "sum_of_sizes" and left == integer(0):
        return right
    return Intrinsic(name, (left, right), INDEX)


def _atom(context: Context, atom: Atom) -> LirExpr:
    if atom.kind == "sym":
        return context.symbol(atom.name)
    args = [checked(context, arg) for arg in atom.args]
    if atom.kind == "max":  # of what is not counted, too
        return reduce(lambda a, b: Operation("max", (a, b), INDEX, INDEX), args)
    return reduce(lambda a, b: Intrinsic(_INTRINSICS[atom.kind], (a, b), INDEX), args)
