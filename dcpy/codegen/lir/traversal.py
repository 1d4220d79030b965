"""Traversal of LIR: its parts, the names it uses, whether a body is straight-line code."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import (
    Aggregate,
    Call,
    Cast,
    Conditional,
    Convert,
    Field,
    Infix,
    Intrinsic,
    Item,
    LirExpr,
    Literal,
    Name,
    Operation,
    Prefix,
)
from dcpy.codegen.lir.tree import Body, Statement
from dcpy.codegen.lir.types import LirType
from dcpy.ir.types import DType, complex64, complex128


def parts(expr: LirExpr) -> Iterator[LirExpr]:
    """The expression and all inside it."""
    yield expr
    for child in children(expr):
        yield from parts(child)


def children(expr: LirExpr) -> tuple[LirExpr, ...]:
    """The operands of an expression."""
    match expr:
        case Item(base=base, index=index):
            return (base, index)
        case Infix(left=left, right=right):
            return (left, right)
        case Field(arg=arg) | Prefix(arg=arg) | Cast(arg=arg) | Convert(arg=arg):
            return (arg,)
        case Call(args=args) | Intrinsic(args=args) | Operation(args=args) | Aggregate(args=args):
            return args
        case Conditional(condition=condition, yes=yes, no=no):
            return (condition, yes, no)
    return ()


def with_children(expr: LirExpr, change: Callable[[LirExpr], LirExpr]) -> LirExpr:
    """The expression with changed operands."""
    match expr:
        case Item(base=base, index=index):
            return replace(expr, base=change(base), index=change(index))
        case Infix(left=left, right=right):
            return replace(expr, left=change(left), right=change(right))
        case Field(arg=arg) | Prefix(arg=arg) | Cast(arg=arg) | Convert(arg=arg):
            return replace(expr, arg=change(arg))
        case Call(args=args) | Intrinsic(args=args) | Operation(args=args) | Aggregate(args=args):
            return replace(expr, args=tuple(map(change, args))) if args else expr
        case Conditional(condition=condition, yes=yes, no=no):
            return replace(expr, condition=change(condition), yes=change(yes), no=change(no))
    return expr


def with_expressions(statement: Statement, change: Callable[[LirExpr], LirExpr]) -> Statement:
    """A statement of kernels that owns no others, with changed expressions."""
    match statement:
        case tree.Declare(value=value) if value is not None:
            return replace(statement, value=change(value))
        case tree.Assign(target=target, value=value) | tree.Update(target=target, value=value):
            return replace(statement, target=change(target), value=change(value))
        case tree.Evaluate(call=call):
            return replace(statement, call=replace(call, args=tuple(map(change, call.args))))
        case tree.CheckFail(condition=condition, values=values, order=order):
            values, order = tuple(map(change, values)), tuple(map(change, order))
            return replace(statement, condition=change(condition), values=values, order=order)
    return statement


def with_host_expressions(statement: Statement, change: Callable[[LirExpr], LirExpr]) -> Statement:
    """A statement of functions for CPUs with changed expressions; the bodies that it owns stay."""
    match statement:
        case tree.Loop(start=start, stop=stop, step=step):
            return replace(statement, start=change(start), stop=change(stop), step=change(step))
        case tree.While(condition=condition):
            return replace(statement, condition=change(condition))
        case tree.If(cases=cases):
            return replace(statement, cases=tuple((change(condition), body) for condition, body in cases))
        case tree.TeamCall(call=call, condition=condition):
            call = replace(call, args=tuple(map(change, call.args)))
            return replace(statement, call=call, condition=None if condition is None else change(condition))
        case tree.Return(value=value) if value is not None:
            return replace(statement, value=change(value))
        case tree.HeapBuffer(count=count) | tree.Grow(count=count):
            return replace(statement, count=change(count))
    return with_expressions(statement, change)


def bodies(statement: Statement) -> tuple[Body, ...]:
    """The bodies that a statement owns."""
    match statement:
        case tree.Compound(body=body) | tree.Attempt(body=body) | tree.Loop(body=body) | tree.While(body=body):
            return (body,)
        case tree.If(cases=cases, otherwise=otherwise):
            return (*(body for _, body in cases), otherwise)
    return ()


def with_bodies(statement: Statement, change: Callable[[Body], Body]) -> Statement:
    """A statement with other bodies."""
    match statement:
        case tree.Compound(body=body) | tree.Attempt(body=body) | tree.Loop(body=body) | tree.While(body=body):
            return replace(statement, body=change(body))
        case tree.If(cases=cases, otherwise=otherwise):
            fresh = tuple((condition, change(body)) for condition, body in cases)
            return replace(statement, cases=fresh, otherwise=change(otherwise))
    return statement


def statements(body: Body) -> Iterator[Statement]:
    """All statements inside, in order, each before those it owns."""
    for statement in body:
        yield statement
        for inner in bodies(statement):
            yield from statements(inner)


def parts_of(body: Body) -> list[LirExpr]:
    """All expressions in a body, and all inside them, in no particular order."""
    waiting, pending = [*body], list[LirExpr]()
    while waiting:
        statement = waiting.pop()
        if isinstance(statement, tree.Declare | tree.Assign | tree.Update):
            pending += (statement.value,) if statement.value is not None else ()
            pending += () if isinstance(statement, tree.Declare) else (statement.target,)
            continue
        pending += expressions(statement)
        for inner in bodies(statement):
            waiting += inner
    return parts_in(pending)


def parts_in(pending: list[LirExpr]) -> list[LirExpr]:
    """The expressions, which are taken out of the list, and all inside them, in no particular order.

    Each loop of a program is asked: that is why nothing here calls a function for each expression.
    """
    found: list[LirExpr] = []
    while pending:
        expr = pending.pop()
        found.append(expr)
        if isinstance(expr, Operation):
            pending += expr.args
        elif isinstance(expr, Infix):
            pending += (expr.left, expr.right)
        elif isinstance(expr, Item):
            pending += (expr.base, expr.index)
        elif not isinstance(expr, Name | Literal):
            pending += children(expr)
    return found


def operations_in(body: Body) -> tuple[set[str], bool]:
    """The names of operations in a body, and whether complex numbers are computed with."""
    found, is_complex = set[str](), False
    for expr in parts_of(body):
        is_complex = is_complex or expr.type is complex128 or expr.type is complex64
        if isinstance(expr, Operation):
            found.add(expr.name)
    return found, is_complex


def folded_by_teams(body: Body) -> frozenset[str]:
    """The variables into which loops that teams divide fold their iterations."""
    loops = (each for each in statements(body) if isinstance(each, tree.Loop))
    divided = (loop for loop in loops if any(isinstance(mark, tree.Divided) for mark in loop.marks))
    return frozenset(reduction.name for loop in divided for reduction in loop.reductions)


def expressions(statement: Statement) -> tuple[LirExpr, ...]:
    """The expressions written on a statement itself."""
    match statement:
        case tree.Declare(value=value) | tree.Return(value=value) | tree.HeapBuffer(count=value):
            return () if value is None else (value,)
        case (
            tree.Assign(target=first, value=second) | tree.Update(target=first, value=second)
            | tree.Grow(kept=first, count=second)
        ):  # fmt: skip
            return (first, second)
        case tree.Queues(count=first, capacity=second):
            return (first, second)
        case tree.Loop(start=start, stop=stop, step=step):
            return (start, stop, step)
        case tree.While(condition=value) | tree.Evaluate(call=value) | tree.Spawn(call=value):
            return (value,)
        case tree.If(cases=cases):
            return tuple(condition for condition, _ in cases)
        case tree.TeamCall(call=call, condition=condition):
            return (call,) if condition is None else (call, condition)
        case tree.CheckFail(condition=condition, number=number, values=values, order=order):
            return (condition, number, *values, *order)
    return _of_devices(statement)


def _of_devices(statement: Statement) -> tuple[LirExpr, ...]:
    match statement:
        case tree.DeviceBuffer(count=value):
            return (value,)
        case tree.Transfer(to=to, source=source, size=size):
            return (to, source, size)
        case tree.TransferBox(to=to, source=source):
            return (to, source, *statement.shape, *statement.to_strides, *statement.source_strides)
        case tree.Launch(blocks=blocks, args=args, fits=fits):
            return (*blocks, *args) if fits is None else (*blocks, *args, fits)
    return ()


def changed_variables(body: Body) -> set[str]:
    """Variables that are assigned, updated or folded into, inside."""
    changed: set[str] = set()
    for statement in statements(body):
        match statement:
            case tree.Assign(target=Name(name=name)) | tree.Update(target=Name(name=name)):
                changed.add(name)
            case tree.Loop():
                changed |= {reduction.name for reduction in statement.reductions}
    return changed


def names_in(body: Body) -> dict[str, LirType]:
    """Variables that a body uses and does not declare: name to type, in order of first use."""
    used: dict[str, LirType] = {}
    declared: set[str] = set()
    for statement in statements(body):
        for expr in expressions(statement):
            for part in parts(expr):
                if isinstance(part, Name):
                    used.setdefault(part.name, part.type)
        match statement:
            case (
                tree.Declare(name=name) | tree.HeapBuffer(name=name) | tree.StackBuffer(name=name)
                | tree.Queues(name=name) | tree.ProcessNetwork(name=name) | tree.Run(name=name)
                | tree.DeviceBuffer(name=name) | tree.SharedBuffer(name=name)
            ):  # fmt: skip
                declared.add(name)
            case tree.Loop(var=var):
                declared.add(var)
    return {name: kind for name, kind in used.items() if name not in declared}


def shared_bytes(kernel: tree.Kernel) -> int:
    """Bytes of the memory that a block's threads share, all arrays one behind the other."""
    arrays = (one for one in statements(kernel.body) if isinstance(one, tree.SharedBuffer))
    return sum(one.count * one.element.itemsize for one in arrays if isinstance(one.element, DType))
