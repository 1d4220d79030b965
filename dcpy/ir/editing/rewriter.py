"""The one way to change an SDFG: a `Rewriter`, obtained with ``rewriting(sdfg, "name")``.

It keeps the index of uses current, so that a sweep stays linear; notifies listeners of changes, so that a driver
knows where to look again; writes the history; and verifies each step where it is asked to. Changes of what is written
on an element go through `update` and its special cases; changes of structure through insert, erase, replace and move.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from enum import Enum
from typing import Any

from dcpy.base.errors import InvalidSdfg
from dcpy.base.source import SrcSpan
from dcpy.ir.analysis.dataflow.def_use import Accesses, Uses
from dcpy.ir.analysis.dataflow.summaries import stale_summary
from dcpy.ir.data import Data, View
from dcpy.ir.editing.container_descriptions import description, is_written, readable
from dcpy.ir.editing.remarks import Remark, described
from dcpy.ir.editing.substitution import Substitution, substitute_in_element
from dcpy.ir.editing.view_rebasing import rebased
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.field_roles import EXPRESSIONS, MEMLETS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node
from dcpy.ir.region import Block, Loop, Owner, Region, State
from dcpy.ir.schedules import Schedule
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr, ExprLike, sym
from dcpy.ir.tree import Element, is_inside, subtree

Listener = Callable[[str, Element], None]  #: gets ``insert``, ``change`` or ``look`` (a neighbour changed)
#: kinds of values that are equal where they look equal
_VALUES = (Schedule, Enum, Expr, str, int, type(None))
_MANY = 16  # more users of one container than this are not notified of each change: a sweep must stay linear


@contextmanager
def rewriting(
    sdfg: Sdfg, name: str, *, at: str = "", check: bool = False, uses: Uses | None = None
) -> Iterator[Rewriter]:
    """Change `sdfg` under a name; on leaving, a change is entered into its history as ``name at``.

    With `check` the result is verified; `InvalidSdfg` then names the pass that broke it. `uses` is an index that is at
    hand.
    """
    rw = Rewriter(sdfg, name, check=check, uses=uses)
    yield rw
    if rw.changed:
        rw.record(f"{name} {at}".rstrip())

class Rewriter:
    """Changes one SDFG, under the `name` of the pass that is at work.

    `version` counts the changes: what was computed at another version may be out of date. `remarks` is a list for what
    passes say about their decisions, where remarks are kept. `span` is the place of new elements that have none.
    """

    def __init__(
        self,
        sdfg: Sdfg,
        name: str,
        *,
        check: bool = False,
        uses: Uses | None = None,
        remarks: list[Remark] | None = None,
    ) -> None:
        self.sdfg = sdfg
        self.name = name
        self.check = check
        self.uses = Uses(sdfg) if uses is None else uses
        self.remarks = remarks
        self.span: SrcSpan | None = None
        self.listeners: list[Listener] = []
        self.version = 0
        self._undone = 0
        if not sdfg.history:  # names then follow from the text alone, and a replay chooses the same ones
            sdfg.forget_names()

    @property
    def changes(self) -> int:
        """Number of changes, without those that were undone."""
        return self.version - self._undone

    @property
    def changed(self) -> bool:
        return self.changes > 0

    def mark(self) -> tuple[int, int]:
        """Return a mark for `undone`: the version, and the number of changes undone before it."""
        return self.version, self._undone

    def undone(self, mark: tuple[int, int]) -> None:
        """Say that the SDFG is what it was at a mark: everything that was tried since then was taken back."""
        version, before = mark
        self._undone = before + self.version - version

    def record(self, entry: str) -> None:
        """Append an entry to the history, after a change; verify if that is asked for."""
        self.sdfg.history.append(entry)
        if self.check:
            verify_after(self.sdfg, self.uses, entry)

    def remark(self, element: Element | Sdfg, applied: bool, reason: str = "", *, about: str = "") -> None:
        """Note what was decided about an element, and why; `about`: what people call it, if not by its kind."""
        if self.remarks is not None:
            if about and not is_written(self.sdfg, about):
                about = description(self.sdfg, about)
            about, reason = (readable(text, self.sdfg) for text in (about or described(element, self.sdfg), reason))
            self.remarks.append(Remark(self.name, about, element.span, applied, reason))

    # -- structure ---------------------------------------------------------------------------------------------

    def insert(self, block: Block, region: Region, position: int | None = None) -> Block:
        """Put a block that is in no region yet at a position (default: the end); return it."""
        region.insert(len(region.blocks) if position is None else position, block)
        self._entered(block)
        return block

    def insert_before(self, anchor: Block, *blocks: Block) -> None:
        """Put new blocks before `anchor`."""
        region = _region(anchor)
        for block in blocks:
            self.insert(block, region, region.index(anchor))

    def insert_after(self, anchor: Block, *blocks: Block) -> None:
        """Put new blocks after `anchor`, in order."""
        region = _region(anchor)
        position = region.index(anchor) + 1
        for offset, block in enumerate(blocks):
            self.insert(block, region, position + offset)

    def add_node(self, node: Node, state: State, position: int | None = None) -> Node:
        """Put a new node into a state at a position (default: the end); return it."""
        state.insert(len(state.nodes) if position is None else position, node)
        self._entered(node)
        return node

    def add_node_before(self, anchor: Node, *nodes: Node) -> None:
        """Put new nodes before `anchor`, in its state."""
        state = _state(anchor)
        for node in nodes:
            self.add_node(node, state, state.index(anchor))

    def erase(self, element: Element) -> None:
        """Take a node or block out, with all inside it."""
        self._look_around(element)
        accessed = [self.uses.accesses(part) for part in subtree(element)]
        self.uses.remove(element)
        _detach(element)
        self.version += 1
        for before in accessed:
            self._look_at_users(before)

    def erase_unreachable(self, element: Element) -> None:
        """Take out dead code; a result whose size only that code assigns is empty: it is never returned."""
        defined = dict.fromkeys(name for part in subtree(element) for name in self.uses.accesses(part).defines)
        self.erase(element)
        gone = {name: 0 for name in defined if not self.uses.definers(name)}
        for container in dict.fromkeys(c for name in gone for c in self.uses.described_by(name)):
            self.redeclare(container, self.uses.desc(container).subs(gone))

    def replace(self, element: Element, *others: Element) -> None:
        """Put new elements of its kind, nodes or blocks, where one was."""
        match element:
            case Node():
                self.add_node_before(element, *(other for other in others if isinstance(other, Node)))
            case Block():
                self.insert_before(element, *(other for other in others if isinstance(other, Block)))
        self.erase(element)

    def forward(self, old: Element, new: Element) -> None:
        """Say that `new` has taken the place of `old`, which is taken out: handles to it are forwarded."""
        self.sdfg.forward(old, new)

    def move_nodes(self, nodes: Sequence[Node], into: State, position: int | None = None) -> None:
        """Move nodes, in the order given, into a state (default: to its end)."""
        for node in nodes:
            state = _state(node)
            if state is not into:  # its place in a state is no fact about a node
                self.uses.forget_facts(node)
            state.remove(node)
        place = len(into.nodes) if position is None else position
        for offset, node in enumerate(nodes):
            into.insert(place + offset, node)
        self._moved(nodes, into)

    def move_blocks(self, blocks: Sequence[Block], into: Region, position: int | None = None) -> None:
        """Move blocks, in the order given, into a region (default: to its end). Containers stay where they are."""
        for block in blocks:
            self.uses.forget_facts(block)
            _region(block).remove(block)
        place = len(into.blocks) if position is None else position
        for offset, block in enumerate(blocks):
            into.insert(place + offset, block)
        self._moved(blocks, into.owner)

    def append_state(self, first: State, second: State) -> None:
        """Move all nodes of `second` to the end of `first` and take the empty `second` out."""
        self.move_nodes(list(second.nodes), first)
        self.erase(second)

    def split_state(self, node: Node) -> tuple[State, State, State]:
        """Give a node a state of its own: what was before it, the node, what was after it; all three in order."""
        state = _state(node)
        position = state.index(node)
        alone, after = State(span=state.span), State(span=state.span)
        rest = state.nodes[position + 1 :]
        self.insert_after(state, alone, after)
        self.move_nodes([node], alone)
        self.move_nodes(rest, after)
        return state, alone, after

    def inline_region(self, region: Region, block: Block) -> None:
        """Put the blocks and containers of a region that `block` owns where the block was, and take it out.

        The region's containers then belong to the region around it.
        """
        around = _region(block)
        self.hoist_containers(region, around)
        self.move_blocks(list(region.blocks), around, around.index(block))
        self.erase(block)

    def clear_region(self, region: Region) -> None:
        """Take out all blocks and containers of a region that never runs."""
        for block in reversed(list(region.blocks)):
            self.erase_unreachable(block)
        for name in list(region.containers):
            self.undeclare(name)

    def hoist_containers(self, region: Region, into: Region) -> None:
        """Move the declarations of a region to another one, which holds it or replaces it."""
        for name in list(region.containers):
            self.move_container(name, into)

    # -- what is written on an element ---------------------------------------------------------------------------

    def update(self, element: Element, **fields: Any) -> None:
        """Give fields of a node or block new values: ``rw.update(loop, range=...)``. Bodies are moved, not updated."""
        for name in fields:
            if not hasattr(element, name):
                raise InvalidSdfg(f"{self.name} sets {name!r}, which a {element.kind} does not have")
        if all(_is_kept(getattr(element, name), value) for name, value in fields.items()):
            return
        for name, value in fields.items():
            setattr(element, name, value)
        if "params" in fields and "home" not in fields and getattr(element, "home", None) is not None:
            vars(element)["home"] = None  # an entry per parameter; without one, all run on each rank
        self._refreshed(element)

    def replace_memlets(self, node: Node, change: Callable[[Memlet], Memlet]) -> None:
        """Rewrite every memlet written on a node itself."""
        node.rewrite(dict.fromkeys(MEMLETS, change))
        self._refreshed(node)

    def rewrite_exprs(self, element: Element, change: Callable[[ScalarExpr], ScalarExpr]) -> None:
        """Rewrite every scalar expression written on an element itself."""
        element.rewrite(dict.fromkeys(EXPRESSIONS, change))
        self._refreshed(element)

    def substitute(self, element: Element, values: Substitution) -> None:
        """Replace symbols and containers in what is written on an element itself."""
        substitute_in_element(element, values)
        self._refreshed(element)

    def substitute_symbols(self, values: Mapping[str, ExprLike], within: Region | None = None) -> None:
        """Replace symbols wherever they are mentioned inside `within` (default: everywhere), descriptors included.

        Costs as much as there are mentions. Elements that define one of the symbols are not changed in that.
        """
        users = dict.fromkeys(user for name in values for user in self.uses.users(name))
        for element in users:
            if within is None or is_inside(element, within):
                defined = self.uses.accesses(element).defines
                kept = {name: value for name, value in values.items() if name not in defined}
                self.substitute(element, Substitution(kept))
        for container in dict.fromkeys(c for name in values for c in self.uses.described_by(name)):
            if within is None or self.uses.home(container) in within.walk_regions():
                self.redeclare(container, self.uses.desc(container).subs(values))

    def rename_symbol(self, old: str, new: str) -> None:
        """Rename a symbol or parameter at its definitions and wherever it is mentioned."""
        for element in dict.fromkeys((*self.uses.definers(old), *self.uses.users(old))):
            self.substitute(element, Substitution({old: sym(new)}))
        for container in self.uses.described_by(old):
            self.redeclare(container, self.uses.desc(container).subs({old: sym(new)}))
        for table in (self.sdfg.symbols, self.sdfg.assigned_symbols):
            if old in table:
                table.setdefault(new, table.pop(old))

    def rename_params(self, scope: Map | Loop, names: Mapping[str, str]) -> None:
        """Rename parameters of a map or loop, in it and wherever its body mentions them."""
        for old, new in names.items():
            if old != new:
                self.rename_symbol(old, new)

    # -- containers --------------------------------------------------------------------------------------------

    def fresh_name(self, stem: str) -> str:
        """A name that nothing in the SDFG has."""
        return self.sdfg.fresh_name(stem)

    def declare(self, name: str, desc: Data, region: Region | None = None) -> str:
        """Declare a container in a region (default: the outermost); return its name."""
        home = region or self.sdfg.body
        self.sdfg.declare(name, desc, home)
        self.uses.declare(name, desc, home)
        self.version += 1
        return name

    def declare_fresh(self, stem: str, desc: Data, region: Region | None = None) -> str:
        """Declare a container under a name that nothing has yet; return the name."""
        return self.declare(self.fresh_name(stem), desc, region)

    def redeclare(self, name: str, desc: Data) -> None:
        """Give a container another descriptor."""
        home = self.uses.home(name)
        before = home.containers[name]
        if before == desc and before.span == desc.span:
            return
        self.uses.undeclare(name)
        home.containers[name] = desc
        self.uses.declare(name, desc, home)
        self.version += 1
        self._look_at_users(Accesses(reads=(name,), writes=(name,)))

    def undeclare(self, name: str) -> None:
        """Take out a container that nothing touches any more."""
        del self.uses.home(name).containers[name]
        self.sdfg.constants.pop(name, None)
        self.uses.undeclare(name)
        self.version += 1

    def move_container(self, name: str, region: Region, desc: Data | None = None) -> None:
        """Declare a container in another region instead, with another descriptor if given."""
        desc = desc or self.uses.desc(name)
        del self.uses.home(name).containers[name]
        self.uses.undeclare(name)
        region.containers[name] = desc
        self.uses.declare(name, desc, region)
        self.version += 1

    def privatize(self, name: str, into: Region, desc: Data | None = None) -> None:
        """Make a transient private to a region, for instance a map's body, with another descriptor if given."""
        self.move_container(name, into, desc)
        if desc is not None:
            self._look_at_users(Accesses(reads=(name,), writes=(name,)))

    def rename_container(self, old: str, new: str) -> None:
        """Make every reader, writer and view of `old` use `new`; `old` stays declared, and unused.

        Views get the new base's layout; `InvalidSdfg` for a reshape of what is not contiguous.
        """
        values = Substitution(containers={old: new})
        for element in self.uses.accessors(old):
            self.substitute(element, values)
        for view in self.uses.views_of(old):
            self._rebase(view, new, self.sdfg.desc(old, self.uses.home(view)))

    def undeclare_unused(self, names: Iterable[str]) -> None:
        """Take out those transients that nothing touches or views any more, and then their bases."""
        for name in names:
            if not self.uses.declared(name) or not self.uses.is_unused(name):
                continue
            desc = self.uses.desc(name)
            self.undeclare(name)
            if isinstance(desc, View):
                self.undeclare_unused([desc.of])

    def forget_symbol(self, name: str) -> None:
        """Take out an assigned symbol that nothing assigns any more."""
        if not self.uses.definers(name):
            self.sdfg.assigned_symbols.pop(name, None)

    def _rebase(self, view: str, base: str, before: Data) -> None:
        """Make `view` show `base`, where its base had the descriptor `before`; and those that show it."""
        desc = self.uses.desc(view)
        if isinstance(desc, View):
            fresh = rebased(replace(desc, of=base), self.sdfg.desc(base, self.uses.home(view)), before)
            if fresh is None:
                raise InvalidSdfg(f"{view!r} cannot be a view of {base!r}, which is not contiguous", span=desc.span)
            self.redeclare(view, fresh)
            for inner in self.uses.views_of(view):
                self._rebase(inner, view, desc)

    # -- upkeep ------------------------------------------------------------------------------------------------

    def _entered(self, element: Element) -> None:
        self.uses.add(element)
        self.version += 1
        for part in subtree(element):
            part.span = part.span or self.span
            self._tell("insert", part)
        self._look_around(element)

    def _moved(self, elements: Iterable[Element], into: Owner | Element | None) -> None:
        self.version += 1
        self.uses.forget_positions()
        self.uses.forget_facts(into if isinstance(into, Node | Block) else None)
        for element in elements:
            self._tell("change", element)

    def _refreshed(self, element: Element) -> None:
        before = self.uses.refresh(element)
        self.version += 1
        self._tell("change", element)
        self._look_at_users(before)

    def _tell(self, what: str, element: Element) -> None:
        for listener in self.listeners:
            listener(what, element)

    def _look_at_users(self, before: Accesses) -> None:
        """Whoever wrote what is read no longer, or defined what is mentioned no longer, may have become useless."""
        if not self.listeners:
            return
        for name in (*before.reads, *before.writes):
            for element in self.uses.few_accessors(name, _MANY) if self.uses.declared(name) else ():
                self._tell("look", element)
        for name in before.symbols:
            for element in self.uses.definers(name):
                self._tell("look", element)

    def _look_around(self, element: Element) -> None:
        """The block before one that came or went has another neighbour, and so has the block around it."""
        match element:
            case Block(region=Region() as region) if self.listeners:
                position = region.index(element)
                if position:
                    self._tell("look", region.blocks[position - 1])
                if isinstance(region.owner, Node | Block):
                    self._tell("look", region.owner)
            case Node(state=State() as state):
                self._tell("look", state)


