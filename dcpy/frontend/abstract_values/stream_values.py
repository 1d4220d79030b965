"""Stream values: what a name of a stream stands for while a function is lowered. Nothing here emits code."""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.ir.symbolic import Expr
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class StreamValue:
    """``dcpy.define_stream(...)``: one queue of a stream container, or, with a `shape`, an array of them."""

    container: str
    dtype: DType
    shape: tuple[Expr, ...] = ()
    point: tuple[Expr, ...] = ()
