"""The library nodes of solvers on a grid: matrices in blocks that go round, as ScaLAPACK's ``p?potrf`` and ``p?getrf``.

Only the local form has them: before, they are nodes of `libraries.lapack` whose operands say where they are
(`transforms.distributed.grids.grid_solvers`). Operands in blocks are each rank's whole part. All ranks take part, those
outside of the grid, too, and all get the same ``info``, and the same scalar results.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from dcpy.ir.communication import Collective, RankVisit
from dcpy.ir.distribution import Cyclic, Root, Section
from dcpy.ir.field_roles import Role, Roles
from dcpy.ir.interp.local_parts import local_part
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.libraries.pblas.nodes import assembled


@dataclass(eq=False)
class SolverOnGrid(Collective):
    """Common base of solvers. `parts` says where the operands in `blocks` are, and how large the whole arrays are.

    Rows are along the axis `rows` of the grid, columns along `columns`, all in blocks of one size that go round; a
    vector is in blocks along `rows`, on the ranks at coordinate 0 of `columns` only.
    """

    roles: ClassVar[Roles] = {**Collective.roles, "parts": Role.BOUND}
    of: ClassVar[str]  #: the kind of the node that one rank has
    blocks: ClassVar[tuple[str, ...]]  #: connectors, inputs first
    scalars: ClassVar[tuple[str, ...]] = ("info",)
    parts: tuple[Section, ...]
    rows: int = field(default=0, kw_only=True)
    columns: int = field(default=1, kw_only=True)

    @property
    def of_matrices(self) -> str:
        """The grid of the matrices; the communicator is that of all ranks."""
        where = self.parts[0].distribution
        return "" if where is None else where.grid

    @property
    def same_outputs(self) -> frozenset[str]:
        return frozenset(self.outputs[name].container for name in self.scalars)

    def problems(self) -> Iterator[str]:
        """Other connectors, and operands that are not in blocks as ScaLAPACK wants them."""
        if {*self.inputs, *self.outputs} != {*self.blocks, *self.scalars} or len(self.parts) != len(self.blocks):
            yield f"has the connectors {', '.join((*self.blocks, *self.scalars))}, and says where {self.blocks} are"
            return
        if self.rows == self.columns:
            yield f"has rows and columns along the same axis of the grid, {self.rows}"
        if self.grid or self.along:
            yield "is for all ranks: those outside of the grid get the same numbers"
        sizes = set()
        for name, part in zip(self.blocks, self.parts, strict=True):
            where = part.distribution
            axes = () if where is None else where.axes
            sizes |= {axis.block for axis in axes if isinstance(axis, Cyclic)}
            wanted = (self.rows, self.columns)[: len(part.shape)]
            rest = () if len(part.shape) > 1 else (Root(self.columns),)
            if where is None or where.grid != self.of_matrices or where.rest != rest:
                yield f"wants {name} in blocks on one grid"
            elif [axis.axis for axis in axes if isinstance(axis, Cyclic)] != list(wanted):
                yield f"wants {name} in blocks that go round along the axes {wanted} of {where.grid!r}"
        if len(sizes) > 1:
            yield "wants blocks of one size, as long as wide"

    def agreement(self, visit: RankVisit) -> dict[str, object]:
        """The matrices as wholes, and dtypes; parts have shapes of their own."""
        return {
            **{name: str(part.subs(visit.symbols)) for name, part in zip(self.blocks, self.parts, strict=True)},
            "the dtypes": [str(value.dtype) for value in (*visit.inputs.values(), *visit.outputs.values())],
        }

    def meaning_of_all(self, visits: Sequence[RankVisit]) -> int:
        """Compute what the node of one rank does, on the matrices as wholes."""
        sections = dict(zip(self.blocks, self.parts, strict=True))
        inputs = {name: assembled(sections[name], visits, [visit.inputs[name] for visit in visits])
                  for name in self.inputs}  # fmt: skip
        first = visits[0]
        outputs = {}
        for name, like in first.outputs.items():
            shape = [size.evaluate(first.symbols) for size in sections[name].shape] if name in sections else ()
            outputs[name] = np.zeros(shape, like.dtype)
        self.alone({}, {}).meaning(inputs, outputs)
        for visit in visits:
            for name, out in visit.outputs.items():
                where = sections[name].distribution if name in sections else None
                out[...] = local_part(outputs[name], where, visit.grids, visit.symbols)
        return 0

    def alone(self, inputs: dict[str, Memlet], outputs: dict[str, Memlet]) -> Any:
        """The node of one rank."""
        return LIBRARY_KINDS[self.of](inputs=inputs, outputs=outputs)


@dataclass(eq=False)
class CholeskyOnGrid(SolverOnGrid):
    """``a = l @ l^H`` with a lower triangle ``l`` (`upper`: ``a = l^H @ l``) of matrices on a grid."""

    kind = "pblas.cholesky"
    of = "lapack.cholesky"
    blocks = ("a", "l")
    upper: bool = False

    def alone(self, inputs: dict[str, Memlet], outputs: dict[str, Memlet]) -> Any:
        return LIBRARY_KINDS[self.of](inputs=inputs, outputs=outputs, upper=self.upper)  # type: ignore[call-arg]


@dataclass(eq=False)
class SolveOnGrid(SolverOnGrid):
    """``a @ x = b`` on a grid, for a vector or for the columns of a matrix ``b``."""

    kind = "pblas.solve"
    of = "lapack.solve"
    blocks = ("a", "b", "x")


@dataclass(eq=False)
class InverseOnGrid(SolverOnGrid):
    """``inverse @ a = 1`` of matrices on a grid."""

    kind = "pblas.inverse"
    of = "lapack.inverse"
    blocks = ("a", "inverse")


@dataclass(eq=False)
class SlogdetOnGrid(SolverOnGrid):
    """The determinant of a matrix on a grid is ``sign * exp(logdet)``."""

    kind = "pblas.slogdet"
    of = "lapack.slogdet"
    blocks = ("a",)
    scalars = ("sign", "logdet")