def verify_after(sdfg: Sdfg, uses: Uses, entry: str) -> None:
    """Verify an SDFG and the index of its uses; the error names the step that broke it."""
    if stale := uses.differs_from(Uses(sdfg)) or stale_summary(uses):
        raise InvalidSdfg(f"{stale!r} of {sdfg.name!r} was changed past the Rewriter", notes=(f"by {entry!r}",))
    from dcpy.ir.verify import verify

    try:
        verify(sdfg)
    except InvalidSdfg as error:
        notes = (*error.notes, f"this is what {entry!r} made of {sdfg.name!r}")
        raise InvalidSdfg(error.message, span=error.span, notes=notes, help=error.help) from error


def _detach(element: Element) -> None:
    match element:
        case Node(state=State() as state):
            state.remove(element)
        case Block(region=Region() as region):
            region.remove(element)


def _region(block: Block) -> Region:
    if block.region is None:
        raise InvalidSdfg(f"this {block.kind} is in no region", span=block.span)
    return block.region


def _state(node: Node) -> State:
    if node.state is None:
        raise InvalidSdfg(f"this {node.kind} is in no state", span=node.span)
    return node.state


def _is_kept(before: object, value: object) -> bool:
    """Return whether a field has the value already. What can be changed in place may have been."""
    return type(before) is type(value) and isinstance(value, _VALUES) and before == value
