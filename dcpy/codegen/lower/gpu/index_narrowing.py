"""Index narrowing: a second text of a kernel, whose indices are numbers of 32 bits, for sizes where those hold them.

A chip multiplies and adds numbers of 32 bits in one instruction, and needs several, and twice the registers, for
64 bits. The host knows the sizes and chooses. Indices that are data stay as wide as they are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from operator import le
from zlib import crc32

from dcpy.base.errors import SymbolicError
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Cast, Infix, Intrinsic, Item, LirExpr, Literal, Name, Operation, Prefix
from dcpy.codegen.lir.traversal import (
    changed_variables,
    expressions,
    parts,
    statements,
    with_children,
    with_expressions,
)
from dcpy.codegen.lir.types import INDEX, SMALL_INDEX
from dcpy.codegen.lower.gpu.interval_analysis import IndexIntervals, Interval, Known, parts_of
from dcpy.ir.symbolic import Expr

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def is_costly(body: tree.Body) -> bool:
    """Return whether indices of 64 bits cost more than a few additions: there are products of variables, or quotients.
    """
    return any(
        isinstance(part, Infix) and part.type == INDEX and _is_costly(part)
        for statement in statements(body)
        for expr in expressions(statement)
        for part in parts(expr)
    )


def _is_costly(expr: Infix) -> bool:
    numbers = any(isinstance(operand, Literal) for operand in (expr.left, expr.right))
    return expr.op in ("/", "%") or (expr.op == "*" and not numbers)


class SmallIndices:
    """Rewrites the body of a kernel; `bounds` are what its indices must not exceed afterwards, as the host knows it.

    `host` has the intervals of the host's variables, and of the numbers of threads and blocks; `params` those of what
    the kernel declares itself, where more is known than its text says.
    """

    def __init__(self, intervals: IndexIntervals, host: Known, params: Known) -> None:
        self.intervals = intervals
        self.params = params
        self.bounds: dict[Expr, None] = {}
        self._host = host
        self._known: dict[str, Interval] = dict(host)
        self._changed: set[str] = set()

    def rewrite(self, body: tree.Body) -> tree.Body:
        """The body with small indices wherever bounds are known."""
        self._changed = changed_variables(body)
        return self._body(body)

    # -- statements ------------------------------------------------------------------------------------------------

    def _body(self, body: tree.Body, **learned: Interval) -> tree.Body:
        with self._scope():
            self._known |= learned
            return tuple(self._statement(statement) for statement in body)

    @contextmanager
    def _scope(self) -> Iterator[None]:
        outer, self._known = self._known, dict(self._known)
        try:
            yield
        finally:
            self._known = outer

    def _statement(self, s: tree.Statement) -> tree.Statement:
        match s:
            case tree.Declare(name=name, type=kind, value=value) if value is not None and kind == INDEX:
                found = self.intervals.of(value, self._known)
                self.intervals.values.pop(name, None)
                if found is None or not s.constant or name in self._changed:
                    self._known.pop(name, None)
                    return replace(s, value=self._as_it_was(value))
                inside = self.params.get(name, found)
                index = self._index(value, inside)
                self._known[name] = inside
                self.intervals.values[name] = value
                return replace(s, type=SMALL_INDEX, value=index)
            case tree.Declare(name=name):
                self._known.pop(name, None)
            case tree.Loop():
                return self._loop(s)
            case tree.If(cases=cases, otherwise=otherwise):
                chosen = tuple(
                    (self._as_it_was(condition), self._body(body, **self._learned(condition)))
                    for condition, body in cases
                )
                return replace(s, cases=chosen, otherwise=self._body(otherwise))
            case tree.Compound(body=body) | tree.Attempt(body=body):
                return replace(s, body=self._body(body))
            case tree.While(condition=condition, body=body):
                return replace(s, condition=self._as_it_was(condition), body=self._body(body))
        return with_expressions(s, self._as_it_was)

    def _loop(self, s: tree.Loop) -> tree.Loop:
        inside = None if s.down is not False or s.var in self._changed else self._values(s)
        if inside is None:
            with self._scope():
                self._known.pop(s.var, None)
                body = self._body(s.body)
            start, stop, step = (self._as_it_was(bound) for bound in (s.start, s.stop, s.step))
        else:
            body = self._body(s.body, **{s.var: self.params.get(s.var, inside)})
            start, stop, step = (self._index(bound) for bound in (s.start, s.stop, s.step))
        return replace(s, start=start, stop=stop, step=step, body=body)

    def _values(self, s: tree.Loop) -> Interval | None:
        """The values of the variable of a loop that goes up; its first value that is too large is one that it has."""
        start, stop, step = (self.intervals.of(bound, self._known) for bound in (s.start, s.stop, s.step))
        if start is None or stop is None or step is None or not self.intervals.ranges.proves_nonneg(step.low - 1):
            return None
        self._require(stop.high + step.high)
        return Interval(start.low, stop.high - 1)

    def _learned(self, condition: LirExpr) -> dict[str, Interval]:
        """Return the bounds of a variable that a condition implies: ``i < N``."""
        match condition:
            case Infix(op="<", left=Name(name=name), right=right) if name in self._known and name not in self._host:
                limit = self.intervals.of(right, self._known)
                if limit is not None:
                    mine = self._known[name]
                    return {name: Interval(mine.low, self.intervals.smaller(mine.high, limit.high - 1))}
            case Infix(op="&&", left=left, right=right):
                return self._learned(left) | self._learned(right)
        return {}

    # -- expressions -----------------------------------------------------------------------------------------------

    def _index(self, expr: LirExpr, inside: Interval | None = None) -> LirExpr:
        """An index, small where its bounds are known; `inside`: closer ones for its value."""
        if self.intervals.of(expr, self._known) is None:
            return self._as_it_was(expr)
        for part in parts_of(expr):
            interval = inside if inside is not None and part is expr else self.intervals.of(part, self._known)
            assert interval is not None  # the whole has one
            self._require(interval.high)
            self._require(-interval.low)
        return self._small(expr)

    def _require(self, bound: Expr) -> None:
        self.bounds[self.intervals.relaxed(bound)] = None

    def _small(self, expr: LirExpr) -> LirExpr:
        match expr:
            case Name(name=name):
                return Cast(expr, INDEX, SMALL_INDEX) if name in self._host else Name(name, SMALL_INDEX)
            case Literal():
                return replace(expr, type=SMALL_INDEX)
            case Intrinsic():
                return replace(expr, type=SMALL_INDEX, of=SMALL_INDEX)
            case Operation():
                return replace(expr, args=tuple(map(self._small, expr.args)), dtype=SMALL_INDEX, type=SMALL_INDEX)
            case Infix(left=left, right=right):
                return replace(expr, left=self._small(left), right=self._small(right), type=SMALL_INDEX)
            case Prefix(arg=arg):
                return replace(expr, arg=self._small(arg), type=SMALL_INDEX)
        raise AssertionError(f"{type(expr).__name__} has no interval")

    def _as_it_was(self, expr: LirExpr) -> LirExpr:
        """A value of the type that it had; only indices and comparisons inside of it are small."""
        match expr:
            case Name(name=name) if name in self._known and name not in self._host:
                return Cast(Name(name, SMALL_INDEX), SMALL_INDEX, INDEX)
            case Cast(arg=Name(name=name)) if name in self._known and name not in self._host:
                return replace(expr, arg=Name(name, SMALL_INDEX), source=SMALL_INDEX)
            case Item(base=base, index=index):
                return replace(expr, base=self._as_it_was(base), index=self._index(index))
            case Infix(op=op, left=left, right=right) if op in COMPARISONS and left.type == right.type == INDEX:
                if None not in (self.intervals.of(left, self._known), self.intervals.of(right, self._known)):
                    return replace(expr, left=self._index(left), right=self._index(right))
        return with_children(expr, self._as_it_was)


def without_implied(bounds: Iterable[Expr], intervals: IndexIntervals, limit: int, most: int) -> list[Expr] | None:
    """The bounds that imply all others where they are at most `limit`; None where one of them never is.

    ``N + 255`` is at most the limit where ``N*M + 255`` is: what comes beside sizes is added to the larger product.
    Of more than `most` only that there are so many is found out: proofs that fail take long.
    """
    ranges = intervals.ranges
    numbers: dict[Expr, int] = {}
    for bound in bounds:
        number = bound.terms[-1][1] if bound.terms and not bound.terms[-1][0] else 0
        numbers[bound - number] = max(number, numbers.get(bound - number, number))
    seen = {moving: _samples(moving) for moving in numbers}
    kept: list[Expr] = []
    for moving in sorted(numbers, key=lambda each: sum(seen[each]), reverse=True):  # what implies it is not behind it
        larger = (other for other in kept if all(map(le, seen[moving], seen[other])))
        above = next((other for other in larger if ranges.proves_le(moving, other)), None)
        if above is not None:
            numbers[above] = max(numbers[above], numbers[moving])
        elif not ranges.proves_le(moving + numbers[moving], limit):
            kept.append(moving)
        if len(kept) > most:
            break
    found = [moving + numbers[moving] for moving in numbers if moving in kept]
    return None if any(bound.constant is not None for bound in found) else found


class _SomeSize(dict[str, int]):
    """A size for each symbol."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number

    def __missing__(self, name: str) -> int:
        self[name] = 8 + crc32(f"{self.number} {name}".encode()) % 4096
        return self[name]


SOME_SIZES = tuple(map(_SomeSize, range(4)))


def _samples(value: Expr) -> tuple[int, ...]:
    """Return values of an expression for sample sizes: a smaller one for some sample cannot be shown to imply it.

    Sizes that no run has do no harm: a bound more is asked for.
    """
    try:
        return tuple(map(value.evaluate, SOME_SIZES))
    except SymbolicError:  # it divides by what is zero for one of them
        return tuple(0 for _ in SOME_SIZES)
