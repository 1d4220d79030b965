"""What lowering a function gives: the SDFG, and under which conditions it is the function."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcpy.frontend.closure import Dependence
from dcpy.frontend.lower.frame import ExtraArgument
from dcpy.frontend.lower.functions.passing import Passing
from dcpy.frontend.specialize.types import ArgType
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr


@dataclass(frozen=True)
class Lowered:
    """An SDFG, what it was made for, and what it depends on.

    `extra_arguments` are global arrays that the program uses: they are arguments of the SDFG after the function's own,
    and the caller passes the arrays. The program is valid as long as all `dependences` hold, and where all that is
    `assumed` (each at least 0) holds. Where `unless` holds as well, a better program can be made. `free` symbols are
    arguments, too (of a callee: its caller's): nothing else says what they are.
    """

    sdfg: Sdfg
    types: dict[str, ArgType]
    dependences: tuple[Dependence, ...]
    extra_arguments: tuple[ExtraArgument, ...]
    passing: Passing = field(default_factory=Passing)
    free: tuple[str, ...] = ()
    assumed: tuple[Expr, ...] = ()
    unless: tuple[Expr, ...] = ()
    by_value: bool = False  # made for the sizes and integer arguments of one call: a function calls itself
