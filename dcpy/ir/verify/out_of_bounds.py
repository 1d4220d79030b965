"""Out-of-bounds subsets: whether a subset surely leaves its container, at its place.

"Surely" means: if the place is reached at all. Parameters of maps and loops take the first and last value of their
range there, as long as no other range depends on them. No place is reached where an index can have no value: the check
that gives an index into a dimension of size 0 its value raises.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.analysis.accesses.memlet_propagation import SymbolValues, swept
from dcpy.ir.field_roles import Runs, Written
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import Expr, Ranges
from dcpy.ir.verify.subjects import Scope


def outside(subset: Subset, shape: Sequence[Expr], scope: Scope) -> str:
    """Return how a subset leaves a container of `shape`; "" where that is not proved. Ranks must agree."""
    if all(_obviously_inside(dim, size) for dim, size in zip(subset.dims, shape, strict=True)):
        return ""
    ranges = scope.ranges
    if any(_has_no_value(name, ranges) for name in subset.symbols):
        return ""
    sweeps = _sweeps(scope, ranges)
    if sweeps is None:
        return ""
    for axis, (dim, size) in enumerate(zip(subset.dims, shape, strict=True)):
        box, exact = swept(Subset((dim,)), [sweep for sweep in sweeps if sweep.symbol in dim.symbols], (size,), ranges)
        reached = box.dims[0]
        if not exact or (isinstance(dim, Range) and not ranges.proves_nonneg(dim.size - 1)):
            continue
        if isinstance(reached, Range) and not reached.direction(ranges):
            continue
        low, high = reached.hull(ranges) if isinstance(reached, Range) else (reached, reached)
        if ranges.proves_lt(low, 0):
            return f"index {low} of dimension {axis} is negative"
        if ranges.proves_le(size, high):
            return f"index {high} is out of bounds for dimension {axis} of size {size}"
    return ""


def _obviously_inside(dim: Expr | Range, size: Expr) -> bool:
    return isinstance(dim, Range) and dim.start.constant == 0 and dim.stop is size


def _has_no_value(name: str, ranges: Ranges) -> bool:
    lower, upper = ranges.bounds(name)
    return lower is not None and upper is not None and ranges.proves_lt(upper, lower)


def _sweeps(scope: Scope, ranges: Ranges) -> list[SymbolValues] | None:
    """The parameters around a place; None where nothing may be reached (the range of one is surely empty, or has a size
    that was clamped), or where the range of one depends on another (then not all values meet).
    """
    params: dict[str, Range] = {}
    for owner in scope.owners:
        if isinstance(owner, Written) and owner.runs is Runs.EACH:
            params.update(owner.iteration_space())
    if any(name in params for values in params.values() for name in values.symbols):
        return None
    sizes = [values.size for values in params.values()]
    if any(ranges.proves_le(size, 0) or _may_be_clamped(size, scope) for size in sizes):
        return None
    return [SymbolValues.of(name, values, ranges) for name, values in params.items()]


def _may_be_clamped(size: Expr, scope: Scope) -> bool:
    """Return whether a size is one of a slice, and 0 perhaps: ``max(0, 1 - k)``, or of a bound that has been computed.
    """
    clamped = any(atom.kind in ("min", "max") for monomial, _ in size.terms for atom, _ in monomial)
    computed = any(name in scope.sdfg.assigned_symbols for name in size.symbols)
    return (clamped or computed) and not scope.ranges.proves_nonneg(size - 1)
