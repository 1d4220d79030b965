"""Grid solvers: solvers on block-cyclic matrices, of which no rank has a whole one.

What ScaLAPACK takes: blocks as long as wide, rows along one axis of a grid and columns along another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeGuard

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import CommNode
from dcpy.ir.data import Array
from dcpy.ir.distribution import Cyclic, Distribution, Root, Section
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode, Node
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.transforms.distributed.resolved_placement import placed


class SolverForm(NamedTuple):
    """Form of a solver on a grid: the kind of the local form, its operands in blocks, and how these are stored.

    By columns, where rows are swapped: as NumPy's LAPACK does. A Hermitian matrix is its own adjoint, by rows too.
    """

    kind: str
    blocks: tuple[str, ...]
    order: str = "F"


SOLVERS = {
    "lapack.cholesky": SolverForm("pblas.cholesky", ("a", "l"), "C"),
    "lapack.solve": SolverForm("pblas.solve", ("a", "b", "x")),
    "lapack.inverse": SolverForm("pblas.inverse", ("a", "inverse")),
    "lapack.slogdet": SolverForm("pblas.slogdet", ("a",)),
}


@dataclass(frozen=True, slots=True)
class GridSolver:
    """A solver whose matrices have rows along one axis of a grid, and columns along another one."""

    grid: str
    rows: int
    columns: int
    sections: Mapping[str, Section]  #: of operands in blocks


def is_solver(node: Node) -> TypeGuard[LibraryNode]:
    """Return whether a node is a solver that has a form on grids."""
    return node.kind in SOLVERS


def blocks_of(node: LibraryNode) -> dict[str, Memlet]:
    """The matrices and vectors of a solver, inputs first; none for other nodes."""
    names = SOLVERS[node.kind].blocks if is_solver(node) else ()
    return {name: (node.inputs | node.outputs)[name] for name in names}


def in_blocks(grid: str, rows: int, columns: int, block: Expr, dims: int) -> Distribution:
    """Return the distribution of a solver's matrix, or of a vector, which the first column of ranks has."""
    axes = (Cyclic(rows, block), Cyclic(columns, block))
    return Distribution(grid, axes) if dims > 1 else Distribution(grid, axes[:1], (Root(columns),))


def solver_on_grid(node: Node, uses: Uses) -> GridSolver | None:
    """Return a solver on a grid; None for other nodes, or where operands are not in the blocks that it needs."""
    if not is_solver(node):
        return None
    found: dict[str, Section] = {}
    for name, memlet in blocks_of(node).items():
        desc, where = uses.desc(memlet.container), placed(memlet.container, uses)
        whole = isinstance(desc, Array) and memlet.subset == Subset.whole(desc.shape) and not memlet.wcr
        if not whole or not isinstance(where, Distribution):
            return None
        found[name] = Section(desc.shape, memlet.subset, where)
    first = _placed(found["a"])
    rows, columns = first.axes
    if not isinstance(rows, Cyclic) or not isinstance(columns, Cyclic) or rows.offset is not ZERO:
        return None
    for section in found.values():
        wanted = in_blocks(first.grid, rows.axis, columns.axis, rows.block, len(section.shape))
        if _placed(section) != wanted:
            return None
    others = {memlet for name, memlet in (node.inputs | node.outputs).items() if name not in found}
    if any(placed(memlet.container, uses) is not None for memlet in others):
        return None
    return GridSolver(first.grid, rows.axis, columns.axis, found)


def _placed(section: Section) -> Distribution:
    assert section.distribution is not None  # it is in blocks
    return section.distribution


def made_local(node: LibraryNode, found: GridSolver, memory: Mapping[str, Subset]) -> CommNode:
    """The solver of the local form, of the parts in the memory of a rank, by the names of their containers."""

    def here(memlets: Mapping[str, Memlet]) -> dict[str, Memlet]:
        return {name: replace(m, subset=memory[m.container]) if name in found.sections else m
                for name, m in memlets.items()}  # fmt: skip

    fields = {name: getattr(node, name) for name in ("upper",) if hasattr(node, name)}
    made = LIBRARY_KINDS[SOLVERS[node.kind].kind](
        inputs=here(node.inputs), outputs=here(node.outputs), parts=tuple(found.sections.values()), rows=found.rows,
        columns=found.columns, span=node.span, **fields,
    )  # type: ignore[call-arg]  # fmt: skip
    assert isinstance(made, CommNode)  # as its class says
    return made
