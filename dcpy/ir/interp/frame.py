"""One activation of an SDFG: the values of its symbols, and its containers by name.

A container comes into being when it is first touched after its region was entered, because its size may mention
symbols that the region assigns first. Views are looked at anew whenever the symbols in them have changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from dcpy.base.errors import InterpreterError
from dcpy.ir.analysis.dataflow.def_use import desc_symbols
from dcpy.ir.data import Array, Data, Scalar, Stream, View
from dcpy.ir.interp.memory import Buffer, NDArray, StreamQueues, allocate, show, sizes_of
from dcpy.ir.sdfg import Sdfg

Memory = Buffer | StreamQueues


@dataclass(slots=True)
class DeclaredContainer:
    """A container that is visible: its descriptor, how many iterations are around it, its memory once it exists."""

    desc: Data
    depth: int
    memory: Memory | None = None
    sizes: tuple[int, ...] = ()


@dataclass(slots=True)
class InterpreterFrame:
    """The symbols and containers of one activation."""

    sdfg: Sdfg
    symbols: dict[str, int]
    containers: dict[str, DeclaredContainer] = field(default_factory=dict)
    depth: int = 0
    _views: dict[str, tuple[Buffer, tuple[int | None, ...], Buffer]] = field(default_factory=dict)

    @contextmanager
    def declared(self, containers: dict[str, Data]) -> Iterator[None]:
        """Within: containers exist, undefined at first. Those that exist already (arguments) stay as they are."""
        fresh = [name for name, desc in containers.items() if name not in self.containers]
        for name, desc in containers.items():
            if name in fresh:
                self.containers[name] = DeclaredContainer(desc, self.depth)
        try:
            yield
        finally:
            for name in fresh:
                del self.containers[name]

    def fork(self) -> InterpreterFrame:
        """One for a process: it sees what is here; symbols that it assigns, and what it declares, are its own."""
        return InterpreterFrame(self.sdfg, dict(self.symbols), dict(self.containers), self.depth)

    def bind(self, name: str, data: NDArray, depth: int, start: NDArray | None = None) -> None:
        """Give an argument its memory."""
        desc = self.sdfg.containers[name]
        memory = Buffer(data, data if start is None else start, depth)
        self.containers[name] = DeclaredContainer(desc, depth, memory, data.shape)

    def desc(self, name: str) -> Data:
        """The descriptor of a visible container."""
        return self._entry(name).desc

    def memory(self, name: str) -> Memory:
        """The memory of a container, made at the first call; a view's is its base's."""
        entry = self._entry(name)
        if entry.memory is not None and isinstance(entry.desc, Scalar):  # most accesses, and never another size
            return entry.memory
        match entry.desc:
            case View():
                return self._view(name, entry.desc)
            case Scalar() | Array() if entry.memory is None:
                entry.sizes = sizes_of(entry.desc.shape, self.symbols)
                data = allocate(entry.desc, self.symbols)
                if name in self.sdfg.constants:
                    data[...] = self.sdfg.constants[name]
                entry.memory = Buffer(data, data, entry.depth)
            case Stream() if entry.memory is None:
                shape = sizes_of(entry.desc.shape, self.symbols)
                capacity = entry.desc.capacity.evaluate(self.symbols)
                entry.memory = StreamQueues(entry.desc.dtype, shape, capacity, entry.desc.token)
            case Array() if sizes_of(entry.desc.shape, self.symbols) != entry.sizes:
                raise InterpreterError(f"the size of {name!r} changed while it lives", span=entry.desc.span)
        assert entry.memory is not None  # every kind of descriptor has its case above
        return entry.memory

    def buffer(self, name: str) -> Buffer:
        """The elements of a container, through views; `InterpreterError` for a stream."""
        memory = self.memory(name)
        if isinstance(memory, StreamQueues):
            raise InterpreterError(f"{name!r} is a stream: it has no elements to address")
        return memory

    @contextmanager
    def resized(self, name: str, kept: int) -> Iterator[None]:
        """Within, the symbol of an array's first size changes: it gets other memory, and keeps its first items."""
        before = self.buffer(name).data[: max(kept, 0)]
        entry = self._entry(name)
        yield
        entry.memory = None
        self.buffer(name).data[: len(before)] = before

    def _entry(self, name: str) -> DeclaredContainer:
        try:
            return self.containers[name]
        except KeyError:
            raise InterpreterError(f"no container {name!r} is visible here, in {self.sdfg.name!r}") from None

    def _view(self, name: str, view: View) -> Buffer:
        base = self.buffer(view.of)
        used = tuple(self.symbols.get(symbol) for symbol in desc_symbols(view))
        known = self._views.get(name)
        if known is None or known[0] is not base or known[1] != used:
            known = self._views[name] = base, used, show(base, self.desc(view.of), view, self.symbols)
        return known[2]
