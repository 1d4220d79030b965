"""DistributeSolver: a solver runs on matrices in blocks that go round on a grid (the PBLAS expansion of solvers)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.distribution import Partial
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, LibraryNode, Map, Node
from dcpy.ir.region import State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import as_expr
from dcpy.ir.tree import owners_around, region_of
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.distributed.grids.grid_operations import TwoAxes, grid_of_two_axes
from dcpy.transforms.distributed.grids.grid_solvers import SOLVERS, blocks_of, in_blocks, is_solver, solver_on_grid
from dcpy.transforms.distributed.grids.strategies import covers
from dcpy.transforms.distributed.resolved_placement import placed

BLOCK = 64  #: rows and columns of a block: LAPACK's own blocks are as large


@dataclass(frozen=True)
class DistributeSolver(Transformation[TwoAxes]):
    """Run a solver on a grid of two axes: its matrices go to blocks that go round, and its result comes from there.

    before   lapack.cholesky (a <- A[0:N, 0:N]) -> (l -> L[0:N, 0:N], info -> info[])
    after    copy A[0:N, 0:N] -> A_part[0:N, 0:N]          # on g(cyclic 0 by 64, cyclic 1 by 64)
             lapack.cholesky (a <- A_part[0:N, 0:N]) -> (l -> L_part[0:N, 0:N], info -> info[])
             copy L_part[0:N, 0:N] -> L[0:N, 0:N]

    Applies to Cholesky decompositions, systems of equations, inverses and determinants, wherever their operands live:
    a copy between distributions is exact for all sizes and grids. A vector is on the first column of ranks. A grid with
    two axes that is there is taken; else one is declared, ``pblas[pblas_p0, pblas_p1]``, whose sizes are symbols.
    """

    name: ClassVar[str] = "distribute-solver"
    everywhere: ClassVar[bool] = True
    solver = capture(LibraryNode)
    pattern = one(solver)

    grid: str = ""  #: the name of the grid; without it, the first one of two axes
    block: int = BLOCK  #: rows and columns of a block

    def plan(self, m: Match) -> TwoAxes | Refusal:
        return why_not_on_grid(m[self.solver], m.uses) or grid_of_two_axes(m.uses.sdfg, self.grid)

    def apply(self, m: Match, plan: TwoAxes, rw: Rewriter) -> Node:
        """Return the solver, which stays what it is."""
        node = m[self.solver]
        state = node.state
        assert isinstance(state, State)  # nodes are in states
        plan.declare(rw.sdfg)
        inputs, outputs = dict(node.inputs), dict(node.outputs)
        for name, memlet in blocks_of(node).items():
            part = self._part(node.kind, memlet, state, plan, rw)
            if name in inputs:
                inputs[name] = part
                rw.add_node_before(node, Copy(memlet, part, span=node.span))
            else:
                outputs[name] = part
                rw.add_node(Copy(part, memlet, span=node.span), state, state.index(node) + 1)
        rw.update(node, inputs=inputs, outputs=outputs)
        return node

    def _part(self, kind: str, memlet: Memlet, state: State, plan: TwoAxes, rw: Rewriter) -> Memlet:
        """A temporary for an operand, in blocks."""
        shape = memlet.subset.shape
        made = Array.packed(rw.uses.desc(memlet.container).dtype, shape, order=SOLVERS[kind].order, transient=True)
        made = replace(made, distribution=in_blocks(plan.name, 0, 1, as_expr(self.block), len(shape)))
        return Memlet(rw.declare_fresh(f"{memlet.container}_part", made, region_of(state)), Subset.whole(shape))


def why_not_on_grid(node: Node, uses: Uses) -> Refusal | None:
    """Return why a node cannot run on a grid; None where it can."""
    if not is_solver(node):
        return Refusal("it is no Cholesky decomposition, no system of equations, no inverse and no determinant")
    if any(isinstance(owner, Map) for owner in owners_around(node)):
        return Refusal("it is inside of a map, which runs on one rank")
    if solver_on_grid(node, uses) is not None:
        return Refusal("it runs on a grid already")
    for name, memlet in (node.inputs | node.outputs).items():
        where = placed(memlet.container, uses)
        if isinstance(where, Refusal):
            return where
        if name not in blocks_of(node):
            if where is not None:
                return Refusal(f"{memlet.container!r} is distributed, and is one number")
        elif not isinstance(uses.desc(uses.root(memlet.container)), Array) or memlet.wcr or not covers(memlet):
            return Refusal(f"{memlet} is no block of an array")
        elif name in node.outputs and where is not None and any(isinstance(part, Partial) for part in where.rest):
            return Refusal(f"{memlet.container!r} is still to be combined")
    return None
