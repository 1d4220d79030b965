"""Questions to isl, spelled as text: what `integer_sets` cannot decide by itself.

`System` writes symbolic constraints down in isl's notation with canonical names (``p0``, ``v3``), so that equal
questions about different programs are equal texts and are answered only once. isl itself is imported with the first
one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, TypeVar

from dcpy.base.deferred_interrupts import interrupts_deferred
from dcpy.ir.analysis.polyhedral.footprints import Footprint
from dcpy.ir.subsets import DimSubset, Subset
from dcpy.ir.symbolic import Expr, Ranges, sym
from dcpy.ir.symbolic.expr import Atom, Monomial

T = TypeVar("T")
_MAX_OPERATIONS = 2_000_000  # about a second; beyond it the answer is "unknown"


class NotAffineError(Exception):
    """An expression is not affine; the text says which and why. Never leaves `ir.analysis`."""


class System:
    """Affine constraints over symbols, which become parameters, and variables, which are bound by ``exists``.

    `exact` turns False when something was left out or weakened: then more points satisfy the system than should.
    """

    def __init__(self, ranges: Ranges) -> None:
        self.exact = True
        self._ranges = ranges
        self._names: dict[str, str] = {}
        self._variables: dict[str, None] = {}
        self._products: dict[Monomial, str] = {}
        self._context: list[str] = []

    @property
    def has_products(self) -> bool:
        """Return whether products of symbols stand for numbers of which nothing else is known."""
        return bool(self._products)

    # -- what the caller says ----------------------------------------------------------------------------------

    def sweep(self, footprint: Footprint) -> list[str]:
        """Constraints that hold between the variables of a footprint, which become variables of the system."""
        lines: list[str] = []
        for name, values in footprint.over:
            self._variables[name] = None
            if values is None:
                self.exact = False
            else:
                lines += self.member(self.expr(sym(name)), values)
        return lines

    def points(self, axes: Sequence[str], subset: Subset) -> list[str]:
        """Constraints that make ``axes`` an element of a subset."""
        return [line for axis, dim in zip(axes, subset.dims, strict=True) for line in self.member(axis, dim)]

    def member(self, value: str, dim: DimSubset) -> list[str]:
        """``value in dim``."""
        if isinstance(dim, Expr):
            return [f"{value} = {self.expr(dim)}"]
        start, stop, step = self.expr(dim.start), self.expr(dim.stop), dim.step.constant
        if not step:
            raise NotAffineError(f"the step {dim.step} is not a number")
        ends = [f"{start} <= {value} < {stop}" if step > 0 else f"{stop} < {value} <= {start}"]
        return ends if abs(step) == 1 else [*ends, f"({value} - ({start})) mod {abs(step)} = 0"]

    def expr(self, value: Expr) -> str:
        """`value` as isl text; `NotAffineError` where it is not affine in the variables."""
        parts = [self._term(monomial, factor) for monomial, factor in value.terms]
        return f"({' + '.join(parts)})" if parts else "0"

    def set_of(self, axes: Sequence[str], cases: Iterable[Sequence[str]], hidden: Sequence[str] = ()) -> str:
        """The set of points `axes` that satisfy the constraints of at least one case, for some `hidden` numbers."""
        bound = [*(self._names[name] for name in self._variables), *hidden]
        within = f"exists {', '.join(bound)} : " if bound else ""
        context = [*self._context, *self._facts()]
        body = " or ".join(f"({within}{' and '.join([*case, *context]) or '1 = 1'})" for case in cases)
        params = [text for name, text in self._names.items() if name not in self._variables]
        return f"[{', '.join([*params, *self._products.values()])}] -> {{ [{', '.join(axes)}] : {body} }}"

    def _facts(self) -> list[str]:
        """Return the facts besides bounds that mention only parameters of the set."""
        params = self._names.keys() - self._variables.keys()
        about = (fact for fact in self._ranges.facts if params.issuperset(fact.symbols))
        return [f"{self.expr(fact)} >= 0" for fact in about if fact.is_linear]

    # -- terms -------------------------------------------------------------------------------------------------

    def _term(self, monomial: Monomial, factor: int) -> str:
        if not monomial:
            return str(factor)
        if len(monomial) == 1 and monomial[0][1] == 1:
            return f"{factor}*{self._atom(monomial[0][0])}"
        return f"{factor}*{self._product(monomial)}"

    def _atom(self, atom: Atom) -> str:
        match atom.kind:
            case "sym":
                return self._symbol(atom.name)
            case "min" | "max":
                text = self.expr(atom.args[0])
                for arg in atom.args[1:]:
                    text = f"{atom.kind}({text}, {self.expr(arg)})"
                return text
        value, divisor = atom.args[0], atom.args[1].constant
        if not divisor:
            return self._product(((atom, 1),))
        sign = 1 if divisor > 0 else -1  # Python's remainders have the sign of the divisor; isl takes it positive
        if atom.kind == "floordiv":
            return f"floor({self.expr(value * sign)}/{divisor * sign})"
        return f"({sign}*({self.expr(value * sign)} mod {divisor * sign}))"

    def _symbol(self, name: str) -> str:
        known = self._names.get(name)
        if known is not None:
            return known
        kind = "v" if name in self._variables else "p"
        text = self._names[name] = f"{kind}{len(self._names)}"
        if kind == "p":
            lower, upper = self._ranges.bounds(name)
            self._assume(text, "<=", upper)
            self._assume(text, ">=", lower)
            multiple = self._ranges.multiple_of(sym(name))
            if multiple > 1:
                self._context.append(f"{text} mod {multiple} = 0")
        return text

    def _assume(self, text: str, relation: str, bound: Expr | None) -> None:
        if bound is None:
            return
        try:
            self._context.append(f"{text} {relation} {self.expr(bound)}")
        except NotAffineError:
            self.exact = False

    def _product(self, monomial: Monomial) -> str:
        """A parameter of its own for a product or quotient of symbols: weaker, but often enough."""
        value = Expr(((monomial, 1),))
        moving = [name for name in value.symbols if name in self._variables]
        if moving:
            raise NotAffineError(f"{value} is not affine in {moving[0]}")
        if monomial not in self._products:
            self.exact = False
            self._products[monomial] = f"q{len(self._products)}"
            if self._ranges.proves_nonneg(value):
                self._context.append(f"{self._products[monomial]} >= 0")
        return self._products[monomial]


@lru_cache(maxsize=1 << 14)
def is_empty(text: str) -> bool | None:
    """Return whether a set has no point for any values of its parameters; None where isl gives up."""
    return _bounded(lambda isl: bool(isl.Set(text).is_empty()))


@lru_cache(maxsize=1 << 14)
def is_subset(inner: str, outer: str) -> bool | None:
    """Return whether a set is part of another for all values of the parameters; None where isl gives up."""
    return _bounded(lambda isl: bool(isl.Set(inner).is_subset(isl.Set(outer))))


@lru_cache(maxsize=1 << 14)
def meets(left: str, right: str) -> bool | None:
    """Return whether two sets have a point in common for some values of their parameters; None where isl gives up."""
    return _bounded(lambda isl: not isl.Set(left).intersect(isl.Set(right)).is_empty())


@lru_cache(maxsize=1 << 12)
def directions_of(text: str, within: str, count: int) -> tuple[str, ...]:
    """Return the distance of two sets' points on each axis: a number where it is the same for all, else the signs.

    ``<`` stands for a positive distance, as the earlier iteration is before the later one; ``*`` for any.
    """

    def direction(axis: int) -> str:
        return _bounded(lambda isl: _direction(isl, isl.Set(text).intersect(isl.Set(within)), axis)) or "?"

    return tuple(map(direction, range(count)))


def _direction(isl: Any, points: Any, axis: int) -> str:
    points = points.project_out(isl.dim_type.param, 0, points.dim(isl.dim_type.param))
    points = points.project_out(isl.dim_type.set, axis + 1, points.dim(isl.dim_type.set) - axis - 1)
    points = points.project_out(isl.dim_type.set, 0, axis)
    signs = "".join(
        sign
        for sign, relation in (("<", ">"), ("=", "="), (">", "<"))
        if not points.intersect(isl.Set(f"{{ [d] : d {relation} 0 }}")).is_empty()
    )
    if signs in ("<", ">"):
        value = points.plain_get_val_if_fixed(isl.dim_type.set, 0)
        return str(value.to_python()) if value.is_int() else signs
    return {"=": "0", "<=>": "*", "<=": "<=", "=>": ">=", "<>": "<>"}.get(signs, "none")


@cache
def _islpy() -> Any:
    with interrupts_deferred():
        import islpy
    return islpy


def _bounded(question: Callable[[Any], T]) -> T | None:
    isl = _islpy()
    context = isl.DEFAULT_CONTEXT
    context.set_max_operations(_MAX_OPERATIONS)
    try:
        return question(isl)
    except isl.Error:
        return None
    finally:
        context.reset_operations()
        context.set_max_operations(0)
