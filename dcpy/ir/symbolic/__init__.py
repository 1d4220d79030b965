"""Integer arithmetic over symbols: sizes, ranges, subsets, strides.

`expr` holds hash-consed expressions in a normal form, `ranges` what is known of symbols and what follows from it,
`symbolic_parser` reads expressions back. Everything exact, nothing evaluated: read `expr` first.
"""

from dcpy.ir.symbolic.expr import (
    ONE,
    ZERO,
    Expr,
    ExprLike,
    as_expr,
    as_exprs,
    ceil_div,
    const,
    max_of,
    min_of,
    product_of,
    sym,
)
from dcpy.ir.symbolic.ranges import Ranges, where_positive
from dcpy.ir.symbolic.symbolic_parser import parse_expr

__all__ = [
    "ONE",
    "ZERO",
    "Expr",
    "ExprLike",
    "Ranges",
    "as_expr",
    "as_exprs",
    "ceil_div",
    "const",
    "max_of",
    "min_of",
    "parse_expr",
    "product_of",
    "sym",
    "where_positive",
]
