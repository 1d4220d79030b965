"""Symbols: declared, and with a value wherever one is used."""

from __future__ import annotations

from dcpy.ir.data import Array
from dcpy.ir.region import Resize, SymbolAssign
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import sym
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Scope, SymbolUse


@rule("symbols.bound", SymbolUse)
def symbols_are_bound(use: SymbolUse, scope: Scope) -> Findings:
    """A symbol has a value wherever it is used: it is free, a parameter, or assigned on every way there."""
    if use.name not in scope.bound:
        yield f"{use.where} mentions {use.name!r}, which has no value there"


@rule("symbols.assigned", SymbolAssign)
def assigned_symbols_are_declared(block: SymbolAssign, scope: Scope) -> Findings:
    """Only symbols declared as assigned are assigned to: sizes, arguments and parameters never change."""
    if block.symbol not in scope.sdfg.assigned_symbols:
        what = "a free symbol" if block.symbol in scope.sdfg.symbols else "not declared"
        yield f"{block.symbol!r} is assigned to, but it is {what}", "declare it with Sdfg.assign_symbol"


@rule("symbols.resized", Resize)
def resized_arrays_have_their_own_size(block: Resize, scope: Scope) -> Findings:
    """A resize is of a packed array that belongs to the program, and changes the first size of this container alone."""
    desc = scope.desc(block.container)
    if not isinstance(desc, Array) or not desc.transient or not desc.is_packed:
        yield f"{block.container!r} is no packed array of the program's own, and is resized"
    elif desc.shape[:1] != (sym(block.symbol),) or block.symbol in (s for size in desc.shape[1:] for s in size.symbols):
        yield f"{block.symbol!r} is not the first size of {block.container!r}, and of that alone"


@rule("symbols.integers", Sdfg)
def symbols_are_integers(sdfg: Sdfg, scope: Scope) -> Findings:
    """Symbols are integers, and sizes are among the free ones."""
    for name, dtype in (*sdfg.symbols.items(), *sdfg.assigned_symbols.items()):
        if not dtype.is_integer:
            yield f"the symbol {name!r} is {dtype}, which is no integer"
    for name in sdfg.sizes:
        if name not in sdfg.symbols:
            yield f"the size {name!r} is no symbol"


@rule("symbols.assumptions", Sdfg)
def assumptions_can_hold(sdfg: Sdfg, scope: Scope) -> Findings:
    """Assumptions are about free symbols, and some values satisfy them."""
    for name in dict.fromkeys((*sdfg.assumed, *(name for fact in sdfg.assumptions for name in fact.symbols))):
        if name not in sdfg.symbols:
            yield f"the program assumes something of {name!r}, which is no free symbol"
    for name, assumed in sdfg.assumed.items():
        if problem := assumed.problem(size=name in sdfg.sizes):
            why = f"the assumptions about the symbol {name!r} cannot hold: {problem}"
            yield why, "change its range, or leave it out"
