"""RecomputeStencils: fields between stencils are recomputed instead of stored, if that is cheaper.

The fields of a weather model do not fit into caches: writing a field and reading it back costs more than about twenty
operations per element, which vector units can do while they wait for memory.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.costs.work_estimates import cost_of_code, cost_of_operation
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, strides_of
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Op, walk
from dcpy.ir.machine_model import COSTS, LIMITS, Costs, Limits
from dcpy.ir.nodes import Map, Tasklet
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import ONE, Expr, min_of
from dcpy.ir.tree import owners_around
from dcpy.transforms.api import Refusal
from dcpy.transforms.fusion.inlining import Inlining, inline
from dcpy.transforms.fusion.map_inlining import scopes_within
from dcpy.transforms.fusion.recompute_fusion import recomputation
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class RecomputeStencils(GraphPass):
    """Fuse stencils with the stencils that read them, last ones first, where the redundant computation is cheap.

    before   map i = 0:N { lap[i] = f(A[i], A[i + 1]) }       after   map k = 0:N - 2 { l = f(A[k], A[k + 1])
             map j = 0:N - 1 { flx[j] = lap[j + 1] - lap[j] }                           m = f(A[k + 1], A[k + 2]) ...
             map k = 0:N - 2 { B[k] = flx[k + 1] - flx[k] }                             B[k] = (n - m) - (m - l) }

    Applies RecomputeFusion (inlining, in Halide) where it pays: the readers cover as many points as the field has (or
    broadcast it), at shifted indices, and the redundant computation costs at most `costs.recomputed` units of work per
    element. Works from the last field backwards; an element that several others need is computed once per iteration.
    """

    name: ClassVar[str] = "recompute-stencils"
    optional: ClassVar[bool] = True

    costs: Costs = COSTS
    limits: Limits = LIMITS
    reads: int = 8  #: different elements of a field that are read in an iteration, at most

    def decide(self, rw: Rewriter) -> None:
        """Visit the maps of the program from last to first."""
        for node in reversed([node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map)]):
            plan = self._plan(node, rw.uses)
            if isinstance(plan, Refusal):
                rw.remark(node, False, plan.reason)
            else:
                rw.remark(node, True, f"{plan.tmp!r} is recomputed where it is read")
                inline(node, plan, rw)

    def _plan(self, node: Map, uses: Uses) -> Inlining | Refusal:
        plan = recomputation(node, self.reads, uses)
        if isinstance(plan, Refusal):
            return plan
        if any(isinstance(owner, Map) for owner in owners_around(node)):
            return Refusal(f"{plan.tmp!r} fits into the cache: computing it again saves nothing")
        clamped = False
        for reader in plan.readers:
            found = _reads_neighbours(reader, plan.tmp, node)
            if found is None:
                return Refusal(f"elements of {plan.tmp!r} may be read by more iterations than there are", (reader,))
            clamped = clamped or found == "clamped"
        again = len(plan.places()) - 1 + clamped
        return (self._why_dear(node, plan.tmp, again, uses) if again else None) or plan

    def _why_dear(self, node: Map, tmp: str, again: int, uses: Uses) -> Refusal | None:
        """The reason that computing each element so many more times does not pay; None if it pays."""
        if self._bytes(tmp, uses) <= self.limits.cached_bytes:
            return Refusal(f"{tmp!r} fits into the cache: computing it again saves nothing")
        if name := _strided(node, uses):
            return Refusal(f"neighbours in {tmp!r} are computed from elements of {name!r} that lie far apart")
        more = again * _cost(node, self.costs)
        if more > self.costs.recomputed:
            return Refusal(f"{more} units of work would be done again")
        costly = _costly(node, self.costs)
        return Refusal(f"{costly!r} would be computed again") if costly else None

    def _bytes(self, tmp: str, uses: Uses) -> int:
        """The size of a field in bytes, with typical values for unknown sizes."""
        desc = uses.desc(tmp)
        assert isinstance(desc, Array)  # or it could not be computed elsewhere
        sizes = (self.costs.typical_size if size.constant is None else size.constant for size in desc.shape)
        return math.prod(sizes) * desc.dtype.itemsize


def _strided(node: Map, uses: Uses) -> str:
    """An array that the map reads with a stride while it writes contiguously; "" if there is none."""
    param = node.params[-1]
    for inner in node.body.walk_nodes():
        for memlet in inner.reads():
            strides = strides_of(uses.desc(memlet.container))
            along = [stride for dim, stride in zip(memlet.subset.dims, strides, strict=True) if param in dim.symbols]
            if any(stride is not ONE for stride in along):
                return memlet.container
    return ""


def _reads_neighbours(reader: Tasklet, tmp: str, node: Map) -> str | None:
    """The kind of offset by which a reader reads neighbours: the weaker of ``"shifted"`` and ``"clamped"``.

    None if a parameter around the reader does not index a dimension of its own with such an offset.
    """
    assert node.state is not None
    assert node.state.region is not None
    scopes = scopes_within(reader, node.state.region)
    if scopes is None or len(scopes) != len(node.params):
        return None
    params = [param for param, _ in scopes]
    found = [_along(memlet.subset, params) for memlet in reader.reads() if memlet.container == tmp]
    return None if None in found else min(filter(None, found))


def _along(subset: Subset, params: list[str]) -> str | None:
    used: list[str] = []
    clamped = False
    for dim in subset.dims:
        mine = [param for param in params if param in dim.symbols]
        if not isinstance(dim, Expr) or len(mine) > 1:
            return None
        if mine:
            free = _unclamped(dim, mine[0])
            form = free.linear_in(mine[0])
            if form is None or form[0] is not ONE:
                return None
            used, clamped = used + mine, clamped or free is not dim
    if sorted(used) != sorted(params):
        return None
    return "clamped" if clamped else "shifted"


def _unclamped(index: Expr, param: str) -> Expr:
    """``i + 1`` for ``min(i, n - 1) + 1``: a dimension of one element is read again and again."""
    for monomial, factor in index.terms:
        (atom, power), *others = monomial or ((None, 0),)
        if atom is None or others or (factor, power, atom.kind) != (1, 1, "min"):
            continue
        inside = [arg for arg in atom.args if param in arg.symbols]
        if len(inside) == 1:
            return index - min_of(*atom.args) + _unclamped(inside[0], param)
    return index


def _costly(node: Map, costs: Costs) -> str:
    """An operation that takes longer than reading its result from a cache; "" if there is none."""
    tasklets = [inner for inner in node.body.walk_nodes() if isinstance(inner, Tasklet)]
    exprs = [expr for inner in tasklets for _, expr in inner.code]
    most = costs.recomputed // 8
    operations = [part for expr in exprs for part in walk(expr) if isinstance(part, Op)]
    return next((op.name for op in operations if cost_of_operation(op, costs) > most), "")


def _cost(node: Map, costs: Costs) -> int:
    """The cost of one element in units of work: its operations and loads."""
    tasklets = [inner for inner in node.body.walk_nodes() if isinstance(inner, Tasklet)]
    loads = sum(memlet.container not in node.body.containers for inner in tasklets for memlet in inner.reads())
    return loads + sum(cost_of_code(expr, costs) for inner in tasklets for _, expr in inner.code)
