"""Small linear systems in registers: elimination without loops or branches, for matrices of a few known rows.

Rows change places by selects, so that the largest element of each column is the pivot, as in LAPACK; a processor has
all of the matrix in registers, and a call of a library takes longer than the work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Ref, ScalarExpr, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Tasklet
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.lapack.nodes import Inverse, LapackNode, Solve

MOST_ROWS, MOST_COLUMNS = 4, 4  #: of the matrix, and of right sides
Row = list[ScalarExpr]
Combination = Callable[[ScalarExpr, ScalarExpr], ScalarExpr]


@expands(Solve, "registers")
def solve(node: Solve, f: Fragment) -> None:
    """The matrix beside its right sides."""
    code = _Code(node, f)
    b, x = f.input("b"), f.output("x")
    columns = _known(f, b, 1, MOST_COLUMNS) if len(b.shape) > 1 else 0
    places = [((i, j) if columns else (i,)) for i in range(code.n) for j in range(max(columns, 1))]
    rights = [code.load("b", b, place) for place in places]
    width = max(columns, 1)
    solution = code.solved([rights[i * width : (i + 1) * width] for i in range(code.n)])
    code.store("x", x, places, [value for row in solution for value in row])


@expands(Inverse, "registers")
def inverse(node: Inverse, f: Fragment) -> None:
    """The matrix beside the identity."""
    code = _Code(node, f)
    one, zero = (Const(value, code.dtype) for value in (1.0, 0.0))
    found = code.solved([[one if i == j else zero for j in range(code.n)] for i in range(code.n)])
    places = [(i, j) for i in range(code.n) for j in range(code.n)]
    code.store("r", f.output("inverse"), places, [found[i][j] for i, j in places])


def _known(f: Fragment, operand: Operand, axis: int, most: int) -> int:
    size = operand.shape[axis].constant
    if size is None or not 1 <= size <= most:
        f.decline(f"takes matrices of up to {most} known {'columns' if axis else 'rows'}, not {operand.shape[axis]}")
    return size


class _Code:
    """Straight code of one tasklet, which has the elements of the matrix, and of what stands beside it, as names."""

    def __init__(self, node: LapackNode, f: Fragment) -> None:
        a = f.input("a")
        if a.dtype not in (types.float32, types.float64):
            f.decline(f"takes f32 and f64, not {a.dtype}")
        self.f, self.dtype, self.n = f, a.dtype, _known(f, a, 0, MOST_ROWS)
        self.inputs: dict[str, Memlet] = {}
        self.lines: list[tuple[str, ScalarExpr]] = []
        self.rows = [[self.load("a", a, (i, j)) for j in range(self.n)] for i in range(self.n)]
        self.info: ScalarExpr = Const(0, types.int32)

    def load(self, stem: str, operand: Operand, place: tuple[int, ...]) -> ScalarExpr:
        """An element of an operand."""
        name = f"{stem}{''.join(map(str, place))}"
        self.inputs[name] = operand.at(*place).memlet
        return Ref(name, operand.dtype)

    def store(self, stem: str, operand: Operand, places: Sequence[tuple[int, ...]], values: Row) -> None:
        """The results, and with them the tasklet."""
        names = [f"{stem}{''.join(map(str, place))}" for place in places]
        outputs = {name: operand.at(*place).memlet for name, place in zip(names, places, strict=True)}
        info = self.f.output("info")
        code = (*self.lines, *zip(names, values, strict=True), ("info", cast(self.info, info.dtype)))
        self.f.add(Tasklet(self.inputs, outputs | {"info": info.at().memlet}, code))

    def named(self, value: ScalarExpr) -> ScalarExpr:
        """The value under a name, which is read several times."""
        if isinstance(value, Ref | Const):
            return value
        self.lines.append((f"t{len(self.lines)}", value))
        return Ref(self.lines[-1][0], value.dtype)

    def solved(self, beside: list[Row]) -> list[Row]:
        """The inverse of the matrix times `beside`: elimination downwards, then upwards."""
        rows = [row + others for row, others in zip(self.rows, beside, strict=True)]
        pivots = []
        for k in range(self.n):
            self._largest_first(rows, k)
            pivots.append(rows[k][k])
            is_zero = op("eq", pivots[k], Const(0, self.dtype))
            is_first = op("and", is_zero, op("eq", self.info, Const(0, types.int32))) if k else is_zero
            self.info = self.named(op("select", is_first, Const(k + 1, types.int32), self.info))
            for i in range(k + 1, self.n):
                factor = self.named(op("div", rows[i][k], pivots[k]))
                rows[i] = self._combined(rows[i], rows[k], k + 1, _minus(factor))
        for k in reversed(range(self.n)):
            for i in range(k + 1, self.n):
                rows[k] = self._combined(rows[k], rows[i], self.n, _minus(rows[k][i]))
            rows[k] = rows[k][: self.n] + [self.named(op("div", x, pivots[k])) for x in rows[k][self.n :]]
        return [row[self.n :] for row in rows]

    def _largest_first(self, rows: list[Row], k: int) -> None:
        for i in range(k + 1, self.n):
            larger = self.named(op("gt", op("abs", rows[i][k]), op("abs", rows[k][k])))
            above, below = rows[k], rows[i]
            rows[k] = self._combined(below, above, k, partial(op, "select", larger))
            rows[i] = self._combined(above, below, k, partial(op, "select", larger))

    def _combined(self, row: Row, other: Row, start: int, value: Combination) -> Row:
        """The row, with other values from a column on."""
        return row[:start] + [self.named(value(x, y)) for x, y in zip(row[start:], other[start:], strict=True)]


def _minus(factor: ScalarExpr) -> Combination:
    """Subtract a multiple of the other row."""
    return lambda x, y: op("sub", x, op("mul", factor, y))
