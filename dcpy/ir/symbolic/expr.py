"""Hash-consed integer expressions, kept as polynomials over atoms.

An atom is a symbol or one of ``a // b``, ``a % b``, ``min(...)``, ``max(...)`` over expressions. Equal expressions (in
this normal form) are the same object, so ``==`` is identity and a dictionary look-up costs one pointer. Division and
modulo are Python's: they round towards minus infinity.

Why not sympy: its ``expand`` or ``subs`` cost 300 µs, these a few; a compiler calls them a hundred thousand times.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from functools import lru_cache, reduce
from typing import Union

from dcpy.base.errors import SymbolicError
from dcpy.ir.files.limits import HIGHEST_POWER, MOST_BITS

ExprLike = Union["Expr", int]


class Atom:
    """A symbol (``kind == "sym"``) or a function of expressions: ``floordiv``, ``mod``, ``min``, ``max``.

    Hash-consed as expressions are: equal atoms are one object.
    """

    __slots__ = ("args", "kind", "name")

    _interned: dict[tuple[str, str, tuple[Expr, ...]], Atom] = {}  # noqa: RUF012  (shared on purpose)

    kind: str
    name: str
    args: tuple[Expr, ...]

    def __new__(cls, kind: str, name: str = "", args: tuple[Expr, ...] = ()) -> Atom:
        key = (kind, name, args)
        known = cls._interned.get(key)
        if known is not None:
            return known
        made = object.__new__(cls)
        made.kind, made.name, made.args = key
        return cls._interned.setdefault(key, made)

    def __reduce__(self) -> tuple[type[Atom], tuple[str, str, tuple[Expr, ...]]]:
        return Atom, (self.kind, self.name, self.args)

    def __copy__(self) -> Atom:
        return self

    def __deepcopy__(self, memo: object) -> Atom:
        return self

    def __str__(self) -> str:
        match self.kind:
            case "sym":
                return self.name
            case "floordiv":
                return f"{_factor(self.args[0])} // {_factor(self.args[1])}"
            case "mod":
                return f"{_factor(self.args[0])} % {_factor(self.args[1])}"
            case _:
                return f"{self.kind}({', '.join(map(str, self.args))})"


Monomial = tuple[tuple[Atom, int], ...]  # atoms with their powers, sorted by text; () is the constant's
Terms = tuple[tuple[Monomial, int], ...]
_KEPT = 1 << 16  # results of each operation that are remembered: one program asks the same ones again and again


class Expr:
    """An integer expression; make one with `sym`, `const`, `as_expr` and Python's operators."""

    __slots__ = ("_symbols", "_text", "terms")

    _interned: dict[Terms, Expr] = {}  # noqa: RUF012  (the hash-consing table, shared on purpose)

    terms: Terms
    _symbols: tuple[str, ...] | None
    _text: str | None

    def __new__(cls, terms: Terms) -> Expr:
        known = cls._interned.get(terms)
        if known is not None:
            return known
        if any(factor.bit_length() > MOST_BITS for _, factor in terms):
            raise SymbolicError(f"a number of more than {MOST_BITS} bits in a symbolic expression")
        made = object.__new__(cls)
        made.terms, made._symbols, made._text = terms, None, None
        return cls._interned.setdefault(terms, made)

    # Identity is equality, by hash-consing: the default __eq__ and __hash__ are right.

    def __reduce__(self) -> tuple[type[Expr], tuple[Terms]]:
        return Expr, (self.terms,)

    def __copy__(self) -> Expr:
        return self

    def __deepcopy__(self, memo: object) -> Expr:
        return self

    @property
    def constant(self) -> int | None:
        """The value, where it is one number."""
        if not self.terms:
            return 0
        if len(self.terms) == 1 and not self.terms[0][0]:
            return self.terms[0][1]
        return None

    @property
    def name(self) -> str | None:
        """The symbol's name, where the expression is just a symbol."""
        match self.terms:
            case ((((Atom(kind="sym", name=name), 1),), 1),):
                return name
        return None

    @property
    def symbols(self) -> tuple[str, ...]:
        """Names of all symbols, sorted."""
        if self._symbols is None:
            names = {name for monomial, _ in self.terms for atom, _ in monomial for name in _atom_symbols(atom)}
            self._symbols = tuple(sorted(names))
        return self._symbols

    @property
    def is_linear(self) -> bool:
        """Return whether it is a sum of multiples of symbols, and a number."""
        return all(not m or (len(m) == 1 and m[0][1] == 1 and m[0][0].kind == "sym") for m, _ in self.terms)

    def __add__(self, other: ExprLike) -> Expr:
        return _sum(self, other if isinstance(other, Expr) else as_expr(other))

    def __neg__(self) -> Expr:
        return Expr(tuple((monomial, -factor) for monomial, factor in self.terms))

    def __sub__(self, other: ExprLike) -> Expr:
        return _difference(self, other if isinstance(other, Expr) else as_expr(other))

    def __mul__(self, other: ExprLike) -> Expr:
        return _product(self, other if isinstance(other, Expr) else as_expr(other))

    def __pow__(self, power: int) -> Expr:
        if not isinstance(power, int) or not 0 <= power <= HIGHEST_POWER:
            raise SymbolicError(f"the power of an expression is a number from 0 to {HIGHEST_POWER}, not {power}")
        result = ONE
        for _ in range(power):
            result = result * self
        return result

    def __floordiv__(self, other: ExprLike) -> Expr:
        return _floor_divide(self, as_expr(other))

    def __mod__(self, other: ExprLike) -> Expr:
        return _modulo(self, as_expr(other))

    def __radd__(self, other: int) -> Expr:
        return self + other

    def __rsub__(self, other: int) -> Expr:
        return as_expr(other) - self

    def __rmul__(self, other: int) -> Expr:
        return self * other

    def __rfloordiv__(self, other: int) -> Expr:
        return as_expr(other) // self

    def __rmod__(self, other: int) -> Expr:
        return as_expr(other) % self

    def subs(self, values: Mapping[str, ExprLike]) -> Expr:
        """The expression with symbols replaced, all at once."""
        for name in self.symbols:
            if name in values:
                return _substituted(self, tuple([(name, values[name]) for name in self.symbols if name in values]))
        return self

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The number; every symbol needs a value. `SymbolicError` if one has none, or on division by zero."""
        total = 0
        for monomial, factor in self.terms:
            for atom, power in monomial:
                value = _evaluate(atom, values)
                factor *= value if power == 1 else value**power
            total += factor
        return total

    def linear_in(self, name: str) -> tuple[Expr, Expr] | None:
        """``(a, b)`` with ``self == a * name + b`` and `name` in neither; None where there is no such form."""
        return _linear_form(self, name)

    def __str__(self) -> str:
        if self._text is None:
            self._text = _print(self.terms)
        return self._text

    def __repr__(self) -> str:
        return f"Expr({self})"


@lru_cache(maxsize=_KEPT)
def const(value: int) -> Expr:
    """A number."""
    return Expr((((), int(value)),)) if value else ZERO


@lru_cache(maxsize=_KEPT)
def sym(name: str) -> Expr:
    """A symbol. Sizes, loop and map parameters, and integers assigned on transitions are symbols."""
    return _atom_expr(Atom("sym", name))


def as_expr(value: ExprLike) -> Expr:
    """An `Expr` of itself, or of a Python or NumPy integer."""
    if isinstance(value, Expr):
        return value
    try:
        return const(value.__index__())
    except AttributeError:
        raise SymbolicError(f"not an integer expression: {value!r}") from None


def as_exprs(values: Iterable[ExprLike]) -> tuple[Expr, ...]:
    """Each of them as an expression: shapes, indices."""
    return tuple(as_expr(value) for value in values)


def min_of(*values: ExprLike) -> Expr:
    """The smallest of `values`."""
    return _extremum("min", as_exprs(values))


def max_of(*values: ExprLike) -> Expr:
    """The largest of `values`."""
    return _extremum("max", as_exprs(values))


def product_of(*values: ExprLike) -> Expr:
    """All of `values` multiplied; 1 without any."""
    return reduce(Expr.__mul__, as_exprs(values), ONE)


def ceil_div(value: ExprLike, divisor: ExprLike) -> Expr:
    """``value / divisor`` rounded towards plus infinity."""
    return -((-as_expr(value)) // divisor)


ZERO = Expr(())
ONE = const(1)


def _atom_expr(atom: Atom) -> Expr:
    return Expr(((((atom, 1),), 1),))


@lru_cache(maxsize=_KEPT)
def _sum(left: Expr, right: Expr) -> Expr:
    if not right.terms:
        return left
    total = dict(left.terms)
    for monomial, factor in right.terms:
        total[monomial] = total.get(monomial, 0) + factor
    return _from_terms(total)


@lru_cache(maxsize=_KEPT)
def _difference(left: Expr, right: Expr) -> Expr:
    return ZERO if left is right else _sum(left, -right)


@lru_cache(maxsize=_KEPT)
def _product(left: Expr, right: Expr) -> Expr:
    total: dict[Monomial, int] = {}
    for left_monomial, left_factor in left.terms:
        for right_monomial, right_factor in right.terms:
            product = _multiply(left_monomial, right_monomial)
            total[product] = total.get(product, 0) + left_factor * right_factor
    return _from_terms(total)


@lru_cache(maxsize=_KEPT)
def _substituted(expr: Expr, found: tuple[tuple[str, ExprLike], ...]) -> Expr:
    values = dict(found)
    total = ZERO
    for monomial, factor in expr.terms:
        product = const(factor)
        for atom, power in monomial:
            product = product * _substitute(atom, values) ** power
        total = total + product
    return total


@lru_cache(maxsize=_KEPT)
def _linear_form(expr: Expr, name: str) -> tuple[Expr, Expr] | None:
    slope: dict[Monomial, int] = {}
    rest: dict[Monomial, int] = {}
    for monomial, factor in expr.terms:
        power = next((p for atom, p in monomial if atom.kind == "sym" and atom.name == name), 0)
        others = tuple((atom, p) for atom, p in monomial if not (atom.kind == "sym" and atom.name == name))
        if power > 1 or any(name in _atom_symbols(atom) for atom, _ in others):
            return None
        if power:
            slope[others] = slope.get(others, 0) + factor
        else:
            rest[monomial] = factor
    return _from_terms(slope), _from_terms(rest)


def _from_terms(terms: Mapping[Monomial, int]) -> Expr:
    kept = [(monomial, factor) for monomial, factor in terms.items() if factor]
    if len(kept) > 1:
        kept.sort(key=lambda term: _order(term[0]))
    return Expr(tuple(kept))


@lru_cache(maxsize=_KEPT)
def _order(monomial: Monomial) -> tuple[int, str]:
    """Higher degrees first, then alphabetically, the constant last: ``N*M + N - 1``."""
    return (-sum(power for _, power in monomial), "*".join(str(atom) for atom, _ in monomial))


def _multiply(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers: dict[Atom, int] = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _floor_divide(value: Expr, divisor: Expr) -> Expr:
    number = divisor.constant
    if number == 0:
        raise SymbolicError(f"division by zero: {value} // 0")
    if number == 1 or not value.terms:
        return value
    if number is None:
        exact = _divided(value, divisor)
        return _atom_expr(Atom("floordiv", args=(value, divisor))) if exact is None else exact
    if value.constant is not None:
        return const(value.constant // number)
    if number == -1:
        return -value
    # (k*a + r) // k == a + r // k, term by term, for the multiples of k that are already there
    whole = {m: f // number for m, f in value.terms if f % number == 0}
    rest = _from_terms({m: f for m, f in value.terms if f % number})
    if not whole:
        common = math.gcd(*(f for _, f in value.terms), number)
        if common > 1 and number > 0:
            value = _from_terms({m: f // common for m, f in value.terms})
            divisor = const(number // common)
        return _atom_expr(Atom("floordiv", args=(value, divisor)))
    return _from_terms(whole) + _floor_divide(rest, divisor)


def _divided(value: Expr, divisor: Expr) -> Expr | None:
    """``n*k // k``: n, wherever it is defined; None where the divisor is no symbol, or no factor of each term."""
    if value is divisor:
        return ONE
    if divisor.name is None:
        return None
    ((atom, _),) = divisor.terms[0][0]
    found: dict[Monomial, int] = {}
    for monomial, factor in value.terms:
        powers = dict(monomial)
        if atom not in powers:
            return None
        powers[atom] -= 1
        left = tuple((each, power) for each, power in monomial if powers[each])
        found[tuple((each, powers[each]) for each, _ in left)] = factor
    return _from_terms(found)


