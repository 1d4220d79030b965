"""Lowering result: the SDFG of a function, and the conditions under which it is valid."""

from __future__ import annotations

from dataclasses import dataclass, field

from dcpy.frontend.introspection.closure import NameRead
from dcpy.frontend.lower.frame import ExtraArgument
from dcpy.frontend.lower.functions.record_passing import RecordPassing
from dcpy.frontend.specialize.argument_types import ArgType
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr


@dataclass(frozen=True)
class Lowered:
    """An SDFG, what it was made for, and what it depends on.

    `extra_arguments` are global arrays that the program uses: they are arguments of the SDFG after the function's own,
    and the caller passes the arrays. The program is valid as long as all `dependences` hold, and where all that is
    `assumed` (each at least 0) holds. Where `better_if` holds as well, a better program can be made. `free_symbols`
    symbols are arguments, too (of a callee: its caller's): nothing else says what they are. `kind_by_path`: a result is
    a number whose kind depends on the path taken, which only a call in place can keep apart.
    """

    sdfg: Sdfg
    types: dict[str, ArgType]
    dependences: tuple[NameRead, ...]
    extra_arguments: tuple[ExtraArgument, ...]
    passing: RecordPassing = field(default_factory=RecordPassing)
    free_symbols: tuple[str, ...] = ()
    assumed: tuple[Expr, ...] = ()
    better_if: tuple[Expr, ...] = ()
    kind_by_path: bool = False
    by_value: bool = False  # made for the sizes and integer arguments of one call: a function calls itself
