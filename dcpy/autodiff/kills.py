"""Kills: whether a later write may overwrite elements that a statement has read, by integer sets.

In ``for j: A[i, j] -= A[i, :j] @ A[j, :j]`` no later write meets what was read, though the loop goes on to write `A`.
"""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.autodiff.reverse.items import ItemTree, LibraryItem, LoopItem, Pointwise, ProgramItem
from dcpy.ir.analysis.dataflow.aliasing import in_base
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.value_ranges import ranges_at
from dcpy.ir.analysis.polyhedral.footprints import Footprint, Variable
from dcpy.ir.analysis.polyhedral.integer_sets import overlap
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ExprLike, sym

LATER = "_later"  # what names of writers end in, beside the reader's


class Kills:
    """Answers about one program, each given once."""

    def __init__(self, uses: Uses, tree: ItemTree) -> None:
        self._uses, self._tree = uses, tree
        self._known: dict[tuple[Memlet, ProgramItem, ProgramItem, bool], bool] = {}

    def may_kill(self, memlet: Memlet, reader: ProgramItem, other: ProgramItem, *, again: bool) -> bool:
        """Return whether an item behind the reader may write what that has read through a memlet.

        `other` is the reader, or stands in the body of a loop around it, or is, with `again`, a loop around it, whose
        later iterations count.
        """
        key = (memlet, reader, other, again)
        if key not in self._known:
            self._known[key] = self._answer(memlet, reader, other, again)
        return self._known[key]

    def _answer(self, memlet: Memlet, reader: ProgramItem, other: ProgramItem, again: bool) -> bool:
        base, subset = in_base(memlet, self._uses.desc)
        if subset is None:
            return True
        over = tuple(zip(reader.params, reader.domain, strict=True)) if isinstance(reader, Pointwise) else ()
        read = Footprint(subset, over)
        ranges = ranges_at(reader.element)
        for writer in self._tree.walk([other]):
            if isinstance(writer, LoopItem) or base not in writer.writes:
                continue
            written = list(self._written(writer, base, other, again))
            if not written or any(one is None or not overlap(read, one, ranges).is_no for one in written):
                return True
        return False

    def _written(
        self, writer: ProgramItem, base: str, other: ProgramItem, again: bool
    ) -> Iterator[Footprint | None]:
        """The elements of a base that an item writes in iterations that follow; None where that is not known."""
        over: list[Variable] = []
        names: dict[str, ExprLike] = {}
        if again and isinstance(other, LoopItem):
            values = other.loop.range
            param = other.loop.param
            self._bind(over, names, param, Range(sym(param) + values.step, values.stop, values.step))
        inner = writer.loops()[len(other.loops()) :]
        for item in inner:
            if not (again and item is other):
                self._bind(over, names, item.loop.param, item.loop.range)
        memlets: list[Memlet] = []
        if isinstance(writer, Pointwise):
            for name, values in zip(writer.params, writer.domain, strict=True):
                self._bind(over, names, name, values)
            memlets = [*([writer.sums] if writer.sums is not None else []), *writer.outputs.values()]
        elif isinstance(writer, LibraryItem):
            memlets = list(writer.node.outputs.values())
        for memlet in memlets:
            found, subset = in_base(memlet, self._uses.desc)
            if found != base:
                continue
            if subset is None:
                yield None
                continue
            unknown = [name for name in self._unsteady(subset.symbols, over) if name not in names]
            later: dict[str, ExprLike] = {name: sym(name + LATER) for name in unknown}
            free: list[Variable] = [(name + LATER, None) for name in unknown]
            moved = tuple((name, None if dim is None else dim.subs(later)) for name, dim in over)
            yield Footprint(subset.subs({**names, **later}), (*free, *moved))

    def _unsteady(self, symbols: tuple[str, ...], over: list[Variable]) -> list[str]:
        """The assigned symbols among some, and in the bounds of variables, which may have other values later."""
        mentioned = [*symbols, *(name for _, dim in over if dim is not None for name in dim.symbols)]
        return [name for name in dict.fromkeys(mentioned) if name in self._uses.sdfg.assigned_symbols]

    def _bind(self, over: list[Variable], names: dict[str, ExprLike], name: str, values: Range) -> None:
        """Add a variable of the writer, under a name of its own; bounds may mention those before it."""
        over.append((name + LATER, values.subs(names)))
        names[name] = sym(name + LATER)
