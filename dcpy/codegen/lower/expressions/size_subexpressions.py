"""Common subexpressions of sizes: what a rank has is computed once, where a function begins, and has a name.

    const int64_t part_N = dcpy_floordiv<int64_t>(-N, P);  // minus the length of a block
    const int64_t start_N_g_c0 = dcpy_max<int64_t>(-(part_N*g_c0), 0);
    const int64_t end_N_g_c0 = dcpy_min<int64_t>(-(part_N*g_c0) - part_N, N);
    const int64_t count_N_g_c0 = dcpy_max<int64_t>(0, end_N_g_c0 - start_N_g_c0);

Divisions are branches, which compilers neither move out of loops nor put into vectors. Named are quotients, remainders,
minima and maxima that stand in others, and those others, where all of their symbols are given to the function: these
never change in it. Minima are ends of something, maxima starts of it, or how many there are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import LirExpr, Name
from dcpy.codegen.lir.traversal import names_in
from dcpy.codegen.lir.types import INDEX
from dcpy.ir.symbolic import Expr
from dcpy.ir.symbolic.expr import Atom

STEMS = {"floordiv": "part", "mod": "rest", "min": "end", "max": "start"}


class ExtentsByName:
    """The constants in front of a function that mentions such expressions; `given` are its symbols."""

    def __init__(self, given: Iterable[str], fresh: Callable[[str], str], lower: Callable[[Atom], LirExpr]) -> None:
        self._given, self._fresh, self._lower = frozenset(given), fresh, lower
        self._declared: dict[Atom, tree.Declare | None] = {}

    def __call__(self, atom: Atom, *, inside: bool = False) -> Name | None:
        """The constant of an atom, which may stand inside of another one; None where it has no name."""
        if atom not in self._declared and (atom.kind == "sym" or not (inside or _is_nested(atom))):
            return None
        if atom not in self._declared:
            self._declared[atom] = self._declaration(atom)
        found = self._declared[atom]
        return None if found is None else Name(found.name, INDEX)

    def _declaration(self, atom: Atom) -> tree.Declare | None:
        if not self._given.issuperset(symbol for arg in atom.args for symbol in arg.symbols):
            return None
        for inner in _inner(atom):
            self(inner, inside=True)
        value = self._lower(atom)  # before it has a name
        return tree.Declare(self._fresh(_stem(atom)), INDEX, value, constant=True)

    def before(self, body: tree.Body) -> tree.Body:
        """The declarations of those that a body mentions, each behind what it is made of."""
        found: tree.Body = ()
        for declaration in reversed([each for each in self._declared.values() if each is not None]):
            if declaration.name in names_in((*found, *body)):
                found = (declaration, *found)
        return found


def _inner(atom: Atom) -> Iterable[Atom]:
    return (factor for arg in atom.args for factor in _factors(arg) if factor.kind != "sym")


def _is_nested(atom: Atom) -> bool:
    return any(True for _ in _inner(atom))


def _stem(atom: Atom) -> str:
    """Return the stem of a name: kind and symbols, without divisors. A maximum of a difference is a count."""
    differs = (kinds for arg in atom.args if (kinds := {each.kind for each in _factors(arg)}) >= {"min", "max"})
    counts = atom.kind == "max" and any(differs)
    return "_".join(["count" if counts else STEMS[atom.kind], *dict.fromkeys(_symbols(atom))])


def _factors(expr: Expr) -> Iterable[Atom]:
    return (factor for monomial, _ in expr.terms for factor, _ in monomial)


def _symbols(atom: Atom) -> Iterable[str]:
    if atom.kind == "sym":
        yield atom.name
    for arg in atom.args[:1] if atom.kind in ("floordiv", "mod") else atom.args:
        for factor in _factors(arg):
            yield from _symbols(factor)
