"""Operands of reversed statements: the adjoints of containers, and the values that were read, in a reversed body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from dcpy.autodiff.reverse.bodies import NodeWriter, ReversedBody, local
from dcpy.autodiff.reverse.code import forward_row
from dcpy.autodiff.reverse.items import ItemTree, LetItem, LibraryItem, LoopItem, Pointwise, ProgramItem
from dcpy.autodiff.versions import ReadVersions
from dcpy.base.errors import GradientRefused
from dcpy.ir.data import Array, Data, View
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Load, ScalarExpr, rewrite, substitute_symbols
from dcpy.ir.library.adjoints import DERIVATIVES
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import SymbolAssign
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import sym

BAR = "_bar"


class AdjointOperands:
    """The adjoints of active bases, and where values are found."""

    def __init__(self, rw: Rewriter, program: ItemTree, versions: ReadVersions, wrt: Sequence[str]) -> None:
        self._rw, self._program, self.versions, self.wrt = rw, program, versions, tuple(wrt)
        self.activity = program.activity
        self.bars: dict[str, str] = {}
        self.descs: dict[str, Data] = {}

    # -- adjoints ----------------------------------------------------------------------------------------------------

    def siblings(self, around: LoopItem | None) -> list[ProgramItem]:
        """The items of a loop's body, or of the program."""
        return self._program.siblings(around)

    def desc_of(self, name: str) -> Data:
        """The descriptor of a container of a reversed body, or of the program."""
        return self.descs[name] if name in self.descs else self._rw.uses.desc(name)

    def open(self, body: ReversedBody) -> None:
        """Declare the adjoints of what is declared in a body, and what is computed again there."""
        wrt = self.wrt if body.item is None else ()
        home = self._rw.sdfg.body if body.item is None else body.item.loop.body
        for name in [*dict.fromkeys((*wrt, *home.containers))]:
            if name not in self.activity.bases and name not in wrt:
                continue
            desc = self._rw.uses.desc(name)
            own = local(desc, body.env)
            self._require_known_size(name, own, body)
            if name in wrt or (isinstance(desc, Array) and not desc.transient):
                own = Array.packed(desc.dtype, desc.shape, transient=name not in wrt)
            self.bars[name] = self._declare(name + BAR, own, body)
            body.untouched[name] = self.bars[name]
        if body.item is not None:
            for base, found in self.versions.again.items():
                if found.home is body.item:
                    found.name = self._declare(f"{base}_again", local(self._rw.uses.desc(base), body.env), body)

    def _require_known_size(self, name: str, own: Data, body: ReversedBody) -> None:
        """Refuse an adjoint of a size that the reversed body does not know."""
        sdfg, known = self._rw.sdfg, {str(value) for value in body.env.values()}
        for symbol in {symbol for size in own.shape for symbol in size.symbols} & set(sdfg.assigned_symbols):
            outside = all(getattr(each, "region", None) is sdfg.body for each in self._rw.uses.definers(symbol))
            if symbol not in known and not outside:
                raise GradientRefused(f"the size of {name!r} is known in a loop only", span=own.span,
                                      help="make the array before the loop, or as long as it may be")  # fmt: skip

    def _declare(self, stem: str, desc: Data, body: ReversedBody) -> str:
        name = self._rw.fresh_name(stem)
        body.region.containers[name] = desc
        self.descs[name] = desc
        return name

    def temporary(self, stem: str, desc: Data, body: ReversedBody) -> str:
        """Declare a temporary of a reversed body; return its name."""
        return self._declare(stem, desc, body)

    def touch(self, base: str, body: ReversedBody, writer: NodeWriter) -> None:
        """Fill an adjoint with zeros, unless something was written to it."""
        name = body.untouched.pop(base)
        desc = self.descs[name]
        body.add(writer.fill(Memlet(name, Subset.whole(desc.shape)), desc))

    def bar_of(self, memlet: Memlet, body: ReversedBody) -> Memlet:
        """The adjoint of elements."""
        name, subset = self.versions.place(memlet)
        if name in self.bars:
            return Memlet(self.bars[name], subset)
        return Memlet(self._view(name, self.bars[self.activity.base(name)], body), subset)

    def operand_bar(self, memlet: Memlet, body: ReversedBody) -> Memlet:
        """The adjoint of the operand of a library node, whose dimensions have an order."""
        if isinstance(self._rw.uses.desc(memlet.container), View):
            view = self._view(memlet.container, self.bars[self.activity.base(memlet.container)], body)
            return Memlet(view, memlet.subset.subs(body.env))
        return Memlet(self.bars[memlet.container], memlet.subset.subs(body.env))

    def _view(self, name: str, bar: str, body: ReversedBody) -> str:
        """A view of an adjoint, as a view shows its base."""
        desc = self._rw.uses.desc(name)
        assert isinstance(desc, View)
        shown = self._rw.uses.desc(desc.of)
        of = self._view(desc.of, bar, body) if isinstance(shown, View) else bar
        own = self.desc_of(of)
        if own.dtype != desc.dtype or (desc.window is None and own.strides != shown.subs(body.env).strides):
            refuse_view(name, desc)
        if desc.window is None:
            offset = own.offset + (desc.offset - shown.offset) if isinstance(own, View) and isinstance(shown, View) \
                else desc.offset  # fmt: skip
            made = replace(desc.subs(body.env), of=of, offset=offset.subs(body.env), span=None)
        else:
            sizes = {k: size for k, (size, axis) in enumerate(zip(desc.shape, desc.axes, strict=True)) if axis < 0}
            made = View.slice(of, own, desc.window.subs(body.env), axes=desc.axes,
                              sizes={k: size.subs(body.env) for k, size in sizes.items()})  # fmt: skip
        return self._declare(f"{name}_of_{bar}", made, body)

    # -- values ------------------------------------------------------------------------------------------------------

    def needed(self, item: LibraryItem) -> list[str]:
        """The inputs of a library node whose values its rule reads."""
        active = self.activity.inputs(item.node.inputs)
        if not active:
            return []
        rule = DERIVATIVES[item.node.kind]
        return [name for name in rule.factors(item.node) if any(other != name for other in active)]

    def value(self, memlet: Memlet, reader: ProgramItem, body: ReversedBody, *, ordered: bool = False) -> Memlet:
        """The elements that hold what an item has read, in the parameters of the program as it was.

        `ordered`: of the operand of a library node, whose dimensions have an order.
        """
        found = self.versions.read(memlet, reader, ordered=ordered)
        if found.container in self.descs:
            return found
        desc = self._rw.uses.desc(found.container)
        if not isinstance(desc, View):
            return found
        base = self.activity.base(found.container)
        again = self.versions.again.get(base)
        if again is None and self._rw.uses.home(found.container) is self._rw.sdfg.body:
            return found
        return Memlet(self._view(found.container, base if again is None else again.name, body), found.subset)

    # -- computed again ----------------------------------------------------------------------------------------------

    def compute_again(self, item: Pointwise, body: ReversedBody) -> None:
        """Compute the temporaries that an item writes again in the reversed body, where they are read there."""
        for base, found in self.versions.again.items():
            if found.writer is not item:
                continue
            results = self.versions.results_of(found, base)
            row, names = forward_row(item, results)
            inputs = {name: self.value(item.inputs[name], item, body) for name in item.inputs if name in names}
            outputs = {
                name: Memlet(found.name, self.versions.place(item.outputs[name])[1]) for name in results
            }
            code = [*row, *results.items()]
            node = NodeWriter(self._rw).pointwise(body.env, (item.params, item.domain), inputs, outputs, code)
            body.add_first(node)

    def name_again(self, item: LetItem, body: ReversedBody) -> None:
        """Name the symbol of an assignment in a loop in the reversed body, whose containers may have it as a size."""
        block = item.element
        assert isinstance(block, SymbolAssign)
        name = self._rw.fresh_name(f"{block.symbol}_back")
        self._rw.sdfg.assign_symbol(name, self._rw.sdfg.assigned_symbols[block.symbol])
        body.env[block.symbol] = sym(name)

    def let_again(self, item: LetItem, body: ReversedBody) -> None:
        """Give such a symbol its value."""
        block = item.element
        assert isinstance(block, SymbolAssign)

        def change(part: ScalarExpr) -> ScalarExpr | None:
            if not isinstance(part, Load):
                return None
            found = self.value(Memlet(part.container, Subset(part.indices)), item, body)
            return Load(found.container, found.subset.indices, part.dtype)

        value = substitute_symbols(rewrite(block.value, change), body.env)
        body.prologue.append(SymbolAssign(str(body.env[block.symbol]), value, span=block.span))


def refuse_view(name: str, desc: View) -> None:
    """Refuse a view whose elements an adjoint cannot be seen by."""
    raise GradientRefused(f"{name!r} shows an array whose elements do not lie in order, in another shape",
                          span=desc.span, help="copy it first: np.ascontiguousarray(x)")  # fmt: skip
