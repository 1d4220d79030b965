"""Symbolic folding in scalar expressions: ``i + 1`` over symbols and whole numbers is one `Index`.

The parser folds; the printer asks, so that an `Op` that would be folded is written ``@add(i, 1)`` instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dcpy.base.errors import SymbolicError
from dcpy.ir.expressions.scalar import Index
from dcpy.ir.symbolic import Expr, max_of, min_of

_SYMBOLIC: dict[str, Callable[..., Expr]] = {
    "neg": Expr.__neg__,
    "add": Expr.__add__,
    "sub": Expr.__sub__,
    "mul": Expr.__mul__,
    "floordiv": Expr.__floordiv__,
    "mod": Expr.__mod__,
    "min": min_of,
    "max": max_of,
}


def fold(name: str, args: Sequence[Expr | None], *, numbers: bool = False) -> Index | None:
    """The operation `name` on symbolic expressions, as one; None where an argument is not symbolic (None).

    Numbers alone are folded only on demand, a division by the number zero never.
    """
    values = [arg for arg in args if arg is not None]
    if name not in _SYMBOLIC or len(values) < len(args) or not (numbers or any(value.symbols for value in values)):
        return None
    try:
        return Index(_SYMBOLIC[name](*values))
    except SymbolicError:
        return None
