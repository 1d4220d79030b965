"""Data movement: reads and writes of memlets, tasklets, copies, library nodes, arguments of calls.

All bounds are checked here, and every element that is touched is reported to the race detectors that watch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sized
from contextlib import contextmanager
from typing import Any

import numpy as np

from dcpy.base.callback_sites import perform, require_bound
from dcpy.base.errors import DcpyError, InterpreterError, OutOfBounds
from dcpy.base.process_scheduling import wait
from dcpy.ir.communication import CommNode, communicate
from dcpy.ir.expressions.scalar import Load, ScalarExpr
from dcpy.ir.interp.argument_strides import fitting
from dcpy.ir.interp.exceptions import raising
from dcpy.ir.interp.frame import InterpreterFrame
from dcpy.ir.interp.memory import Buffer, NDArray, StreamQueues, addresses, index_of, poison, queue_name
from dcpy.ir.interp.race_detection import READ, WRITE, RaceDetector
from dcpy.ir.interp.scalars import LeafValues, combine, evaluate, loud
from dcpy.ir.library.callback_table import operand_memlets, site_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Callback, Copy, LibraryNode, Node, Tasklet
from dcpy.ir.subsets import Range, Subset


class DataMovement:
    """The data of one activation, and what the nodes that hold no region do with it."""

    def __init__(self, frame: InterpreterFrame, detectors: list[RaceDetector]) -> None:
        self.frame = frame
        self.symbols = frame.symbols
        self.detectors = detectors

    # -- nodes -------------------------------------------------------------------------------------------------

    def run_tasklet(self, node: Tasklet) -> None:
        """Read all inputs, evaluate the code, write all outputs."""
        values = {connector: self._operand(memlet, node) for connector, memlet in node.inputs.items()}
        env = LeafValues(self.symbols, values, self._no_load)
        for name, expr in node.code:
            values[name] = evaluate(expr, env)
        for connector, memlet in node.outputs.items():
            self.write(memlet, values[connector], node)

    def run_copy(self, node: Copy) -> None:
        """Read the whole source, then write it; pop and push where one is a stream."""
        if isinstance(stream := self.frame.memory(node.src.container), StreamQueues):
            values = self._popped(stream, node)
        else:
            values = self.read(node.src, node)
        self.write(node.dst, values, node)
        if node.moves:
            self.frame.buffer(node.src.container).data[...] = poison(self.frame.desc(node.src.container).dtype)

    def run_library_node(self, node: LibraryNode) -> None:
        """Let the node compute on copies of its inputs, then combine its outputs with what is in memory."""
        inputs = {connector: self.read(memlet, node) for connector, memlet in node.inputs.items()}
        outputs = {}
        for connector, memlet in node.outputs.items():
            target = self.frame.buffer(memlet.container)
            outputs[connector] = target.data[(*self._index(memlet, target, node), ...)].copy()
        with raising(node):
            if isinstance(node, CommNode):
                communicate(node, self.frame.sdfg.grids, self.symbols, inputs, outputs)
            else:
                node.meaning(inputs, outputs)
        for connector, memlet in node.outputs.items():
            self.write(memlet, outputs[connector], node)

    def run_callback(self, node: Callback) -> None:
        """Call a Python function on views of the memory; a function that does not write gets read-only ones."""
        site = site_of(node, self.frame.desc)
        require_bound((site,), self.frame.sdfg.callbacks)
        operands = {}
        for operand, memlet in operand_memlets(node, site):
            target = self.frame.buffer(memlet.container)
            part = target.data[(*self._index(memlet, target, node), ...)]
            if not operand.writable:
                part.flags.writeable = False
            operands[operand.name] = part
            for how in (READ,) * (not operand.result) + (WRITE,) * operand.writable:
                self._note(part, how, target, memlet.container)
        with loud():
            perform(site, self.frame.sdfg.callbacks, operands)

    @contextmanager
    def called(self, node: Call) -> Iterator[InterpreterFrame]:
        """Within: the frame of a callee, whose containers are the subsets that the memlets name."""
        symbols = {name: value.evaluate(self.symbols) for name, value in node.symbols.items()}
        frame = InterpreterFrame(node.sdfg, symbols, depth=self.frame.depth)
        copies: list[tuple[NDArray, NDArray]] = []
        for name, desc in node.sdfg.containers.items():
            memlet = node.arguments.get(name)
            if memlet is None:
                continue
            source = self.frame.buffer(memlet.container)
            actual = source.data[(*self._index(memlet, source, node), ...)]
            data = fitting(name, desc, actual, symbols)
            if data is not actual:
                copies.append((actual, data))
            frame.bind(name, data, source.depth)
        yield frame
        for actual, data in copies:
            if actual.flags.writeable:
                actual[...] = data

    # -- memlets -----------------------------------------------------------------------------------------------

    def read(self, memlet: Memlet, node: Node) -> NDArray:
        """A copy of the elements that a memlet names, in the shape of the dimensions that it keeps; pops a stream."""
        memory = self.frame.memory(memlet.container)
        if isinstance(memory, StreamQueues):
            return np.asarray(self._pop(memory, memlet, node), memory.dtype.numpy)
        part = memory.data[(*self._index(memlet, memory, node), ...)]
        self._note(part, READ, memory, memlet.container)
        return part.copy()

    def _operand(self, memlet: Memlet, node: Node) -> Any:
        """The same as a scalar, where it is one element: what nobody watches needs no address."""
        memory = None if self.detectors else self.frame.memory(memlet.container)
        if not isinstance(memory, Buffer):
            return self.read(memlet, node)[()]
        found = memory.data[self._index(memlet, memory, node)]
        return found.copy() if isinstance(found, np.ndarray) else found

    def write(self, memlet: Memlet, values: Any, node: Node) -> None:
        """Write values to the elements that a memlet names, or combine them; push to a stream."""
        memory = self.frame.memory(memlet.container)
        if isinstance(memory, StreamQueues):
            self._push(memory, memlet, values, node)
            return
        part = memory.data[(*self._index(memlet, memory, node), ...)]
        if part.shape != values.shape or part.dtype != values.dtype:
            raise InterpreterError(
                f"{memlet} takes {part.dtype}{list(part.shape)}, not {values.dtype}{list(values.shape)}",
                span=node.span,
            )
        self._note(part, memlet.wcr or WRITE, memory, memlet.container, values)
        part[...] = combine(memlet.wcr, part, values) if memlet.wcr else values

    def value(self, expr: ScalarExpr) -> Any:
        """The value of a condition, or of what is assigned to a symbol."""
        return evaluate(expr, LeafValues(self.symbols, {}, self._load))

    def _load(self, load: Load) -> Any:
        source = self.frame.buffer(load.container)
        memlet = Memlet(load.container, Subset(load.indices))
        part = source.data[(*self._index(memlet, source, None), ...)]
        self._note(part, READ, source, load.container)
        return part[()]

    @staticmethod
    def _no_load(load: Load) -> Any:
        raise InterpreterError(f"a tasklet reads {load.container!r} without a memlet")

    def _index(self, memlet: Memlet, buffer: Buffer, node: Node | None) -> tuple[Any, ...]:
        """The NumPy index of a memlet's subset; errors name the memlet and the node."""
        try:
            return index_of(memlet.subset, buffer.data.shape, self.symbols)
        except DcpyError as error:
            where = "a condition" if node is None else f"the {node.kind} {getattr(node, 'name', '')}".rstrip()
            values = ", ".join(f"{name} = {self.symbols.get(name)}" for name in memlet.subset.symbols)
            raise OutOfBounds(
                f"{memlet}, of {where}: {error.message}",
                span=None if node is None else node.span,
                notes=(f"here {values}",) if values else (),
            ) from None

    def _note(self, part: NDArray, how: str, buffer: Buffer, container: str, values: Any = ()) -> None:
        """Tell the detectors that elements are read or written, and which `values` are."""
        if not self.detectors:
            return
        watching = [detector for detector in self.detectors if buffer.depth <= detector.depth]
        if watching:
            places = addresses(part)
            for detector in watching:
                detector.note(places, how, container, np.ravel(values).tolist() if detector.allows_equal_writes else ())

    # -- streams -----------------------------------------------------------------------------------------------

    def _popped(self, stream: StreamQueues, node: Copy) -> NDArray:
        """The next elements, as many as the destination of a copy takes."""
        shape = tuple(
            len(range(*(edge.evaluate(self.symbols) for edge in (dim.start, dim.stop, dim.step))))
            for dim in node.dst.subset.dims
            if isinstance(dim, Range)
        )
        values = np.empty(shape, stream.dtype.numpy)
        for position in np.ndindex(_in_tokens(shape, stream)):
            values[position] = self._pop(stream, node.src, node)
        return values

    def _pop(self, stream: StreamQueues, memlet: Memlet, node: Node) -> Any:
        point = self._point(stream, memlet, node)
        queue = stream.at(point)
        what = f"for an element of {queue_name(memlet.container, point)!r}, which is empty"
        wait(lambda: bool(queue), what, lambda: _fill(queue, stream.capacity))
        return queue.popleft()

    def _push(self, stream: StreamQueues, memlet: Memlet, values: Any, node: Node) -> None:
        point = self._point(stream, memlet, node)
        queue, capacity = stream.at(point), stream.capacity
        what = f"for room in {queue_name(memlet.container, point)!r}, which is full"
        _in_tokens(np.shape(values), stream)
        for value in np.array(values).reshape(-1, *stream.token):
            wait(lambda: capacity <= 0 or len(queue) < capacity, what, lambda: _fill(queue, capacity))
            queue.append(value)

    def _point(self, stream: StreamQueues, memlet: Memlet, node: Node) -> tuple[int, ...]:
        point = tuple(index.evaluate(self.symbols) for index in memlet.subset.indices)
        inside = len(point) == len(stream.shape) and all(
            0 <= index < size for index, size in zip(point, stream.shape, strict=True)
        )
        if not inside:
            raise OutOfBounds(f"{memlet} names a queue that the stream does not have", span=node.span)
        return point


def _fill(queue: Sized, capacity: int) -> str:
    """Return how full a queue is, in words; one without bounds holds any number."""
    return f"{len(queue)} of {capacity}" if capacity > 0 else f"{len(queue)}, without bounds"


def _in_tokens(shape: tuple[int, ...], stream: StreamQueues) -> tuple[int, ...]:
    """The dimensions that are left of an array where its last ones are those of a token; each point is one token."""
    outer = len(shape) - len(stream.token)
    if outer < 0 or shape[outer:] != stream.token:
        raise OutOfBounds(f"{list(shape)} elements are not made of tokens of {list(stream.token)}")
    return shape[:outer]
