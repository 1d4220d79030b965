"""Def-use index: for each container its readers and writers, for each symbol the elements that mention it.

The index is built once, in linear time, and kept current by the `Rewriter`, one element at a time; that is what makes
a sweep over a whole SDFG linear. An *element* is a node or a block that touches things itself: a map by its domain, a
loop by its bounds, not by what stands in their bodies.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from dcpy.ir.analysis.dataflow.aliasing import base_of
from dcpy.ir.analysis.dataflow.value_ranges import KnownRanges
from dcpy.ir.data import Array, Data, Scalar, Stream, View
from dcpy.ir.expressions.scalar import Load, ScalarExpr, symbols_in, walk
from dcpy.ir.field_roles import Role, held
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block, Region, SymbolAssign
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import Element, TreeNode, bodies_of, children, holder_of, subtree

KeyOf = Callable[[Element], Hashable | None]
AccessedArguments = tuple[frozenset[str], frozenset[str]]  # which an SDFG may read, and which it may write
WrittenBy = Callable[[Sdfg], frozenset[str]]


@dataclass(frozen=True, slots=True)
class Accesses:
    """Names that one element reads, writes, mentions and defines, each once, in order of appearance."""

    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()
    defines: tuple[str, ...] = ()  #: loop and map parameters, worker numbers, assigned symbols


_NOTHING = Accesses()


class Uses:
    """The index of one SDFG (callees have their own). `callees`: what is known of those, which is added to."""

    def __init__(self, sdfg: Sdfg, callees: CalleeAccesses | None = None) -> None:
        self.sdfg = sdfg
        self._accesses: dict[Element, Accesses] = {}
        self._readers: dict[str, dict[Element, None]] = {}
        self._writers: dict[str, dict[Element, None]] = {}
        self._users: dict[str, dict[Element, None]] = {}
        self._definers: dict[str, dict[Element, None]] = {}
        self._described: dict[str, dict[str, None]] = {}
        self._views: dict[str, dict[str, None]] = {}
        self._aliases: dict[str, dict[str, None]] = {}
        self._descs: dict[str, Data] = {}
        self._homes: dict[str, Region] = {}
        self.callees = CalleeAccesses() if callees is None else callees
        self._ranges: KnownRanges | None = None
        self._facts: dict[Element, dict[Any, Any]] = {}
        self._groups: dict[KeyOf, ElementGroups] = {}
        self._positions: dict[Element, int] = {}
        self._ordered_writers: dict[str, list[Element]] = {}
        self.add_region(sdfg.body)

    # -- questions ---------------------------------------------------------------------------------------------

    def readers(self, container: str) -> tuple[Element, ...]:
        """Elements that read a container, by this very name (views of it have their own readers)."""
        return tuple(self._readers.get(container, ()))

    def writers(self, container: str) -> tuple[Element, ...]:
        """Elements that write a container, by this very name."""
        return tuple(self._writers.get(container, ()))

    def accessors(self, container: str) -> tuple[Element, ...]:
        """Readers and writers, each once."""
        return tuple(self._readers.get(container, {}) | self._writers.get(container, {}))

    def streams_among(self, names: Iterable[str]) -> list[str]:
        """The containers that are streams."""
        descs = self._descs
        return [name for name in names if isinstance(descs[name], Stream)]

    def few_accessors(self, container: str, most: int) -> tuple[Element, ...]:
        """Readers and writers, unless they are more than `most`: then none, without a look at each."""
        if max(len(self._readers.get(container, ())), len(self._writers.get(container, ()))) > most:
            return ()
        found = self.accessors(container)
        return found if len(found) <= most else ()

    def users(self, symbol: str) -> tuple[Element, ...]:
        """Elements that mention a symbol in a subset, range or expression."""
        return tuple(self._users.get(symbol, ()))

    def definers(self, symbol: str) -> tuple[Element, ...]:
        """The `SymbolAssign` blocks of a symbol, or the loop or map whose parameter it is."""
        return tuple(self._definers.get(symbol, ()))

    def described_by(self, symbol: str) -> tuple[str, ...]:
        """Containers whose shape, strides or window mention a symbol."""
        return tuple(self._described.get(symbol, ()))

    def accesses(self, element: Element) -> Accesses:
        """Return the names that an element touches; it must be in the SDFG."""
        return self._accesses[element]

    def holds(self, element: Element) -> bool:
        """Return whether an element is in the SDFG (still)."""
        return element in self._accesses

    def views_of(self, container: str) -> tuple[str, ...]:
        """Views whose base is this container, directly."""
        return tuple(self._views.get(container, ()))

    def desc(self, container: str) -> Data:
        """The descriptor of a container, wherever it is declared."""
        return self._descs[container]

    def home(self, container: str) -> Region:
        """The region that declares a container."""
        return self._homes[container]

    def declared(self, container: str) -> bool:
        return container in self._descs

    def root(self, container: str) -> str:
        """The container whose buffer a name shows: itself, unless it is a view."""
        return base_of(container, self._descs.get)

    def overlapping(self, container: str) -> tuple[str, ...]:
        """All names that may show memory of this container: itself, its base, their views, and possible aliases."""
        if self._stands_alone(container):
            return (container,)
        found: dict[str, None] = {}
        pending = [container]
        while pending:
            name = pending.pop()
            if name in found:
                continue
            found[name] = None
            root = self.root(name)
            desc = self._descs.get(root)
            pending += [root, *self._views.get(name, ())]
            if isinstance(desc, Array) and desc.alias:
                pending += self._aliases[desc.alias]
        return tuple(found)

    def _stands_alone(self, container: str) -> bool:
        """Return whether it is plain memory, of which there are no views: nearly always."""
        desc = self._descs.get(container)
        plain = isinstance(desc, Scalar) or (isinstance(desc, Array) and not desc.alias)
        return plain and not self._views.get(container)

    def is_accessed(self, container: str) -> bool:
        """Return whether anything reads, writes or views a container."""
        return any(index.get(container) for index in (self._readers, self._writers, self._views))

    def is_unused(self, container: str) -> bool:
        """Return whether a container could go: nothing touches it, and neither the caller nor its declaration needs it.
        """
        if self.is_accessed(container) or (
            not self._descs[container].transient and container not in self.sdfg.constants
        ):
            return False
        owner = self._homes[container].owner
        declared = isinstance(owner, Node | Block) and container in owner.all_of(Role.DECLARED)
        return not declared and all(result.container != container for result in self.sdfg.results)

    def containers(self) -> tuple[str, ...]:
        """Names of all containers, nested regions included."""
        return tuple(self._descs)

    def is_private(self, container: str) -> bool:
        """Return whether it is a transient buffer of its own: no argument, view, stream or alias."""
        desc = self._descs.get(container)
        return desc is not None and desc.transient and not isinstance(desc, View | Stream)

    def ranges_at(self, place: TreeNode) -> Ranges:
        """Return the ranges of symbols at a place (`ir.analysis.dataflow.value_ranges`); assignments reset them."""
        if self._ranges is None:
            self._ranges = KnownRanges(self.sdfg)
        return self._ranges.at(place)

    def facts(self, element: Element) -> dict[Any, Any]:
        """Return the facts that analyses keep about an element and its contents; a change empties them."""
        return self._facts.setdefault(element, {})

    def all_facts(self, key: Hashable) -> Iterator[tuple[Element, Any]]:
        """The elements of which a fact is kept, with the fact."""
        yield from [(element, facts[key]) for element, facts in self._facts.items() if key in facts]

    def position(self, element: Element) -> int:
        """Return an element's position in program order, parents first; it is valid while elements are only removed."""
        if not self._positions:
            self._positions = {element: number for number, element in enumerate(subtree(self.sdfg.body))}
        return self._positions[element]

    def writers_between(self, container: str, first: Element, last: Element) -> list[Element]:
        """The writers of a container that stand after `first`, or in it, and before `last`, in program order."""
        start, stop = self.position(first), self.position(last)
        writers = self._ordered_writers.get(container)
        if writers is None:
            writers = self._ordered_writers[container] = sorted(self.writers(container), key=self.position)
        low, high = (bisect_left(writers, number, key=self.position) for number in (start + 1, stop))
        return writers[low:high]

    def group_of(self, element: Element, key_of: KeyOf) -> tuple[Element, ...]:
        """All elements with the key of this one; none where it has no key (None).

        The table of each `key_of` is made at the first question, and then kept current.
        """
        if key_of not in self._groups:
            self._groups[key_of] = ElementGroups(key_of, self._accesses)
        return self._groups[key_of].of(element)

    def differs_from(self, other: Uses) -> str:
        """The first thing that two indices of one SDFG disagree about; nothing where they agree."""
        for mine, its in ((self._descs, other._descs), (self._homes, other._homes), (self._accesses, other._accesses)):
            for name in dict.fromkeys((*mine, *its)):
                if mine.get(name) != its.get(name):
                    return name if isinstance(name, str) else f"a {name.kind}"
        return ""

    # -- upkeep, by the Rewriter -------------------------------------------------------------------------------

    def add_region(self, region: Region) -> None:
        """Enter all that a region declares and holds."""
        for name, desc in region.containers.items():
            self.declare(name, desc, region)
        for block in region.blocks:
            self.add(block)

    def add(self, element: Element) -> None:
        """Enter an element and all inside it."""
        self.forget_positions()
        self.refresh(element)
        for inner in children(element):
            self.add(inner)
        for region in bodies_of(element):
            for name, desc in region.containers.items():
                self.declare(name, desc, region)

    def remove(self, element: Element) -> None:
        """Forget an element and all inside it."""
        for inner in children(element):
            self.remove(inner)
        for region in bodies_of(element):
            for name in region.containers:
                self.undeclare(name)
        self._unlink(element, self._accesses.pop(element, Accesses()))
        for groups in self._groups.values():
            groups.remove(element)
        self._forget(element)

    def refresh(self, element: Element) -> Accesses:
        """Look again at one element that was changed; return what it touched before."""
        before = self._accesses.get(element, _NOTHING)
        after = accesses_of(element, self.callees.written_by)
        if before != after:
            if before is not _NOTHING:
                self._unlink(element, before)
            self._forget_ordered(after)
            for index, names in self._tables(after):
                for name in names:
                    index.setdefault(name, {})[element] = None
        self._accesses[element] = after
        for groups in self._groups.values():
            groups.refresh(element)
        self._forget(element)
        return before

    def forget_positions(self) -> None:
        """Forget positions, after elements were moved."""
        self._positions.clear()
        self._ordered_writers.clear()

    def _forget(self, element: Element) -> None:
        if isinstance(element, SymbolAssign):
            self._ranges = None
        self.forget_facts(element)

    def forget_facts(self, element: Element | None) -> None:
        """Forget what was found out about an element and all that it is in; of a container, `_forget_container`."""
        if not self._facts:
            return
        while element is not None:
            self._facts.pop(element, None)
            element = holder_of(element)

    def _forget_container(self, name: str, desc: Data) -> None:
        if not self._facts:
            return
        if isinstance(desc, Array) and desc.alias:
            self._facts.clear()
        pending = [name]
        while pending:
            shown = pending.pop()
            for element in self.accessors(shown):
                self.forget_facts(element)
            pending += self._views.get(shown, ())

    def declare(self, name: str, desc: Data, region: Region) -> None:
        """Enter a container."""
        self._forget_container(name, desc)
        self._descs[name], self._homes[name] = desc, region
        if isinstance(desc, View):
            self._views.setdefault(desc.of, {})[name] = None
        if isinstance(desc, Array) and desc.alias:
            self._aliases.setdefault(desc.alias, {})[name] = None
        for symbol in desc_symbols(desc):
            self._described.setdefault(symbol, {})[name] = None

    def undeclare(self, name: str) -> None:
        """Forget a container."""
        desc = self._descs.pop(name)
        self._forget_container(name, desc)
        del self._homes[name]
        if isinstance(desc, View):
            self._views[desc.of].pop(name, None)
        if isinstance(desc, Array) and desc.alias:
            self._aliases[desc.alias].pop(name, None)
        for symbol in desc_symbols(desc):
            self._described[symbol].pop(name, None)

    def arguments_accessed(self) -> AccessedArguments:
        """The containers of arguments and results that the SDFG may read, and those that it may write."""
        outside = {*self.sdfg.arguments, *(result.container for result in self.sdfg.results)}
        read, written = (
            {name for accessed in index for name in self.overlapping(accessed)}
            for index in (self._readers, self._writers)
        )
        return frozenset(outside & read), frozenset(outside & written)

    def _forget_ordered(self, accesses: Accesses) -> None:
        if self._ordered_writers:
            for name in accesses.writes:
                self._ordered_writers.pop(name, None)

    def _tables(self, accesses: Accesses) -> Iterator[tuple[dict[str, dict[Element, None]], tuple[str, ...]]]:
        yield self._readers, accesses.reads
        yield self._writers, accesses.writes
        yield self._users, accesses.symbols
        yield self._definers, accesses.defines

    def _unlink(self, element: Element, accesses: Accesses) -> None:
        self._forget_ordered(accesses)
        for index, names in self._tables(accesses):
            for name in names:
                index[name].pop(element, None)


