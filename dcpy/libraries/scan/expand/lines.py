"""Scans of lines: what is combined, along how many lines of what length, and where running values go.

Two modules write it: `sequential_scans` with one thread for a line, `block_scans` with the threads of blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dcpy.ir.expressions.identities import neutral_value
from dcpy.ir.expressions.scalar import op
from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType
from dcpy.libraries.fragment import Element, Fragment

Point = Sequence[Expr]  # of a line: an index along each of the other dimensions


@dataclass(frozen=True, slots=True)
class Lines:
    """One line for each point of `sizes`, of `length` elements.

    `read(f, target, point, k, wcr)` writes what puts an element of a line into a target, or combines it there;
    `write(f, point, k, value)` takes a running value; `first(f, target, point)` says what stands in front of a line.
    """

    sizes: tuple[Expr, ...]
    length: Expr
    op: str
    dtype: DType
    read: Callable[[Fragment, Element, Point, Expr, str], object]
    write: Callable[[Fragment, Point, Expr, Element], object]
    first: Callable[[Fragment, Element, Point], object]

    def combine(self, f: Fragment, target: Element, one: Element, other: Element) -> None:
        """``target = one op other``, in this order."""
        f.compute(target, lambda a, b: op(self.op, a, b), one, other)

    def put_neutral(self, f: Fragment, target: Element) -> None:
        """Store the neutral value of the operation."""
        f.put(target, neutral_value(self.op, self.dtype))
