"""Size specialization: sizes of a program become numbers, for targets that need them so, such as hardware."""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import SymbolicError
from dcpy.base.registry import unknown_name
from dcpy.ir.editing.index_simplification import simplify_indices
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import const


def specialize(sdfg: Sdfg, sizes: Mapping[str, int]) -> None:
    """Give symbols of shapes these values, in place: arguments must have them then.

    `UnknownName` for what is no symbol, `SymbolicError` for an argument, or a value that breaks what is assumed of it.
    """
    rw = Rewriter(sdfg, "specialize")
    for name, value in sizes.items():
        if name not in sdfg.symbols:
            raise unknown_name("symbol", name, list(sdfg.symbols))
        if name in sdfg.arguments:
            raise SymbolicError(f"{name!r} is an argument: whoever calls the program gives it a value")
        if name in sdfg.sizes and value < 0:
            raise SymbolicError(f"{name!r} is a size, which cannot be {value}")
        if why := sdfg.assumed.get(name, Assumption()).broken_by(value):
            raise SymbolicError(f"the program assumes more of {name!r}: {why}")
    values = {name: const(value) for name, value in sizes.items()}
    assumed = [fact.subs(values) for fact in sdfg.assumptions]
    for before, fact in zip(sdfg.assumptions, assumed, strict=True):
        if fact.constant is not None and fact.constant < 0:
            raise SymbolicError(f"{dict(sizes)} breaks what the program assumes: {before} >= 0")
    rw.substitute_symbols(values)
    sdfg.assumptions[:] = [fact for fact in assumed if fact.constant is None]
    for name in sizes:
        del sdfg.symbols[name]
        sdfg.assumed.pop(name, None)
        if name in sdfg.sizes:
            sdfg.sizes.remove(name)
    simplify_indices(list(sdfg.body.blocks), Rewriter(sdfg, "specialize"))