class ElementGroups:
    """Elements by a key of an element alone: a hash table, such as value numbering needs."""

    def __init__(self, key_of: KeyOf, elements: Iterable[Element]) -> None:
        self._key_of = key_of
        self._members: dict[Hashable, dict[Element, None]] = {}
        self._keys: dict[Element, Hashable] = {}
        self._changed = dict.fromkeys(elements)  #: their keys are computed on demand

    def of(self, element: Element) -> tuple[Element, ...]:
        for changed in tuple(self._changed):
            self._enter(changed)
        self._changed.clear()
        key = self._keys.get(element)
        return () if key is None else tuple(self._members[key])

    def refresh(self, element: Element) -> None:
        self._changed[element] = None

    def remove(self, element: Element) -> None:
        self._changed.pop(element, None)
        if element in self._keys:
            del self._members[self._keys.pop(element)][element]

    def _enter(self, element: Element) -> None:
        key = self._key_of(element)
        if key != self._keys.get(element):
            self.remove(element)
            if key is not None:
                self._keys[element] = key
                self._members.setdefault(key, {})[element] = None


class CalleeAccesses:
    """Accesses of called SDFGs to their arguments, computed once for each."""

    def __init__(self) -> None:
        self._known: dict[Sdfg, AccessedArguments] = {}

    def read_by(self, callee: Sdfg) -> frozenset[str]:
        """The argument containers that a callee may read."""
        return self._accessed_by(callee)[0]

    def written_by(self, callee: Sdfg) -> frozenset[str]:
        """The argument containers that a callee may write."""
        return self._accessed_by(callee)[1]

    def _accessed_by(self, callee: Sdfg) -> AccessedArguments:
        if callee not in self._known:
            self._known[callee] = Uses(callee, self).arguments_accessed()
        return self._known[callee]


