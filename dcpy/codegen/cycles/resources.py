"""What a process is built of: its operators, each once for every copy that is written out."""

from __future__ import annotations

from collections import Counter

from dcpy.codegen.cycles.numbers import iterations
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, LirExpr, Literal, Operation
from dcpy.codegen.lir.walk import bodies, expressions, parts
from dcpy.ir.types import DType

Operators = Counter[tuple[str, DType]]  #: how many of each operation on values of a dtype
NAMES = {"+": "add", "-": "sub", "*": "mul", "/": "truediv"}  #: of what C has signs for


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
    """Whether a product of integers has a factor that is known: shifts and a few sums, no block that multiplies."""
    return any(isinstance(factor, Literal) for factor in factors)


def _copies(statement: tree.Statement) -> int:
    """How often the body of a loop is written out."""
    if not isinstance(statement, tree.Loop):
        return 1
    for mark in statement.marks:
        if isinstance(mark, tree.Unroll):
            values = iterations(statement.start, statement.stop, statement.step, {})
            return mark.factor or (len(values) if values is not None else 1)
    return 1