def _modulo(value: Expr, divisor: Expr) -> Expr:
    number = divisor.constant
    if number == 0:
        raise SymbolicError(f"division by zero: {value} % 0")
    if number in (1, -1) or not value.terms or value is divisor:
        return ZERO
    if number is not None:
        if value.constant is not None:
            return const(value.constant % number)
        value = _from_terms({m: f for m, f in value.terms if f % number})
        if value.constant is not None:
            return const(value.constant % number)
    return _atom_expr(Atom("mod", args=(value, divisor)))


def _extremum(kind: str, values: tuple[Expr, ...]) -> Expr:
    pick = min if kind == "min" else max
    flat: dict[Expr, None] = {}
    for value in values:
        for part in _same_extremum(kind, value):
            flat[part] = None
    # Values that differ by a number compare without knowing the symbols: keep one of each such family.
    families: dict[Expr, int] = {}
    for value in flat:
        offset = value.terms[-1][1] if value.terms and not value.terms[-1][0] else 0
        base = value - offset
        families[base] = pick(families.get(base, offset), offset)
    kept = sorted((base + offset for base, offset in families.items()), key=str)
    if len(kept) == 1:
        return kept[0]
    return _atom_expr(Atom(kind, args=tuple(kept)))


def _same_extremum(kind: str, value: Expr) -> tuple[Expr, ...]:
    match value.terms:
        case ((((Atom(kind=inner, args=args), 1),), 1),) if inner == kind:
            return args
    return (value,)


