"""Runs blocks and nodes: the meaning of each element of the IR, a few lines each.

Everything runs in the order that the SDFG states. The iterations of a map that is only claimed to be parallel are
watched for dependences (`race_detection`). In strict mode all maps are, and run in a shuffled order.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterable, Iterator
from enum import Enum, auto
from functools import singledispatchmethod
from typing import Any

from dcpy.base import process_scheduling
from dcpy.base.errors import DcpyError, InterpreterError
from dcpy.base.process_scheduling import run_network
from dcpy.ir.interp.data_movement import DataMovement
from dcpy.ir.interp.exceptions import exception_of, placed_at
from dcpy.ir.interp.frame import InterpreterFrame
from dcpy.ir.interp.memory import queue_name, range_of
from dcpy.ir.interp.race_detection import RaceDetector
from dcpy.ir.interp.scalars import IndexOutOfRange, wrap_integer
from dcpy.ir.nodes import Call, Callback, Copy, ForeignCall, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import (
    Block,
    Branch,
    Break,
    Check,
    Continue,
    Dataflow,
    Loop,
    Process,
    Region,
    Resize,
    Return,
    State,
    SymbolAssign,
    While,
)
from dcpy.ir.types import int64


class Continuation(Enum):
    """Continuation after a block."""

    GO_ON = auto()
    BREAK = auto()
    CONTINUE = auto()
    RETURN = auto()


class Machine(DataMovement):
    """Runs one activation of an SDFG, and those that it calls."""

    def __init__(self, frame: InterpreterFrame, detectors: list[RaceDetector], shuffle: random.Random | None) -> None:
        super().__init__(frame, detectors)
        self.shuffle = shuffle

    def run_region(self, region: Region) -> Continuation:
        """Run the blocks in order; containers declared here live until the end."""
        if not region.containers:
            return self._run_blocks(region)
        with self.frame.declared(region.containers):
            return self._run_blocks(region)

    def _run_blocks(self, region: Region) -> Continuation:
        for block in region.blocks:
            try:
                then = self.run_block(block)
            except IndexOutOfRange as error:
                raise placed_at(block, error) from None
            if then is not Continuation.GO_ON:
                return then
        return Continuation.GO_ON

    # -- blocks ------------------------------------------------------------------------------------------------

    def run_block(self, block: Block) -> Continuation:
        """Run a block; return how control goes on."""
        then: Continuation = _BLOCKS[type(block)](self, block)
        return then

    @singledispatchmethod
    def _run_block(self, block: Block) -> Continuation:
        raise InterpreterError(f"the interpreter knows no block {block.kind!r}", span=block.span)

    @_run_block.register
    def _(self, block: State) -> Continuation:
        for node in block.nodes:
            try:
                self.run_node(node)
            except IndexOutOfRange as error:
                raise placed_at(node, error) from None
        return Continuation.GO_ON

    @_run_block.register
    def _(self, block: Loop) -> Continuation:
        outer = self.symbols.get(block.param)
        then = Continuation.GO_ON
        for value in range_of(block.range, self.symbols):
            self.symbols[block.param] = value
            then = self.run_region(block.body)
            if then in (Continuation.BREAK, Continuation.RETURN):
                break
        self._restore({block.param: outer})
        return then if then is Continuation.RETURN else Continuation.GO_ON

    @_run_block.register
    def _(self, block: While) -> Continuation:
        while self.value(block.condition):
            then = self.run_region(block.body)
            if then is Continuation.RETURN:
                return then
            if then is Continuation.BREAK:
                break
        return Continuation.GO_ON

    @_run_block.register
    def _(self, block: Branch) -> Continuation:
        for condition, body in block.cases:
            if self.value(condition):
                return self.run_region(body)
        return Continuation.GO_ON if block.otherwise is None else self.run_region(block.otherwise)

    @_run_block.register
    def _(self, block: SymbolAssign) -> Continuation:
        dtype = self.frame.sdfg.assigned_symbols.get(block.symbol, int64)
        self.symbols[block.symbol] = wrap_integer(int(self.value(block.value)), dtype)
        return Continuation.GO_ON

    @_run_block.register
    def _(self, block: Resize) -> Continuation:
        kept = block.kept.evaluate(self.symbols)
        value = wrap_integer(int(self.value(block.value)), int64)
        with self.frame.resized(block.container, kept):
            self.symbols[block.symbol] = value
        return Continuation.GO_ON

    @_run_block.register
    def _(self, block: Check) -> Continuation:
        if not self.value(block.condition):
            values = [self.value(value) for value in block.values]
            error = exception_of(block, values)
            if not isinstance(error, Warning):
                raise error
            warnings.warn(error, stacklevel=2)
        return Continuation.GO_ON

    @_run_block.register
    def _(self, block: Dataflow) -> Continuation:
        with self.frame.declared(block.body.containers):
            found = [(node, point) for node in block.body.blocks if isinstance(node, Process)
                     for point in list(self._points(node))]  # fmt: skip
            order = list(range(len(found)))
            if self.shuffle is not None:
                self.shuffle.shuffle(order)
            run_network([self._process(node, point) for node, point in found], order)
        return Continuation.GO_ON

    def _process(self, node: Process, point: tuple[int, ...]) -> process_scheduling.ScheduledProcess:
        """A process with symbols and containers of its own, besides those that it shares."""
        frame = self.frame.fork()
        frame.symbols.update(zip(node.params, point, strict=True))
        machine = Machine(frame, [], self.shuffle)
        title = queue_name(node.name, point)
        return process_scheduling.ScheduledProcess(
            node.name, lambda: machine.run_region(node.body), node.endless, title
        )

    @_run_block.register
    def _(self, block: Break) -> Continuation:
        return Continuation.BREAK

    @_run_block.register
    def _(self, block: Continue) -> Continuation:
        return Continuation.CONTINUE

    @_run_block.register
    def _(self, block: Return) -> Continuation:
        return Continuation.RETURN

    # -- nodes -------------------------------------------------------------------------------------------------

    def run_node(self, node: Node) -> None:
        """Run a node."""
        _NODES[type(node)](self, node)

    @singledispatchmethod
    def _run_node(self, node: Node) -> None:
        raise InterpreterError(f"the interpreter knows no node {node.kind!r}", span=node.span)

    @_run_node.register
    def _(self, node: Tasklet) -> None:
        self.run_tasklet(node)

    @_run_node.register
    def _(self, node: Copy) -> None:
        self.run_copy(node)

    @_run_node.register
    def _(self, node: LibraryNode) -> None:
        self.run_library_node(node)

    @_run_node.register
    def _(self, node: ForeignCall) -> None:
        raise InterpreterError(
            f"{node.function!r} is a foreign function: the interpreter cannot call it",
            span=node.span,
            help="interpret the SDFG before its library nodes are expanded, or expand them to 'pure'",
        )

    @_run_node.register
    def _(self, node: Callback) -> None:
        self.run_callback(node)

    @_run_node.register
    def _(self, node: Map) -> None:
        outside = dict(self.symbols)
        points: Iterable[tuple[int, tuple[int, ...]]] = enumerate(self._points(node))  # there may be very many
        failures: dict[int, Exception] = {}
        detector = None
        if self.shuffle is not None:
            points = list(points)
            self.shuffle.shuffle(points)
        if self.shuffle is not None or node.claimed:
            detector = RaceDetector(node, self.frame.depth, allows_equal_writes=self.shuffle is None)
            self.detectors.append(detector)
        self.frame.depth += 1
        for place, point in points:
            if detector is not None:
                detector.iteration = point
            self.symbols.update(zip(node.params, point, strict=True))
            try:
                self.run_region(node.body)
            except DcpyError:
                raise
            except Exception as error:
                failures[place] = error
                if self.shuffle is None:
                    break
            self.symbols.clear()
            self.symbols.update(outside)
        self.frame.depth -= 1
        if detector is not None:
            self.detectors.pop()
        if failures:
            raise failures[min(failures)]

    def _points(self, node: Map | Process) -> Iterator[tuple[int, ...]]:
        """The points of a domain; the bounds of an axis may mention the parameters before it."""
        symbols = dict(self.symbols)

        def along(axis: int) -> Iterator[tuple[int, ...]]:
            if axis == len(node.params):
                yield tuple(symbols[name] for name in node.params)
                return
            for value in range_of(node.domain[axis], symbols):
                symbols[node.params[axis]] = value
                yield from along(axis + 1)

        return along(0)

    @_run_node.register
    def _(self, node: Call) -> None:
        with self.called(node) as frame:
            Machine(frame, self.detectors, self.shuffle).run_region(node.sdfg.body)

    def _restore(self, values: dict[str, int | None]) -> None:
        """Give symbols the values that they had outside of a scope; None: they had none."""
        for name, value in values.items():
            if value is None:
                self.symbols.pop(name, None)
            else:
                self.symbols[name] = value


class _Implementations(dict[type, Callable[[Machine, Any], Any]]):
    """Functions of one method by kind of block or node: Python's own way to find them makes a function at each call."""

    def __init__(self, method: str) -> None:
        super().__init__()
        self.method = method

    def __missing__(self, kind: type) -> Callable[[Machine, Any], Any]:
        found: Callable[[Machine, Any], Any] = vars(Machine)[self.method].dispatcher.dispatch(kind)
        self[kind] = found
        return found


_BLOCKS, _NODES = _Implementations("_run_block"), _Implementations("_run_node")
