"""Solvers on a grid by ScaLAPACK, as C++ that comes with dcpy (solvers.h); or on each rank, of gathered matrices.

L. S. Blackford et al.: "ScaLAPACK Users' Guide", 1997: ``p?potrf``, ``p?getrf`` and ``p?getrs``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dcpy.ir.data import packed_strides, strides_of
from dcpy.ir.distribution import Cyclic, Section
from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.library.expansions import Expansion
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Expr, as_expr, max_of, product_of
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand.cblas import LETTERS
from dcpy.libraries.mpi.expand.collectives import group_numbers
from dcpy.libraries.pblas.environments import OF_MKL, OF_SYSTEM
from dcpy.libraries.pblas.solvers import CholeskyOnGrid, InverseOnGrid, SlogdetOnGrid, SolveOnGrid, SolverOnGrid

#: node -> the function of solvers.h
FUNCTIONS: Mapping[type[SolverOnGrid], str] = {
    CholeskyOnGrid: "dcpy::cholesky_on_grid",
    SolveOnGrid: "dcpy::solve_on_grid",
    InverseOnGrid: "dcpy::inverse_on_grid",
    SlogdetOnGrid: "dcpy::slogdet_on_grid",
}


def _called(node: SolverOnGrid, f: Fragment, environment: str) -> None:
    a = f.input("a")
    if a.dtype not in LETTERS:
        f.decline(f"takes {', '.join(map(str, LETTERS))}, not {a.dtype}")
    names = (*node.blocks, *node.scalars)
    operands = {name: f.input(name) if name in node.inputs else f.output(name) for name in names}
    by_rows = isinstance(node, CholeskyOnGrid) and a.desc.strides == packed_strides(a.desc.shape)
    for name in node.blocks:
        _require_packed(operands[name], f, "C" if by_rows else "F")
    numbers = [*_own_numbers(node, operands, by_rows=by_rows), *_of_matrix(node, a, f, by_rows=by_rows)]
    arguments: Sequence[str | ScalarExpr] = (*operands, *map(Index, numbers))
    outputs = {name: operand.memlet for name, operand in operands.items() if name in node.outputs}
    f.add(ForeignCall(FUNCTIONS[type(node)], tuple(arguments), dict(node.inputs), outputs, environment))


def _require_packed(operand: Operand, f: Fragment, order: str) -> None:
    """Decline what is not stored by columns (``"F"``), or by rows, one right behind the other."""
    shape, lines = operand.desc.shape, "columns" if order == "F" else "rows"
    if operand.memlet.subset != Subset.whole(shape) or strides_of(operand.desc) != packed_strides(shape, order):
        f.decline(f"takes matrices that are stored by {lines}, not {operand.memlet.container}")


def _own_numbers(node: SolverOnGrid, operands: Mapping[str, Operand], *, by_rows: bool) -> Iterator[Expr]:
    """Yield the numbers before those of the matrix; a triangle of a transposed matrix is the other one."""
    if isinstance(node, CholeskyOnGrid):
        yield as_expr(int(node.upper != by_rows))
    if isinstance(node, SolveOnGrid):
        whole, here = node.parts[node.blocks.index("b")].shape, operands["b"].shape
        yield whole[1] if len(whole) > 1 else ONE
        yield product_of(*here)


def _of_matrix(node: SolverOnGrid, a: Operand, f: Fragment, *, by_rows: bool) -> Iterator[Expr]:
    """The fields of a Square of solvers.h: what is stored by rows, ScaLAPACK sees transposed, on a transposed grid."""
    part = node.parts[0]
    yield as_expr(list(LETTERS).index(a.dtype))
    yield part.shape[0]
    yield _block(part)
    sizes, axes = a.shape, (as_expr(node.rows), as_expr(node.columns))
    yield from (*(sizes[::-1] if by_rows else sizes), max_of(*a.strides), *(axes[::-1] if by_rows else axes))
    yield from group_numbers(replace(node, grid=node.of_matrices), f)


def _block(part: Section) -> Expr:
    assert part.distribution is not None  # as `SolverOnGrid.problems` says
    axis = part.distribution.axes[0]
    assert isinstance(axis, Cyclic)
    return axis.block


def _gathered(node: SolverOnGrid, f: Fragment) -> None:
    """Each rank gets the matrices as wholes, computes all of it, and keeps its blocks."""
    copy = LIBRARY_KINDS["comm.copy"]
    inputs: dict[str, Memlet] = {}
    outputs: dict[str, Memlet] = {name: node.outputs[name] for name in node.scalars}
    back = []
    for name, part in zip(node.blocks, node.parts, strict=True):
        operand = f.input(name) if name in node.inputs else f.output(name)
        whole = f.array(f"{name}_whole", operand.dtype, part.shape, outermost=True)
        everywhere = Section(part.shape, Subset.whole(part.shape))
        if name in node.inputs:
            inputs[name] = whole.memlet
            f.add(copy({"src": operand.memlet}, {"dst": whole.memlet}, source=part, target=everywhere))  # type: ignore[call-arg]
        else:
            outputs[name] = whole.memlet
            back.append(copy({"src": whole.memlet}, {"dst": operand.memlet}, source=everywhere, target=part))  # type: ignore[call-arg]
    f.add(node.alone(inputs, outputs))
    for each in back:
        f.add(each)


def _ways(cls: type[SolverOnGrid]) -> tuple[Expansion, Expansion, Expansion]:
    """The expansions of one kind of node: MKL's ScaLAPACK, the system's, and none."""
    def write(environment: str) -> Callable[[Any, Fragment], None]:
        return lambda node, f: _called(node, f, environment)

    mkl = expands(cls, "scalapack-mkl", environment=OF_MKL)(write(OF_MKL))
    system = expands(cls, "scalapack", environment=OF_SYSTEM)(write(OF_SYSTEM))
    return mkl, system, expands(cls, "gathered", fuses=False)(_gathered)


cholesky_mkl, cholesky, cholesky_gathered = _ways(CholeskyOnGrid)
solve_mkl, solve, solve_gathered = _ways(SolveOnGrid)
inverse_mkl, inverse, inverse_gathered = _ways(InverseOnGrid)
slogdet_mkl, slogdet, slogdet_gathered = _ways(SlogdetOnGrid)
