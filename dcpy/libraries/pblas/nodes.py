"""The library nodes of parallel linear algebra: operations on matrices that are in blocks on a grid of ranks.

What ScaLAPACK's PBLAS calls ``p?gemm``. Only the local form has them: before, it is a product whose operands say where
they are (`transforms.distributed.grids.grid_products`). Operands are each rank's whole part.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dcpy.base.errors import CommunicationError
from dcpy.ir.communication import Collective, NDArray, RankVisit
from dcpy.ir.distribution import Blocked, Section
from dcpy.ir.field_roles import Role, Roles
from dcpy.ir.interp.local_parts import Assembly, local_part
from dcpy.libraries.blas.numpy_semantics import updated


@dataclass(eq=False)
class ProductOnGrid(Collective):
    """``c = alpha * op(a) @ op(b) + beta * c`` of matrices in blocks on a grid.

    The rows of c are along the axis `rows` of the grid, its columns along `columns`; so are the columns of op(a), and
    the rows of op(b) are along `rows`. `first`, `second` and `result` are the matrices as wholes. The factors are
    numbers, times the scalar inputs of the same name; the summand is there where the input ``c`` is. Broadcasts carry
    at most `panel` columns and rows at a time.
    """

    kind = "pblas.gemm"
    roles: ClassVar[Roles] = {
        **Collective.roles, "first": Role.BOUND, "second": Role.BOUND, "result": Role.BOUND,
    }  # fmt: skip
    first: Section
    second: Section
    result: Section
    rows: int = 0
    columns: int = 1
    trans_a: bool = False
    trans_b: bool = False
    alpha: complex = 1
    beta: complex = 1
    panel: int = 256

    def problems(self) -> Iterator[str]:
        """Other connectors, and matrices that are not in blocks as a product on a grid wants them."""
        if not {"a", "b"} <= set(self.inputs) <= {"a", "b", "c", "alpha", "beta"} or set(self.outputs) != {"c"}:
            yield "has the connectors (a, b, c, alpha, beta) -> (c), of which c, alpha and beta are optional"
            return
        if "c" in self.inputs and self.inputs["c"] != self.outputs["c"]:
            yield "updates c in place, but reads another one"
        if self.panel < 1:
            yield f"broadcasts {self.panel} columns at a time"
        if self.rows == self.columns:
            yield f"has rows and columns along the same axis of the grid, {self.rows}"
        first, second = (self.rows, self.columns), (self.rows, self.columns)
        wanted = {"first": first[::-1] if self.trans_a else first, "second": second[::-1] if self.trans_b else second}
        for name, axes in {**wanted, "result": (self.rows, self.columns)}.items():
            placed = getattr(self, name).distribution
            found = () if placed is None else placed.axes
            if [getattr(axis, "axis", -1) for axis in found] != list(axes) or placed.grid != self.grid:
                yield f"wants {name} in blocks along the axes {axes[0]} and {axes[1]} of {self.grid!r}"
            elif not all(isinstance(axis, Blocked) for axis in found):
                yield f"wants {name} in one block for each rank"

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        """The matrices as wholes, and dtypes; parts have shapes of their own."""
        names = visit.symbols
        return {
            **{name: str(getattr(self, name).subs(names)) for name in ("first", "second", "result")},
            "the dtypes": [str(value.dtype) for value in (*visit.inputs.values(), *visit.outputs.values())],
        }

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        a = assembled(self.first, visits, [visit.inputs["a"] for visit in visits])
        b = assembled(self.second, visits, [visit.inputs["b"] for visit in visits])
        product = np.matmul(a.T if self.trans_a else a, b.T if self.trans_b else b)
        for visit in visits:
            part = local_part(product, self.result.distribution, visit.grids, visit.symbols)
            out = visit.outputs["c"]
            if part.shape != out.shape:
                raise CommunicationError(
                    f"the part of rank {visit.rank} has the shape {out.shape}, not {part.shape}", span=self.span
                )
            updated(self, part, visit.inputs, out, "c")
        return 0


def assembled(section: Section, visits: Sequence[RankVisit], parts: Sequence[NDArray]) -> NDArray:
    """A matrix or vector as a whole, of the parts of all ranks."""
    first = visits[0]
    shape = tuple(size.evaluate(first.symbols) for size in section.shape)
    assembly = Assembly(shape, section.distribution, first.grids)
    for visit, values in zip(visits, parts, strict=True):
        assembly.add(visit.rank, values, visit.symbols)
    assert assembly.values is not None  # there is at least one rank
    return assembly.values
