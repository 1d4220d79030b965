"""Random SDFGs for property tests: valid, without races, in bounds for every ``N >= 2`` and ``M >= 0``.

`programs` draws one, `arguments_for` makes arguments for it. A program works on the vectors ``x``, ``y`` (float64[N])
and ``k`` (int64[N]), the matrix ``m`` (float64[N, M]), the scalar ``a`` and the integer ``n``, and returns ``total``.
Transients are filled before they are read. Within a map, what one iteration writes no other one touches, apart from
conflict resolution. All floats are multiples of small powers of two: results are exact, in any order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dcpy.ir.building.builder import Container, Out, SdfgBuilder
from dcpy.ir.data import View
from dcpy.ir.memlet import Memlet
from dcpy.ir.schedules import PARALLEL, UNDECIDED
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym
from dcpy.ir.types import DType, float64, int64

N, M = sym("N"), sym("M")
PATTERNS = {
    float64: ("{0} + {1}", "{0} - {1}", "min({0}, {1})", "select({0} < {1}, {1}, {0})", "abs({0}) - {1}"),
    int64: ("{0} + {1}", "{0} - {1}", "max({0}, {1})", "{0} & {1}", "{0} // 3 + {1} % 5", "select({0} == {1}, 1, {1})"),
}
CONDITIONS = ("x[0] > y[N - 1]", "k[1] == 2", "a[] < 0.5", "n >= 3", "N > n and not x[1] == 0.0")
BOUNDED = "o = rint(min(max(v, -9.0), 9.0))"


@st.composite
def programs(draw: st.DrawFn, depth: int = 2, calls: bool = True) -> Sdfg:
    """A program with at most `depth` levels of control flow, and calls of other SDFGs if `calls`."""
    writer = _Writer(draw, calls=calls)
    writer.statements(depth)
    return writer.b.sdfg


def arguments_for(n: int = 5, m: int = 3, seed: int = 0) -> dict[str, Any]:
    """Arguments of the programs, by name."""
    random = np.random.default_rng(seed)
    halves = {name: random.integers(-8, 9, shape) / 2.0 for name, shape in (("x", n), ("y", n), ("m", (n, m)))}
    return {**halves, "k": random.integers(0, n, n), "a": float(random.integers(0, 2)), "n": int(random.integers(0, 6))}


@dataclass(frozen=True)
class _Line:
    """A vector of ``N - missing`` elements."""

    container: Container
    missing: int = 0

    @property
    def is_view(self) -> bool:
        return isinstance(self.container.desc, View)

    @property
    def root(self) -> str:
        return self.container.desc.of if self.is_view else self.container.name

    @property
    def dtype(self) -> DType:
        return self.container.dtype


class _Writer:
    """Draws statements and writes them with a `SdfgBuilder`."""

    def __init__(self, draw: st.DrawFn, *, calls: bool) -> None:
        self.draw, self.b = draw, SdfgBuilder("random")
        self.b.size("N")
        self.b.size("M")
        self.lines = [
            _Line(self.b.array(name, dtype, (N,))) for name, dtype in (("x", float64), ("y", float64), ("k", int64))
        ]
        self.matrix = self.b.array("m", float64, (N, M))
        self.alpha = self.b.scalar("a", float64)
        self.b.symbol("n")
        self.total = self.b.returns(float64)
        self.b.tasklet("o = 0.0", o=Out(self.total))
        self.callee = _scale() if calls else None

    def pick(self, *choices: Any) -> Any:
        return self.draw(st.sampled_from(choices))

    def number(self, low: int, high: int) -> int:
        return self.draw(st.integers(low, high))

    # -- control flow ------------------------------------------------------------------------------------------

    def statements(self, depth: int) -> None:
        """A few statements; what they declare is forgotten at the end of the region."""
        known = list(self.lines)
        simple = [self.map, self.map, self.map_2d, self.copy, self.view, self.transient, self.state]
        simple += [self.call] if self.callee else []
        nested = [self.loop, self.branch, self.while_] if depth else []
        for _ in range(self.number(1, 3)):
            write = self.pick(*simple, self.assign, *nested)
            write(depth - 1) if write in nested else write()
        self.lines = known

    def loop(self, depth: int) -> None:
        with self.b.loop(t=self.pick(2, N, (1, N), (0, N, 2), (1, -1, -1))) as t:
            self.single(t)
            self.statements(depth)
            if self.pick(False, False, True):
                with self.b.branch().case(f"{self.total.name}[] > 1.0"):
                    self.pick(self.b.break_, self.b.continue_)()

    def while_(self, depth: int) -> None:
        count = self.b.transient("count", int64)
        self.b.tasklet("o = 0", o=Out(count))
        with self.b.while_(f"{count.name}[] < {self.number(0, 3)}"):
            self.b.tasklet("o = c + 1", c=count, o=Out(count))
            self.statements(depth)

    def branch(self, depth: int) -> None:
        cases = self.b.branch()
        for _ in range(self.number(1, 2)):
            with cases.case(self.pick(*CONDITIONS)):
                self.statements(depth)
        if self.pick(False, True):
            with cases.otherwise():
                self.statements(depth)

    def assign(self) -> None:
        p = self.b.assign("p", self.pick("wrap(k[0] % N, N)", "N // 2", "max(N - 2, 0)"))
        self.b.check("p < N", "IndexError", "index {0} is out of bounds", "p")
        self.single(p)

    # -- dataflow ----------------------------------------------------------------------------------------------

    def state(self) -> None:
        with self.b.state(self.pick("", "s")):
            for _ in range(self.number(0, 2)):
                self.pick(self.map, self.copy, lambda: self.single(ZERO))()

    def single(self, index: Expr) -> None:
        """One element of ``x`` and ``y``, outside of any map."""
        source, target = self.pick(*self.lines[:2]).container, self.pick(*self.lines[:2]).container
        self.b.tasklet("o = u - al", u=source[1], al=self.alpha, o=Out(target[index]))

    def map(self) -> None:
        """A map over ``N - missing`` points: what it writes is touched at the own index only, the rest shifted too."""
        missing = self.number(0, 2)
        reachable = [line for line in self.lines if line.missing <= missing]
        targets = self.draw(
            st.lists(st.sampled_from(reachable), min_size=1, max_size=2, unique_by=lambda line: line.root)
        )
        free = [line for line in reachable if line.root not in {target.root for target in targets}]
        with self.b.map(self.pick(UNDECIDED, PARALLEL), i=N - missing) as (i,):
            for target in targets:
                own = target.container[i]
                others = [line for line in free if line.dtype == target.dtype]
                shifted = [line.container[i + self.number(0, missing - line.missing)] for line in others]
                self.compute(self.draw(st.permutations([own, *shifted]))[:2], own, target.dtype)
            summed = [target for target in (*targets, *free) if target.dtype == float64]
            if summed and self.pick(False, True):
                self.b.tasklet(BOUNDED, v=self.pick(*summed).container[i], o=Out(self.total, "add"))

    def map_2d(self) -> None:
        x, y = self.lines[0].container, self.lines[1].container
        with self.b.map(i=N, j=M) as (i, j):
            match self.pick("row", "element", "local"):
                case "row":
                    self.b.tasklet(BOUNDED, v=self.matrix[i, j], o=Out(y[i], self.pick("add", "max")))
                case "element":
                    self.compute([self.matrix[i, j], x[i]], self.matrix[i, j], float64)
                case "local":
                    local = self.b.transient("local", float64)
                    self.compute([self.matrix[i, j], y[i]], local, float64)
                    self.b.copy(local, self.matrix[i, j])

    def compute(self, sources: list[Memlet], target: Memlet | Container, dtype: DType) -> None:
        inputs = dict(zip("uv", sources, strict=False))
        second = "v" if "v" in inputs else str(self.number(-3, 3))
        value = self.pick(*PATTERNS[dtype]).format("u", second)
        code = self.pick(f"o = {value}", f"t = {value}; o = t + {self.number(0, 2)}")
        self.b.tasklet(code, self.pick("", "work"), **inputs, o=Out(target))

    def copy(self) -> None:
        """A copy between vectors of different memory, possibly shifted."""
        source = self.pick(*self.lines)
        targets = [line for line in self.lines if line.dtype == source.dtype and line.root != source.root]
        if not targets:
            return
        target = self.pick(*targets)
        missing = self.number(max(source.missing, target.missing), 2)
        first, second = (self.number(0, missing - line.missing) for line in (source, target))
        length = N - missing
        self.b.copy(source.container[first : length + first], target.container[second : length + second])

    def call(self) -> None:
        line = self.pick(*[line for line in self.lines if line.dtype == float64])
        first = self.number(0, 2 - line.missing)
        self.b.call(self.callee, v=line.container[first : N - line.missing], f=self.alpha)

    # -- declarations ------------------------------------------------------------------------------------------

    def view(self) -> None:
        line = self.pick(*[line for line in self.lines if not line.is_view])
        whole = Range(N - 1, ZERO - 1, ZERO - 1)
        match self.pick("tail", "reversed", "reshaped"):
            case "tail":
                self.lines.append(_Line(self.b.view("tail", line.container[1:]), 1))
            case "reversed":
                self.lines.append(_Line(self.b.view("flip", Memlet(line.container.name, Subset((whole,))))))
            case "reshaped":
                self.lines.append(_Line(self.b.reshape("again", line.container, (N,))))

    def transient(self) -> None:
        dtype = self.pick(float64, int64)
        fresh = self.b.transient("t", dtype, (N,))
        with self.b.map(i=N) as (i,):
            self.b.tasklet("o = f64(i)" if dtype == float64 else "o = i - 1", o=Out(fresh[i]))
        self.lines.append(_Line(fresh))


def _scale() -> Sdfg:
    """A callee: ``v[:] = v - f``."""
    b = SdfgBuilder("shift")
    length = b.size("L")
    v, f = b.array("v", float64, (length,)), b.scalar("f", float64)
    with b.map(i=length) as (i,):
        b.tasklet("o = u - s", u=v[i], s=f, o=Out(v[i]))
    return b.sdfg
