"""Pipeline depths: the longest path of latencies through an iteration, and what bounds how often one may start.

Latencies are in cycles at about 300 MHz, typical of what HLS tools choose for their cores: estimates, by which loops
are timed in simulation, and nothing else.
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Cast, Infix, Intrinsic, Item, LirExpr, Name, Operation, Prefix
from dcpy.codegen.lir.walk import bodies, children, expressions
from dcpy.ir.types import DType

MEMORY = 20  #: from the address to the value, in the memory beside the chip
FLOAT = {
    "add": 8, "sub": 8, "mul": 4, "truediv": 28, "div": 28, "sqrt": 28, "exp": 20, "log": 24, "pow": 80, "sin": 40,
    "cos": 40, "tan": 60, "tanh": 60,
}  # fmt: skip
DOUBLED = 2  #: for numbers of 64 bits, about
INTEGER = {"mul": 3, "floordiv": 36, "mod": 36, "truediv": 40}
OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}


def latency(name: str, dtype: DType) -> int:
    """Cycles of an operation on values of a dtype."""
    if dtype.kind == "f":
        return FLOAT.get(name, 2) * (DOUBLED if dtype.itemsize == 8 and name in FLOAT else 1)
    return INTEGER.get(name, 0) if dtype.kind in "iu" else 0


def with_depths(body: tree.Body) -> tree.Body:
    """The statements, in which each pipelined loop knows its depth and its interval."""
    return tuple(map(_timed, body))


def _timed(statement: tree.Statement) -> tree.Statement:
    match statement:
        case tree.Loop(body=inside, marks=marks) if any(isinstance(mark, tree.Pipelined) for mark in marks):
            path = _Path()
            path.body(inside)
            timed = tuple(
                replace(mark, ii=max(mark.ii, path.carried), depth=max(path.deepest, 1), bound=path.bound)
                if isinstance(mark, tree.Pipelined)
                else mark
                for mark in marks
            )
            return replace(statement, marks=timed)
        case tree.Loop(body=inside) | tree.Block(body=inside):
            return replace(statement, body=with_depths(inside))
        case tree.If(cases=cases, otherwise=otherwise):
            timed_cases = tuple((condition, with_depths(inside)) for condition, inside in cases)
            return replace(statement, cases=timed_cases, otherwise=with_depths(otherwise))
    return statement


class _Path:
    """When each variable of an iteration has its value."""

    def __init__(self) -> None:
        self.ready: dict[str, int] = {}
        self.own: set[str] = set()
        self.deepest = 1
        self.carried = 1
        self.bound = ""

    def body(self, body: tree.Body) -> None:
        for statement in body:
            self.statement(statement)

    def statement(self, statement: tree.Statement) -> None:
        match statement:
            case tree.Declare(name=name, value=value):
                self.own.add(name)
                self.ready[name] = 0 if value is None else self.of(value)
            case tree.Assign(target=Name(name=name), value=value):
                self.ready[name] = self.of(value)
            case tree.Assign(target=Item(index=index), value=value):
                self.ends(max(self.of(index), self.of(value)))
            case tree.Update(target=target, value=value, op=op):
                cycles = latency(op.op, op.dtype)
                if not (isinstance(target, Name) and target.name in self.own) and cycles > self.carried:
                    self.carried = cycles
                    line = f" in line {statement.span.line}" if statement.span else ""
                    self.bound = f"the sum{line}: {op.op} takes {cycles} cycles" if cycles > 1 else ""
                self.ends(max(self.of(value), self.of(target)) + cycles)
            case _:
                for expr in expressions(statement):
                    self.ends(self.of(expr))
        for inside in bodies(statement):
            self.body(inside)
        self.ends(max(self.ready.values(), default=0))

    def ends(self, stage: int) -> None:
        self.deepest = max(self.deepest, stage)

    def of(self, expr: LirExpr) -> int:
        """The stage in which an expression has its value."""
        before = max((self.of(child) for child in children(expr)), default=0)
        match expr:
            case Name(name=name):
                return self.ready.get(name, 0)
            case Item(base=Name(name=name)):
                return before + (1 if name in self.own else MEMORY)
            case Infix(op=op, type=DType() as dtype) if op in OPERATORS:
                return before + latency(OPERATORS[op], dtype)
            case Operation(name=name, dtype=dtype):
                return before + latency(name, dtype)
            case Prefix() | Cast() | Intrinsic():
                return before
        return before