def _atom_symbols(atom: Atom) -> tuple[str, ...]:
    if atom.kind == "sym":
        return (atom.name,)
    return tuple(name for arg in atom.args for name in arg.symbols)


def rebuild(kind: str, args: tuple[Expr, ...]) -> Expr:
    """The expression of an atom of `kind` over new arguments, simplified again."""
    match kind:
        case "floordiv":
            return args[0] // args[1]
        case "mod":
            return args[0] % args[1]
        case "min":
            return min_of(*args)
        case "max":
            return max_of(*args)
    raise SymbolicError(f"no function {kind!r} of expressions")


def _substitute(atom: Atom, values: Mapping[str, ExprLike]) -> Expr:
    if atom.kind == "sym":
        return as_expr(values[atom.name]) if atom.name in values else _atom_expr(atom)
    return rebuild(atom.kind, tuple(arg.subs(values) for arg in atom.args))


def _evaluate(atom: Atom, values: Mapping[str, int]) -> int:
    if atom.kind == "sym":
        try:
            return int(values[atom.name])
        except KeyError:
            raise SymbolicError(f"symbol {atom.name!r} has no value") from None
    numbers = [arg.evaluate(values) for arg in atom.args]
    match atom.kind:
        case "min":
            return min(numbers)
        case "max":
            return max(numbers)
    left, right = numbers
    if right == 0:
        raise SymbolicError(f"division by zero: {atom}")
    return left // right if atom.kind == "floordiv" else left % right


def _factor(value: Expr) -> str:
    """`value` as an operand of ``//`` or ``%``: in parentheses unless it is one symbol or number."""
    text = str(value)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


def _print(terms: Terms) -> str:
    if not terms:
        return "0"
    parts: list[str] = []
    first = next((term for term in terms if term[1] > 0), terms[0])  # j - i, not -i + j
    for monomial, factor in (first, *(term for term in terms if term is not first)):
        lone = len(terms) == 1 and len(monomial) == 1 and factor == 1
        text = _print_monomial(monomial, abs(factor), bare=lone)
        sign = "-" if factor < 0 else "+"
        parts.append(f" {sign} {text}" if parts else (f"-{text}" if factor < 0 else text))
    return "".join(parts)


def _print_monomial(monomial: Monomial, factor: int, *, bare: bool) -> str:
    factors = [str(factor)] if factor != 1 or not monomial else []
    for atom, power in monomial:
        text = str(atom)
        if atom.kind in ("floordiv", "mod") and not (bare and power == 1):
            text = f"({text})"
        factors += [text] * power
    return "*".join(factors)
