"""Reversed statements: nodes that hand the adjoints of what an item wrote on to those of what it read.

Where different points touch different elements, adjoints are added in place; otherwise the writes are sums
(``wcr = add``). Reads of one array at several places become one pass for each place, in order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dcpy.autodiff.assignments import number
from dcpy.autodiff.obstacles import refuse
from dcpy.autodiff.reverse.bodies import NodeWriter, ReversedBody, covers, is_injective
from dcpy.autodiff.reverse.code import AdjointCode
from dcpy.autodiff.reverse.gathers import Box, GatheredCode, ShiftedReads, point, shifted
from dcpy.autodiff.reverse.items import LibraryItem, Pointwise, ProgramItem
from dcpy.autodiff.reverse.operands import AdjointOperands
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Ref, ScalarExpr, op
from dcpy.ir.library.adjoints import DERIVATIVES, AdjointSite
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, Ranges, max_of, sym


class ReversedStatements:
    """Writes reversed items into bodies."""

    def __init__(
        self,
        rw: Rewriter,
        writer: NodeWriter,
        operands: AdjointOperands,
        codes: Mapping[Pointwise, AdjointCode],
        assumed: Callable[[Expr, ProgramItem], bool],
    ) -> None:
        self._rw, self._writer, self._operands, self._codes = rw, writer, operands, codes
        self._assumed = assumed

    # -- pointwise ---------------------------------------------------------------------------------------------------

    def pointwise(self, item: Pointwise, body: ReversedBody) -> None:
        """Write the adjoint of a pointwise item."""
        code, assumed = self._codes[item], self._assumed
        PointwiseAdjoint(self._rw, self._writer, self._operands, item, code, body, assumed).write()

    # -- library nodes -----------------------------------------------------------------------------------------------

    def library(self, item: LibraryItem, body: ReversedBody) -> None:
        """Write the adjoint of a library node by its rule."""
        node, operands = item.node, self._operands
        base = operands.activity.base(next(iter(node.outputs.values())).container)
        if base in body.untouched:
            return  # nothing behind it reads what it writes
        seeds = {name: operands.operand_bar(memlet, body) for name, memlet in node.outputs.items()
                 if operands.activity.holds(memlet.container)}  # fmt: skip
        self._add(item, seeds, body)
        for name, bar in seeds.items():
            if not node.outputs[name].wcr and must_clear(operands, item, base):
                body.add(self._writer.fill(bar, operands.desc_of(bar.container)))

    def _add(self, item: LibraryItem, seeds: Mapping[str, Memlet], body: ReversedBody) -> None:
        node, operands = item.node, self._operands
        bars: dict[str, Memlet] = {}
        fresh: list[str] = []
        for name in operands.activity.inputs(node.inputs):
            memlet = node.inputs[name]
            own = operands.activity.base(memlet.container)
            bars[name] = operands.operand_bar(memlet, body)
            if own not in body.untouched:
                continue
            shape = operands.desc_of(bars[name].container).shape
            if memlet.container == own and bars[name].subset == Subset.whole(shape):
                del body.untouched[own]
                fresh.append(name)
            else:
                operands.touch(own, body, self._writer)
        if not bars:
            return
        values = {
            name: operands.value(node.inputs[name], item, body, ordered=True).subs(body.env)
            for name in operands.needed(item)
        }
        rule = DERIVATIVES[node.kind]
        assert rule.adjoint is not None
        site = AdjointSite(bars, values, seeds, frozenset(fresh), self._rw.fresh_name, operands.desc_of)
        for made in rule.adjoint(node, site):
            body.add(made)


def must_clear(operands: AdjointOperands, item: ProgramItem, base: str) -> bool:
    """Return whether the adjoint of what an item wrote is read again: by what runs before the item."""
    home = operands.versions.home(base)
    if item.around is not home or base in operands.wrt:
        return True
    before = operands.siblings(home)[: item.position]
    return any(base in other.reads or base in other.writes for other in before)


class PointwiseAdjoint:
    """The adjoint of one pointwise item, in one body."""

    def __init__(
        self,
        rw: Rewriter,
        writer: NodeWriter,
        operands: AdjointOperands,
        item: Pointwise,
        code: AdjointCode,
        body: ReversedBody,
        assumed: Callable[[Expr, ProgramItem], bool],
    ) -> None:
        self._rw, self._writer, self._operands = rw, writer, operands
        self._item, self._code, self._body = item, code, body
        self._assumed = lambda fact: assumed(fact, item)
        active = operands.activity.inputs(item.outputs)
        self._outputs = {name: item.outputs[name] for name in active}
        self._seeds: dict[str, Memlet] = {}

    def _base(self, memlet: Memlet) -> str:
        return self._operands.activity.base(memlet.container)

    def write(self) -> None:
        """Write all of it."""
        item, body = self._item, self._body
        written = {self._base(memlet) for memlet in self._outputs.values()}
        if all(base in body.untouched for base in written):
            return  # nothing behind it reads what it writes
        for base in sorted(written):
            self._touch(base)
        self._seeds = {f"b_{name}": self._operands.bar_of(memlet, body) for name, memlet in self._outputs.items()}
        by_base: dict[str, list[str]] = {}
        for name in self._code.bars:
            by_base.setdefault(self._base(item.inputs[name]), []).append(name)
        self._require_no_sums(by_base)
        clears = self._clears()
        if not self._are_apart(by_base, written):
            self._take_out(clears)
            clears = {}
        self._passes(by_base, {} if item.gathers else clears)
        if item.gathers and clears:
            assert item.sums is not None
            bar = self._operands.operand_bar(item.sums, body)
            body.add(self._writer.fill(bar, self._operands.desc_of(bar.container)))

    def _passes(self, by_base: Mapping[str, list[str]], clears: Mapping[str, Memlet]) -> None:
        """One pass for all inputs that can share it, and before that one for each other; the last one clears."""
        joint: list[str] = []
        for names in by_base.values():
            if len(names) == 1 and is_injective(self._place(names[0]), self._item.params):
                joint += names
                continue
            reads = shifted([self._place(name) for name in names], self._item.params, self._item.domain)
            if reads is not None and self._item.params and all(map(self._assumed, reads.conditions())):
                self._gather(names, reads)
                continue
            for name in names:
                self._node([name], {})
        if joint or clears:
            self._node(joint, clears)

    def _place(self, name: str) -> Memlet:
        return self._operands.bar_of(self._item.inputs[name], self._body)

    def _require_no_sums(self, by_base: Mapping[str, list[str]]) -> None:
        for memlet in self._outputs.values():
            if memlet.wcr and self._base(memlet) in by_base:
                refuse(f"{memlet.container!r} is summed into, and read in the same statement", self._item.element,
                       "compute what is added in an array of its own first")  # fmt: skip

    def _clears(self) -> dict[str, Memlet]:
        """The adjoints that are 0 after the item, by the name of their seed."""
        return {
            f"b_{name}": self._seeds[f"b_{name}"]
            for name, memlet in self._outputs.items()
            if not memlet.wcr and must_clear(self._operands, self._item, self._base(memlet))
        }

    def _are_apart(self, by_base: Mapping[str, list[str]], written: set[str]) -> bool:
        """Return whether no adjoint is added to that is also a seed, but at the very element that was written."""
        for base in written & set(by_base):
            names = by_base[base]
            seeds = [seed for name, seed in self._seeds.items() if self._base(self._outputs[name[2:]]) == base]
            place = self._place(names[0])
            if len(names) != 1 or len(seeds) != 1 or seeds[0] != place or not is_injective(place, self._item.params):
                return False
        return True

    def _take_out(self, clears: Mapping[str, Memlet]) -> None:
        """Move the seeds into memory of their own, and leave 0 where they were."""
        item, body = self._item, self._body
        ranges = Ranges({name: (ZERO, None) for name in self._rw.sdfg.sizes})
        sizes: list[Expr] = []
        for values in item.domain:
            size = values.size.subs(body.env)
            sizes.append(size if ranges.proves_nonneg(size) else max_of(size, 0))
        places = [position_in(name, values) for name, values in zip(item.params, item.domain, strict=True)]
        for name, seed in list(self._seeds.items()):
            dtype = self._operands.desc_of(seed.container).dtype
            own = Array.packed(dtype, sizes, transient=True) if sizes else Scalar(dtype, transient=True)
            kept = Memlet(self._operands.temporary("seed", own, body), Subset(tuple(places)))
            row: list[tuple[str, ScalarExpr]] = [("out", Ref(name, dtype))]
            outputs = {"out": kept}
            if name in clears:
                outputs["zero"] = seed
                row.append(("zero", number(0.0, dtype)))
            body.add(self._writer.pointwise(body.env, (item.params, item.domain), {name: seed}, outputs, row))
            self._seeds[name] = kept

    def _gather(self, names: list[str], reads: ShiftedReads) -> None:
        """One pass over all places that several reads touch, and passes over the rim."""
        self._touch(self._base(self._item.inputs[names[0]]))
        self._gathered(names, reads, range(len(names)), reads.core)
        for which in range(len(names)):
            for box in reads.rim(which):
                self._gathered(names, reads, [which], box)

    def _gathered(self, names: list[str], reads: ShiftedReads, chosen: Sequence[int], box: Box) -> None:
        item, body, operands = self._item, self._body, self._operands
        params = tuple(self._rw.fresh_name("j") for _ in box)
        code = GatheredCode()
        for which in chosen:
            bar = self._code.bars[names[which]]
            row, used = self._code.needed([bar])
            values = {name: operands.value(item.inputs[name], item, body) for name in item.inputs if name in used}
            values |= {name: memlet for name, memlet in self._seeds.items() if name in used}
            code.add(values, row, bar, reads.shift(which, [sym(name) for name in params]))
        place = Memlet(self._place(names[0]).container, point(params))
        assert code.total is not None
        total = op("add", Ref("before", code.total.dtype), code.total)
        domain = [Range(low, stop) for low, stop in box]
        inputs = {**code.inputs, "before": place}
        row = [*code.row, ("n", total)]
        body.add(self._writer.pointwise(body.env, (params, domain), inputs, {"n": place}, row, named=True))

    def _node(self, names: list[str], clears: Mapping[str, Memlet]) -> None:
        """One pass over the box: add to the adjoints of some inputs, and clear those of outputs."""
        item, body, operands = self._item, self._body, self._operands
        bars = {name: self._code.bars[name] for name in names}
        row, used = self._code.needed(bars.values())
        inputs = {name: operands.value(item.inputs[name], item, body) for name in item.inputs if name in used}
        inputs |= {name: memlet for name, memlet in self._seeds.items() if name in used}
        outputs: dict[str, Memlet] = {}
        left = dict(clears)
        for name in names:
            place, base = self._place(name), self._base(item.inputs[name])
            dtype, value = operands.desc_of(place.container).dtype, bars[name]
            own = next((seed for seed, memlet in self._seeds.items() if memlet == place), "")
            target = f"n_{name}"
            if own:
                left.pop(own, None)
            elif base in body.untouched and self._is_whole(place):
                del body.untouched[base]
            elif is_injective(place, item.params):
                self._touch(base)
                inputs[f"p_{name}"] = place
                value = op("add", Ref(f"p_{name}", dtype), value)
            else:
                self._touch(base)
                place = Memlet(place.container, place.subset, "add")
            outputs[target] = place
            row.append((target, value))
        for seed, memlet in left.items():
            outputs[f"z_{seed}"] = memlet
            row.append((f"z_{seed}", number(0.0, operands.desc_of(memlet.container).dtype)))
        body.add(self._writer.pointwise(body.env, (item.params, item.domain), inputs, outputs, row))

    def _touch(self, base: str) -> None:
        if base in self._body.untouched:
            self._operands.touch(base, self._body, self._writer)

    def _is_whole(self, place: Memlet) -> bool:
        shape = self._operands.desc_of(place.container).shape
        return covers(place, self._item.params, self._item.domain, shape)


def position_in(name: str, values: Range) -> Expr:
    """The number of an iteration, from 0."""
    ahead = sym(name) - values.start
    step = values.step.constant
    if step is None:
        return ahead // values.step
    return ahead * step if step in (1, -1) else ahead // step if step > 0 else (-ahead) // -step
