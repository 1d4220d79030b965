"""Resources of a network: operators, each once for every copy that is written out, memories, and queues."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from dcpy.codegen.fpga.cycle_model.integer_evaluation import iterations
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, LirExpr, Literal, Operation
from dcpy.codegen.lir.traversal import bodies, expressions, parts
from dcpy.ir.fpga.boards import Board
from dcpy.ir.types import DType

SHALLOW = 32  #: places of a queue in tables of logic, as a shift register; deeper ones are in blocks of memory
Operators = Counter[tuple[str, DType]]  #: how many of each operation on values of a dtype
NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}  #: of what C has signs for


@dataclass(frozen=True, slots=True)
class Memory:
    """So many pieces of a local array or queues, each with elements of so many bytes."""

    pieces: int
    elements: int
    width: int
    is_queue: bool = False

    def rams(self, board: Board) -> int:
        """Blocks of memory: a piece is in blocks of its own. Shallow queues are in none."""
        if self.is_queue and self.elements <= SHALLOW:
            return 0
        return self.pieces * -(-self.elements * self.width // board.ram_bytes)

    def luts(self, board: Board) -> int:
        """Tables of logic: one for each bit of a shallow queue, of up to 32 places."""
        return 0 if self.rams(board) else self.pieces * self.width * 8


def memories_of(body: tree.Body) -> tuple[Memory, ...]:
    """The local arrays and queues that a process or a kernel declares; registers are none."""
    found: list[Memory] = []
    for statement in body:
        match statement:
            case tree.StackBuffer(element=DType() as element, count=count, cut=cut):
                if cut is None or cut.style != "complete":
                    pieces = max(cut.factor, 1) if cut else 1
                    found.append(Memory(pieces, -(-count // pieces), element.itemsize))
            case tree.Queues(element=element, count=Literal(value=int(count)), capacity=Literal(value=int(capacity))):
                found.append(Memory(max(count, 1), capacity, element.itemsize, is_queue=True))
        for inside in bodies(statement):
            found += memories_of(inside)
    return tuple(found)


def operators_of(body: tree.Body) -> Operators:
    """The operators of a process: of loops that are not unrolled, iterations take turns."""
    found: Operators = Counter()
    for statement in body:
        for expr in expressions(statement):
            for part in parts(expr):
                match part:
                    case Infix(op="*", left=left, right=right, type=DType(is_integer=True)) if _is_wired(left, right):
                        continue
                    case Infix(op=op, type=DType() as dtype) if op in NAMES:
                        found[NAMES[op], dtype] += 1
                    case Operation(name=name, dtype=dtype):
                        found[name, dtype] += 1
        if isinstance(statement, tree.Update):
            found[statement.op.op, statement.op.dtype] += 1
        copies = _copies(statement)
        for inside in bodies(statement):
            for operator, count in operators_of(inside).items():
                found[operator] += count * copies
    return found


def _is_wired(*factors: LirExpr) -> bool:
    """Return whether a product of integers has a factor that is known: shifts and a few sums, no block that multiplies.
    """
    return any(isinstance(factor, Literal) for factor in factors)


def _copies(statement: tree.Statement) -> int:
    """Return how many copies of a loop's body the hardware has."""
    if not isinstance(statement, tree.Loop):
        return 1
    for mark in statement.marks:
        if isinstance(mark, tree.Unroll):
            values = iterations(statement.start, statement.stop, statement.step, {})
            return mark.factor or (len(values) if values is not None else 1)
    return 1