def accesses_of(element: Element, written_by: WrittenBy) -> Accesses:
    """Return the names that one element touches itself. `written_by` says which arguments a callee may write."""
    collected = _ElementAccessCollector()
    for name, role in element.roles.items():
        collected.of_role(role, held(getattr(element, name), role))
    for callee in element.callees():
        written = written_by(callee)
        for operand in element.operands():
            if operand.role is Role.PASSED and operand.connector in written:
                collected.writes[operand.memlet.container] = None
    return Accesses(tuple(collected.reads), tuple(collected.writes), tuple(collected.symbols), tuple(collected.defines))


def desc_symbols(desc: Data) -> tuple[str, ...]:
    """Symbols that a descriptor mentions."""
    names: dict[str, None] = {}
    exprs = [*desc.shape, *desc.strides]
    if isinstance(desc, Stream):
        exprs.append(desc.capacity)
    if isinstance(desc, Array) and desc.distribution is not None:
        names |= dict.fromkeys(desc.distribution.symbols)
    if isinstance(desc, View):
        exprs.append(desc.offset)
        if desc.window is not None:
            names |= dict.fromkeys(desc.window.symbols)
    for expr in exprs:
        names |= dict.fromkeys(expr.symbols)
    return tuple(names)


class _ElementAccessCollector:
    def __init__(self) -> None:
        self.reads: dict[str, None] = {}
        self.writes: dict[str, None] = {}
        self.symbols: dict[str, None] = {}
        self.defines: list[str] = []

    def of_role(self, role: Role, found: list[Any]) -> None:
        match role:
            case Role.READ | Role.PASSED:
                self.memlets(found, self.reads)
            case Role.WRITTEN:
                self.memlets(found, self.writes)
            case Role.CODE | Role.SCALAR:
                for expr in found:
                    self.expression(expr)
            case Role.BOUND:
                for bound in found:
                    self.mention(bound.symbols)
            case Role.DEFINED:
                self.defines += found
            case Role.WHOLE:
                self.reads |= dict.fromkeys(found)
                self.writes |= dict.fromkeys(found)

    def mention(self, names: Iterable[str]) -> None:
        for name in names:
            self.symbols[name] = None

    def memlets(self, memlets: Iterable[Memlet], table: dict[str, None]) -> None:
        symbols = self.symbols
        for memlet in memlets:
            table[memlet.container] = None
            for name in memlet.subset.symbols:
                symbols[name] = None

    def expression(self, expr: ScalarExpr) -> None:
        for part in walk(expr):
            if isinstance(part, Load):
                self.reads[part.container] = None
            for name in symbols_in(part):
                self.symbols[name] = None
