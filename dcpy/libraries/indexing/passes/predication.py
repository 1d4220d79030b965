"""Predication (if-conversion): what was computed for selected elements is computed for all, and the mask chooses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeGuard

from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.copying import copy_node
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Ref, ScalarExpr, loads_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Region, State, SymbolAssign
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym
from dcpy.ir.tree import Element
from dcpy.libraries.indexing.nodes import Compress
from dcpy.libraries.indexing.passes.packed_values import SelectedValues, source_of


class Predicated:
    """A map over the elements of a mask, and of the other dimensions of the values, in the making.

    It stands before `user` from the beginning on; the values of packed temporaries become scalars in its body.
    """

    def __init__(self, chosen: SelectedValues, shape: Sequence[Expr], user: LibraryNode, rw: Rewriter) -> None:
        self.chosen, self.rw = chosen, rw
        params = tuple(rw.fresh_name("i") for _ in shape)
        self.state = State(span=user.span)
        domain = tuple(Range(ZERO, size) for size in shape)
        self.map = Map(params, domain, Region([self.state]), span=user.span)
        rw.add_node_before(user, self.map)
        stop = chosen.axis + len(chosen.mask.subset.shape)
        points = tuple(map(sym, params))
        self.before, self.at, self.behind = points[: chosen.axis], points[chosen.axis : stop], points[stop:]
        self._known: dict[tuple[str, tuple[Expr, ...]], Memlet] = {}

    def finish(self, name: str, target: Memlet, code: Callable[..., ScalarExpr], *others: Memlet) -> None:
        """``target = code(mask, value, *others)`` at each element, of arrays of the full shape.

        The value is that of the packed temporary `name`.
        """
        point = (*self.before, *self.at, *self.behind)
        value = self._value(name, (*self.before, ZERO, *self.behind))
        sources = [_at(self.chosen.mask, self.at), value, *(_at(other, point) for other in others)]
        memlets = {f"x{k}": memlet for k, memlet in enumerate(sources)}
        dtypes = [self.rw.uses.desc(memlet.container).dtype for memlet in sources]
        refs = [Ref(connector, dtype) for connector, dtype in zip(memlets, dtypes, strict=True)]
        self.rw.add_node(Tasklet(memlets, {"out": _at(target, point)}, (("out", code(*refs)),)), self.state)

    def _value(self, name: str, point: tuple[Expr, ...]) -> Memlet:
        """Return the element of a packed temporary, at an index whose packed dimension does not count."""
        maker, axis = self.chosen.makers[name], self.chosen.axis
        if isinstance(maker, Compress):
            return _at(source_of(maker, name), (*point[:axis], *self.at, *point[axis + 1 :]))
        if (name, point) not in self._known:
            self._known[name, point] = self._computed(maker, name, point)
        return self._known[name, point]

    def _computed(self, maker: Map, name: str, point: tuple[Expr, ...]) -> Memlet:
        """Copy the tasklets of a map for one element of what it computes."""
        rw, body = self.rw, maker.body
        (result,) = (memlet for node in body.walk_nodes() for memlet in node.writes() if memlet.container == name)
        values = dict(zip(map(str, result.subset.indices), point, strict=True))
        private = {inner: rw.declare_fresh(inner, desc, self.map.body) for inner, desc in body.containers.items()}
        dtype = rw.uses.desc(name).dtype
        value = Memlet(rw.declare_fresh(name, Scalar(dtype, transient=True), self.map.body), Subset())
        for node in body.walk_nodes():
            copied = copy_node(node, Substitution(values, private))
            assert isinstance(copied, Tasklet)
            copied.inputs = {
                connector: self._value(memlet.container, memlet.subset.indices)
                if memlet.container in self.chosen.makers
                else memlet
                for connector, memlet in copied.inputs.items()
            }
            copied.outputs = {
                connector: value if memlet.container == name else memlet for connector, memlet in copied.outputs.items()
            }
            rw.add_node(copied, self.state)
        return value


def _at(memlet: Memlet, point: Sequence[Expr]) -> Memlet:
    return Memlet(memlet.container, memlet.subset.compose(Subset.point(*point)))


def take_out(chosen: SelectedValues, rw: Rewriter) -> None:
    """Erase what computed the packed values, and counted them, where nothing reads them any more."""
    counts = {desc.shape[chosen.axis].name for desc in map(rw.uses.desc, chosen.makers) if isinstance(desc, Array)}
    pending = list(dict.fromkeys(chosen.makers.values()))
    while unread := [maker for maker in pending if not any(map(rw.uses.readers, _results(maker)))]:
        for maker in unread:
            pending.remove(maker)
            _erase(maker, rw)
    rw.undeclare_unused(chosen.makers)
    for count in sorted(count for count in counts if count):
        _forget_count(count, rw)


def _results(maker: Map | Compress) -> list[str]:
    inside = maker.body.containers if isinstance(maker, Map) else {}
    nodes = maker.body.walk_nodes() if isinstance(maker, Map) else [maker]
    return [memlet.container for node in nodes for memlet in node.writes() if memlet.container not in inside]


def _forget_count(symbol: str, rw: Rewriter) -> None:
    """Take out a symbol that nothing mentions any more, and the reduction that it was read from."""
    uses = rw.uses
    if uses.users(symbol) or uses.described_by(symbol) or len(uses.definers(symbol)) != 1:
        return
    (definer,) = uses.definers(symbol)
    if not isinstance(definer, SymbolAssign) or definer.effects:
        return
    read = [load.container for load in loads_of(definer.value)]
    rw.erase(definer)
    rw.forget_symbol(symbol)
    for name in read:
        writers = uses.writers(name)
        if not uses.is_private(name) or uses.readers(name) or len(writers) != 1:
            continue
        if _only_fills(writers[0], name, uses):
            _erase(writers[0], rw)
    rw.undeclare_unused(read)


def _only_fills(writer: Element, name: str, uses: Uses) -> TypeGuard[Node]:
    """Return whether it does nothing but compute one container: what counts the elements of a mask."""
    if not isinstance(writer, Node) or effects_of(writer) != Effect.NOTHING:
        return False
    return names_in(writer, uses)[1].keys() == {name}


def _erase(node: Node, rw: Rewriter) -> None:
    state = node.state
    rw.erase(node)
    if state is not None and not state.nodes:
        rw.erase(state)
