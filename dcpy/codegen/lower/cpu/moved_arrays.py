"""Moved arrays: where a loop ends with the copy of an array that dies, two pointers are exchanged.

before   loop t { new[...] = f(u);  give(u, new, bytes) }
after    var u_turn = u;  var new_turn = new
         loop t { new_turn[...] = f(u_turn);  exchange u_turn and new_turn }
         if u_turn != u { copy(u, u_turn, bytes) }

After an odd number of iterations the last values are in the other memory: they are copied once, behind the loop, and
wherever the function is left, if the caller sees them then. Where a loop cannot be so, a gift is a copy.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Infix, Intrinsic, LirExpr, Literal, Name
from dcpy.codegen.lir.intrinsics import GIFTS
from dcpy.codegen.lir.traversal import (
    bodies,
    expressions,
    parts,
    statements,
    with_bodies,
    with_children,
    with_host_expressions,
)
from dcpy.codegen.lir.types import TRUTH, Basic, Pointer
from dcpy.codegen.lower.cpu.vector_loops import names_taken


@dataclass(frozen=True, slots=True)
class Gift:
    """A copy whose source nothing reads afterwards; `seen`: to an argument, which the caller sees after exceptions."""

    to: Name
    source: Name
    size: LirExpr
    seen: bool

    def exchange(self, turns: Mapping[str, Name], names: Names) -> tree.Body:
        """Let each of two variables point where the other one did."""
        to, source = turns[self.to.name], turns[self.source.name]
        before = Name(names.fresh("before"), to.type)
        return (
            tree.Declare(before.name, to.type, to, constant=True),
            tree.Assign(to, source),
            tree.Assign(source, before),
        )

    def bring_home(self, turns: Mapping[str, Name], used: Container[str]) -> tree.Body:
        """Copy the last values of the array that something else uses to where they belong, if they are elsewhere."""
        lasting = next((name for name in (self.to, self.source) if name.name in used), None)
        if lasting is None:
            return ()
        copy = tree.Evaluate(Intrinsic("copy", (lasting, turns[lasting.name], self.size), Basic.VOID))
        return (tree.If(((Infix("!=", turns[lasting.name], lasting, TRUTH), (copy,)),)),)


def with_moved_arrays(function: tree.Function) -> tree.Function:
    """A function of a CPU whose loops exchange pointers instead of copying."""
    names = Names(names_taken(function))
    return replace(function, body=_body(function.body, function, names))


def _body(body: tree.Body, function: tree.Function, names: Names) -> tree.Body:
    return tuple(found for statement in body for found in _statement(statement, function, names))


def _statement(statement: tree.Statement, function: tree.Function, names: Names) -> tree.Body:
    loop = with_bodies(statement, lambda body: _body(body, function, names))
    if not isinstance(loop, tree.Loop | tree.While):
        return (loop,)
    gifts = list(dict.fromkeys(_gifts(loop.body)))
    if not gifts or not _can_exchange(loop, gifts, function):
        return (loop,)
    used = {param.name for param in function.params} | set(_used(function.body, statement))
    pointers = dict.fromkeys(name for gift in gifts for name in (gift.to, gift.source))
    turns = {name.name: Name(names.fresh(f"{name.name}_turn"), name.type) for name in pointers}
    if any(gift.to.name in used and gift.source.name in used for gift in gifts):
        return (loop,)
    iteration = _Iteration(turns, names, gifts, used)
    changed = with_bodies(loop, iteration.body)
    declared = (tree.Declare(turns[name.name].name, name.type, name) for name in pointers)
    return (*declared, changed, *iteration.home(gifts))


def _used(body: tree.Body, loop: tree.Statement) -> Iterator[str]:
    """The names in a body that something uses, other than a loop, and to ask whether there was memory."""
    for statement in body:
        if statement is loop:
            continue
        for expr in expressions(statement):
            if not (isinstance(statement, tree.CheckFail) and _asks_for_memory(statement.condition)):
                yield from (part.name for part in parts(expr) if isinstance(part, Name))
        for inner in bodies(statement):
            yield from _used(inner, loop)


def _asks_for_memory(condition: LirExpr) -> bool:
    return isinstance(condition, Infix) and condition.right == Literal(None, Pointer(Basic.VOID))


def _gift(statement: tree.Statement) -> Gift | None:
    match statement:
        case tree.Evaluate(call=Intrinsic(name=name, args=(Name() as to, Name() as source, size))) if name in GIFTS:
            return Gift(to, source, size, name == "give_seen")
    return None


def _gifts(body: tree.Body) -> Iterator[Gift]:
    """The gifts of an iteration, without those of loops inside."""
    for statement in body:
        gift = _gift(statement)
        if gift is not None:
            yield gift
        elif not isinstance(statement, tree.Loop | tree.While):
            for inner in bodies(statement):
                yield from _gifts(inner)


def _can_exchange(loop: tree.Loop | tree.While, gifts: list[Gift], function: tree.Function) -> bool:
    """Return whether variables may take the places of these arrays: one thread runs the loop, and allocates neither."""
    given = {name.name for gift in gifts for name in (gift.to, gift.source)}
    if len({gift.to for gift in gifts} | {gift.source for gift in gifts}) < 2 * len(gifts):
        return False  # which is where would depend on the iteration
    if any(isinstance(each, tree.StackBuffer) and each.name in given for each in statements(function.body)):
        return False  # the compiler may have it in registers
    attempts = {each.name for each in statements(loop.body) if isinstance(each, tree.Attempt)}
    for statement in statements((loop,)):
        match statement:
            case tree.Loop(marks=marks) if any(isinstance(mark, tree.Divided) for mark in marks):
                return False
            case tree.HeapBuffer(name=name) | tree.Grow(name=name) if name in given:
                return False
            case tree.CheckFail(leaves=leaves) if leaves and leaves not in attempts:
                return False
    return True


@dataclass(frozen=True, slots=True)
class _Iteration:
    """An iteration that names the variables, exchanges them, and brings values home before it leaves the function."""

    turns: Mapping[str, Name]
    names: Names
    gifts: Sequence[Gift]
    used: Container[str]

    def home(self, gifts: Iterable[Gift]) -> tree.Body:
        return tuple(copy for gift in gifts for copy in gift.bring_home(self.turns, self.used))

    def body(self, body: tree.Body) -> tree.Body:
        return tuple(found for statement in body for found in self._statement(statement))

    def _statement(self, statement: tree.Statement) -> tree.Body:
        gift = _gift(statement)
        if gift is not None and gift.to.name in self.turns:
            return gift.exchange(self.turns, self.names)
        statement = with_host_expressions(with_bodies(statement, self.body), self._renamed)
        match statement:
            case tree.Return():
                return (*self.home(self.gifts), statement)
            case tree.CheckFail(warning=False):
                return self._failing(statement)
        return (statement,)

    def _failing(self, check: tree.CheckFail) -> tree.Body:
        home = self.home(gift for gift in self.gifts if gift.seen)
        if not home or check.leaves:
            return (check,)
        fails = Name(self.names.fresh("fails"), TRUTH)
        declared = tree.Declare(fails.name, TRUTH, check.condition, constant=True)
        return (declared, tree.If(((fails, home),)), replace(check, condition=fails))

    def _renamed(self, expr: LirExpr) -> LirExpr:
        if isinstance(expr, Name):
            return self.turns.get(expr.name, expr)
        return with_children(expr, self._renamed)
