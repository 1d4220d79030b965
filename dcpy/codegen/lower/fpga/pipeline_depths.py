"""Pipeline depths: the longest path of latencies through an iteration, and what bounds how often one may start.

Latencies are estimates (`ir.fpga.boards`), by which loops are timed in simulation, and sums are interleaved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from math import prod

from dcpy.base.source import SrcSpan
from dcpy.codegen.fpga.cycle_model.process_time import QUEUE
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Cast, Infix, Intrinsic, Item, LirExpr, Literal, Name, Operation, Prefix
from dcpy.codegen.lir.traversal import bodies, children, expressions, names_in, parts
from dcpy.codegen.lir.types import Pointer
from dcpy.codegen.lower.fpga.loop_coalescing import is_pipelined, perfect_nest, trips
from dcpy.codegen.lower.fpga.pipeline_recurrences import (
    NestLoop,
    carried,
    dependence_distance,
    polynomial,
    reuse_distance,
)
from dcpy.ir.fpga.boards import MEMORY, latency
from dcpy.ir.types import DType

NEVER = -(1 << 40)  #: a stage before all others
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}


def with_depths(body: tree.Body) -> tree.Body:
    """The statements of a process, in which each pipelined loop knows its depth and its interval.

    Arrays that a process gets are in the memory beside the chip; those that it declares are on the chip.
    """
    memories = frozenset(name for name, kind in names_in(body).items() if isinstance(kind, Pointer))
    return _timed_body(body, (), memories)


def _timed_body(body: tree.Body, around: tuple[NestLoop, ...], memories: frozenset[str]) -> tree.Body:
    return tuple(_timed(statement, around, memories) for statement in body)


def _timed(statement: tree.Statement, around: tuple[NestLoop, ...], memories: frozenset[str]) -> tree.Statement:
    match statement:
        case tree.Loop(body=inside, marks=marks):
            axes = (NestLoop(statement.var, _count(statement)), *around)
            if not is_pipelined(statement):
                inner = axes if perfect_nest(statement) else ()
                return replace(statement, body=_timed_body(inside, inner, memories))
            path = _IterationTiming(memories, axes)
            path.body(inside)
            path.asks(max(path.moved.values(), default=1), QUEUE)
            if not any(isinstance(mark, tree.Pipelined) and mark.parallel for mark in marks):
                path.carry(inside, statement.var)
            return replace(statement, marks=tuple(_told(mark, path) for mark in marks))
        case tree.Compound(body=inside):
            return replace(statement, body=_timed_body(inside, around, memories))
        case tree.If(cases=cases, otherwise=otherwise):
            timed_cases = tuple((condition, _timed_body(inside, (), memories)) for condition, inside in cases)
            return replace(statement, cases=timed_cases, otherwise=_timed_body(otherwise, (), memories))
    return statement


def _told(mark: tree.Mark, path: _IterationTiming) -> tree.Mark:
    if not isinstance(mark, tree.Pipelined):
        return mark
    asked = path.carried > mark.ii
    return replace(
        mark, ii=max(mark.ii, path.carried), depth=max(path.deepest, 1), bound=path.bound if asked else mark.bound
    )


def _count(loop: tree.Loop) -> int | None:
    found = trips(loop) if loop.down is False else None
    return found.value if isinstance(found, Literal) and isinstance(found.value, int) else None


class _IterationTiming:
    """Cycles in which the variables of an iteration have their values, and what the next iteration waits for."""

    def __init__(self, memories: frozenset[str], axes: tuple[NestLoop, ...] = (), start: str = "") -> None:
        self.memories = memories
        self.axes = axes
        self.start = start  # a variable or array: only what depends on it counts
        self.ready: dict[str, int] = {}
        self.own: set[str] = set()
        self.deepest = 0
        self.carried = 1
        self.bound = ""
        self.reached: int | None = None  # when the value is there that `start` gets
        self.span: SrcSpan | None = None
        self.moved: Counter[str] = Counter()  # tokens of each queue
        self.copies = 1  # of what stands in loops that are written out

    def body(self, body: tree.Body) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: tree.Statement) -> None:
        match statement:
            case tree.Declare(name=name, value=value):
                self.own.add(name)
                self.ready[name] = self.of(value) if value is not None else self.nothing
            case tree.StackBuffer(name=name):
                self.own.add(name)
            case tree.Assign(target=Name(name=name), value=value):
                self.ready[name] = self.of(value)
                self.reaches(name, self.ready[name], statement)
            case tree.Assign(target=Item(base=Name(name=name), index=index), value=value):
                self.ends(max(self.of(index), self.of(value)))
                self.reaches(name, self.of(value), statement)
            case tree.Update(target=target, value=value, op=op):
                self.update(statement, latency(op.op, op.dtype))
                self.ends(max(self.of(value), self.of(target)) + latency(op.op, op.dtype))
            case _:
                for expr in expressions(statement):
                    self.ends(self.of(expr))
        for name in _queues(statement):
            self.moved[name] += self.copies
        axes, copies, unrolled = self.axes, self.copies, _unrolled(statement)
        self.axes, self.copies = (*unrolled, *axes), copies * prod(axis.count or 1 for axis in unrolled)
        for inside in bodies(statement):
            self.body(inside)
        self.axes, self.copies = axes, copies
        self.ends(max(self.ready.values(), default=0))

    @property
    def nothing(self) -> int:
        """The stage of what needs no input that counts."""
        return NEVER if self.start else 0

    def update(self, statement: tree.Update, cycles: int) -> None:
        """A sum into a place that later iterations sum into, too."""
        target = statement.target
        if isinstance(target, Name):
            distance = None if target.name in self.own else 1
        elif isinstance(target, Item) and isinstance(target.base, Name):
            distance = None if target.base.name in self.own else reuse_distance(target.index, self.axes)
            cycles += MEMORY if target.base.name in self.memories else 1
        else:
            distance = 1
        if distance is not None:
            self.asks(-(-cycles // distance), f"the sum{_line(statement)}: {statement.op.op} takes {cycles} cycles")

    def reaches(self, name: str, stage: int, statement: tree.Statement) -> None:
        if name == self.start and stage >= 0:
            self.reached = max(self.reached or 0, stage)
            self.span = statement.span

    def asks(self, interval: int, why: str) -> None:
        if interval > self.carried:
            self.carried, self.bound = interval, why

    def carry(self, body: tree.Body, variable: str) -> None:
        """Look for values that an iteration needs of an earlier one."""
        for name, reads, writes in carried(body):
            distances = [self.distance(read, written, variable) for read in reads for written in writes]
            near = min((distance for distance in distances if distance is not None), default=None)
            if reads and near is None:
                continue
            path = _IterationTiming(self.memories, self.axes, name)
            path.body(body)
            if path.reached is not None:
                line = f" in line {path.span.line}" if path.span else ""
                why = f"what each iteration needs of one before, {name}{line}: it takes {path.reached} cycles"
                self.asks(-(-path.reached // max(near or 1, 1)), why)

    def distance(self, read: LirExpr, written: LirExpr, variable: str) -> int | None:
        """Iterations after which what is written is read; None: never."""
        if len(self.axes) > 1 and (place := polynomial(read)) is not None and place == polynomial(written):
            return reuse_distance(read, self.axes)
        return dependence_distance(read, written, variable)

    def ends(self, stage: int) -> None:
        self.deepest = max(self.deepest, stage)

    def of(self, expr: LirExpr) -> int:
        """The stage in which an expression has its value."""
        if isinstance(expr, Name):
            return self.ready.get(expr.name, 0 if expr.name == self.start else self.nothing)
        before = max((self.of(child) for child in children(expr)), default=self.nothing)
        match expr:
            case Item(base=Name(name=name)):
                if name == self.start:
                    before = max(before, 0)
                return before + (MEMORY if name in self.memories else 1)
            case Infix(op=op, type=DType() as dtype) if op in OPERATORS:
                return before + latency(OPERATORS[op], dtype)
            case Operation(name=name, dtype=dtype):
                return before + latency(name, dtype)
            case Prefix() | Cast() | Intrinsic():
                return before
        return before


def _unrolled(statement: tree.Statement) -> tuple[NestLoop, ...]:
    """The axis of a loop that is written out: its iterations are part of one of the pipeline."""
    if not isinstance(statement, tree.Loop):
        return ()
    return (NestLoop(statement.var, _count(statement)),)


def _queues(statement: tree.Statement) -> Iterator[str]:
    """The queues that a statement itself goes to, once for each token."""
    for expr in expressions(statement):
        for part in parts(expr):
            match part:
                case Intrinsic(name="put" | "take", args=(Name(name=name), *_)):
                    yield name


def _line(statement: tree.Statement) -> str:
    return f" in line {statement.span.line}" if statement.span else ""
