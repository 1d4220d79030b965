"""Grid operations: nodes that ranks compute together, of operands in blocks; and the grids that they run on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isqrt

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import CommNode
from dcpy.ir.nodes import Node
from dcpy.ir.refusal import Refusal
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, sym
from dcpy.transforms.distributed.grids import grid_products, grid_solvers
from dcpy.transforms.distributed.grids.grid_products import GridProduct, product_on_grid
from dcpy.transforms.distributed.grids.grid_solvers import GridSolver, is_solver, solver_on_grid

NEW = "pblas"  #: what a grid is called that is declared for such an operation


@dataclass(frozen=True, slots=True)
class TwoAxes:
    """A grid of two axes, and the symbols of its sizes where it is still to be declared."""

    name: str
    sizes: tuple[Expr, ...]
    symbols: tuple[str, ...] = ()

    def declare(self, sdfg: Sdfg) -> None:
        """Declare the grid unless it is declared."""
        if self.symbols and self.name not in sdfg.grids:
            sdfg.add_grid(self.name, *self.symbols)


def on_grid(node: Node, uses: Uses) -> GridProduct | GridSolver | None:
    """Return how the ranks of a grid compute a node together; None where they do not."""
    return product_on_grid(node, uses) or solver_on_grid(node, uses)


def made_local(node: Node, found: GridProduct | GridSolver, memory: Mapping[str, Subset]) -> CommNode:
    """The node of the local form, of the parts in the memory of a rank."""
    if isinstance(found, GridProduct):
        return grid_products.made_local(node, found, memory)
    assert is_solver(node)  # as its form on a grid says
    return grid_solvers.made_local(node, found, memory)


def grid_of_two_axes(sdfg: Sdfg, wanted: str = "") -> TwoAxes | Refusal:
    """The grid called so, or the first one with two axes; else one with symbols for its sizes, to be declared."""
    known = [name for name, grid in sdfg.grids.items() if len(grid.sizes) == 2]
    name = wanted or (known[0] if known else NEW)
    if name in sdfg.grids:
        sizes = sdfg.grids[name].sizes
        return TwoAxes(name, sizes) if len(sizes) == 2 else Refusal(f"{name!r} has no two axes")
    symbols = (f"{name}_p0", f"{name}_p1")
    if not all(sdfg.is_free(each) for each in (name, *symbols)):
        return Refusal(f"{name!r} is the name of something else")
    return TwoAxes(name, tuple(map(sym, symbols)), symbols)


def as_square(ranks: int) -> tuple[int, int]:
    """So many ranks in rows and columns, as equal as they can be, more rows than columns."""
    columns = next(count for count in range(isqrt(ranks), 0, -1) if ranks % count == 0)
    return ranks // columns, columns
