"""Range hulls: all values that a parameter takes while the parameters in its range run through theirs."""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.ir.analysis.accesses.memlet_propagation import SymbolValues, swept
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import Map
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, Expr, sym

_NOWHERE = sym("_nowhere_")  # the size of a dimension of which nothing is known


def hull_of(values: Range, others: Mapping[str, Range], kernel: Map, rw: Rewriter) -> Range | None:
    """The values of a range in steps of one, over those of the parameters `others`; None where they are not known."""
    if values.step is not ONE:
        return None
    ranges = rw.uses.ranges_at(kernel.body)
    sweeps = [SymbolValues.of(name, dim, ranges) for name, dim in others.items()]
    box, _ = swept(Subset((values,)), sweeps, (_NOWHERE,), ranges)
    found = box.dims[0]
    if isinstance(found, Expr) or not {str(_NOWHERE), *kernel.params}.isdisjoint(found.symbols):
        return None
    return found
