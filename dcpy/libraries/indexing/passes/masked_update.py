"""MaskedUpdateToPredicatedMap: ``a[m] = f(a[m], b[m])`` is computed where the elements are, and a mask chooses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.expressions.scalar import ScalarExpr, cast, op
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import Map
from dcpy.libraries.indexing.nodes import Compress, MaskedStore
from dcpy.libraries.indexing.passes.packed_values import SelectedValues, selected, source_of
from dcpy.libraries.indexing.passes.predication import Predicated, take_out
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one


@dataclass(frozen=True)
class MaskedUpdateToPredicatedMap(Transformation[SelectedValues]):
    """Choose for each element between a new value and the old one, instead of packing those that a mask selects.

    before   compress (mask <- m[0:N], x0 <- a[0:N]) -> (out0 -> t[0:n])      after   map i = 0:N {
             map k = 0:n { u[k] = f(t[k]) }                                             v = f(a[i])
             masked_store (out <- a, mask <- m, values <- u) -> (out -> a)              a[i] = select(m[i], v, a[i]) }

    Applies where one mask selects all that the new values are computed from, element by element, where nothing of
    that changes meanwhile, and where each element that is changed is read at its own place only. Computing all must
    cost less than packing some: at most `costs.predicated` units of work per element.
    """

    name: ClassVar[str] = "masked-update-to-predicated-map"
    store = capture(MaskedStore)
    pattern = one(store)

    costs: Costs = COSTS
    structures: bool = True  #: also of complex numbers; no vectors are made of what a choice of these is fused with

    def plan(self, m: Match) -> SelectedValues | Refusal:
        """Return how the stored values follow from the elements that the mask selects."""
        store, uses = m[self.store], m.uses
        if not self.structures and uses.desc(store.outputs["out"].container).dtype.kind == "c":
            return Refusal("it would be fused, and then C++ compilers make no vectors: choices of complex numbers jump")
        chosen = selected(store.inputs["values"], store.inputs["mask"], store.axis, store, uses, self.costs)
        return chosen if isinstance(chosen, Refusal) else _why_overlapping(store, chosen, uses) or chosen

    def apply(self, m: Match, plan: SelectedValues, rw: Rewriter) -> None:
        store, state = m[self.store], m[self.store].state
        out, name = store.outputs["out"], store.inputs["values"].container
        dtype = rw.uses.desc(out.container).dtype

        def chosen(mask: ScalarExpr, new: ScalarExpr, old: ScalarExpr) -> ScalarExpr:
            return op("select", mask, cast(new, dtype), old)

        Predicated(plan, plan.shape(store.inputs["values"].subset.shape), store, rw).finish(name, out, chosen, out)
        rw.erase(store)
        assert state is not None
        take_out(plan, rw)


def _why_overlapping(store: MaskedStore, chosen: SelectedValues, uses: Uses) -> Refusal | None:
    """Return why an iteration might read what another one changes; None where each keeps to its own element."""
    out = store.outputs["out"]
    same = uses.overlapping(out.container)
    if chosen.mask.container in same:
        return Refusal(f"{out.container!r}, which changes, has the memory of the mask")
    for name, maker in chosen.makers.items():
        if isinstance(maker, Compress):
            source = source_of(maker, name)
            if source.container in same and source != out:
                return Refusal(f"{source.container!r} may show elements that change, at other places", (maker,))
        elif any(memlet.container in same for node in maker.body.walk_nodes() for memlet in node.reads()):
            return Refusal("what changes is read at other places, too", (maker,))
    changed = any(source_of(m, name) == out for name, m in chosen.makers.items() if isinstance(m, Compress))
    if changed and not all(_keeps_place(name, m, chosen) for name, m in chosen.makers.items() if isinstance(m, Map)):
        return Refusal("what changes is read at other places, too")
    return None


def _keeps_place(name: str, maker: Map, chosen: SelectedValues) -> bool:
    """Return whether a map reads packed values where it writes others, not broadcast along another dimension."""
    nodes = list(maker.body.walk_nodes())
    point = next(memlet.subset for node in nodes for memlet in node.writes() if memlet.container == name)
    reads = (memlet for node in nodes for memlet in node.reads() if memlet.container in chosen.makers)
    return all(memlet.subset == point for memlet in reads)
