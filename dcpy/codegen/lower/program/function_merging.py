"""Function merging: maps that compute the same on other arrays share one function.

A NumPy program written in small steps has a map per step, and most of them multiply, add or copy: with a function for
each, the C++ compiler spends its time on the same loop hundreds of times. Two functions are the same where they differ
in names only, or in floating-point factors and summands, which are passed then. Decision 0037.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from dcpy.codegen.c_identifiers import Names
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call, LirExpr, Literal, Name, Operation
from dcpy.codegen.lir.traversal import parts
from dcpy.codegen.lir.types import TYPES, Basic, Reference
from dcpy.ir import types

T = TypeVar("T")
Key = tuple[object, ...]

NUMBERS = (types.float64, types.float32)
ARITHMETIC = ("add", "sub", "mul")  # operations that cost the same whether a number is known to the compiler or passed
VARIABLE = {
    tree.Declare: "name", tree.HeapBuffer: "name", tree.StackBuffer: "name", tree.Loop: "var", tree.Attempt: "name",
    tree.Queues: "name", tree.ProcessNetwork: "name", tree.Run: "name",
    tree.Reduction: "name", tree.CheckFail: "leaves", tree.Parameter: "name", Name: "name",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _MergedFunction:
    """The function that stands for others, and the numbers that each of them passes to it."""

    function: tree.Function
    passed: dict[str, tuple[Literal, ...]]


def merged(functions: Iterable[tree.Function], names: Names) -> list[tree.Function]:
    """The functions, each kind of map's once, with calls of those that are left out going to the one that stays.

    What decides whether a team runs a map that is called twice becomes a function too, made with one of `names`.
    """
    found = list(functions)
    groups: dict[Key, list[tuple[tree.Function, list[Literal]]]] = {}
    for function in found:
        if _is_of_a_map(function):
            key, literals = _kind(function)
            groups.setdefault(key, []).append((function, literals))
    same = [_one_for_all(group) for group in groups.values() if len(group) > 1]
    if not same:
        return found
    stands_for = {name: one for one in same for name in one.passed}
    kept = [
        stands_for[function.name].function if function.name in stands_for else function
        for function in found
        if function.name not in stands_for or stands_for[function.name].function.name == function.name
    ]
    return _with_teams([_redirected(function, stands_for) for function in kept], stands_for, names)


def _is_of_a_map(function: tree.Function) -> bool:
    return not function.inline and not function.exported


# -- which functions are the same --------------------------------------------------------------------------------------


def _kind(function: tree.Function) -> tuple[Key, list[Literal]]:
    """Return a key that is equal for functions that differ only in names and numbers; and the numbers, in order."""
    variables: dict[str, int] = {}
    literals: list[Literal] = []

    def kind_of(part: Any, *, number: bool = False) -> object:
        if isinstance(part, tuple):
            return tuple(kind_of(item, number=number) for item in part)
        if isinstance(part, Literal) and number and part.type in NUMBERS:
            literals.append(part)
            return part.type
        if isinstance(part, Name):
            return variables.setdefault(part.name, len(variables)), part.type
        if isinstance(part, Literal) or not _is_node(part):
            return part
        variable = VARIABLE.get(type(part))
        inside = isinstance(part, Operation) and part.name in ARITHMETIC
        values = ((name, getattr(part, name)) for name in part.__match_args__)
        return type(part).__name__, *(
            variables.setdefault(value, len(variables)) if name == variable else kind_of(value, number=inside)
            for name, value in values
        )

    return (function.result, kind_of(function.params), kind_of(function.body)), literals


def _one_for_all(group: list[tuple[tree.Function, list[Literal]]]) -> _MergedFunction:
    """The first function of a kind, with parameters for the numbers in which the others differ."""
    first, numbers = group[0]
    differing = [at for at, number in enumerate(numbers) if any(others[at] != number for _, others in group)]
    taken = {name.name for name in _names_in(first)}
    fresh = {at: Name(_unused(f"c{position}", taken), numbers[at].type) for position, at in enumerate(differing)}
    params = (*first.params, *(tree.Parameter(name.name, name.type) for name in fresh.values()))
    body = _with_numbers(first.body, fresh)
    passed = {function.name: tuple(own[at] for at in differing) for function, own in group}
    return _MergedFunction(replace(first, params=params, body=body), passed)


def _names_in(function: tree.Function) -> Iterator[Name]:
    def walk(part: Any) -> Iterator[Name]:
        if isinstance(part, tuple):
            for item in part:
                yield from walk(item)
        elif isinstance(part, Name):
            yield part
        elif _is_node(part):
            variable = VARIABLE.get(type(part))
            if variable is not None:
                yield Name(getattr(part, variable), Basic.VOID)
            for name in part.__match_args__:
                yield from walk(getattr(part, name))

    yield from walk((function.params, function.body))


def _is_node(part: object) -> bool:
    """Return whether something in LIR has parts of its own."""
    return hasattr(part, "__match_args__") and not isinstance(part, TYPES)


def _unused(stem: str, taken: set[str]) -> str:
    name, number = stem, 0
    while name in taken:
        number += 1
        name = f"{stem}_{number}"
    taken.add(name)
    return name


def _with_numbers(body: tree.Body, fresh: dict[int, Name]) -> tree.Body:
    """A body with the numbers at some positions replaced; they are counted as `_kind` does."""
    count = -1

    def changed(part: Any, *, number: bool = False) -> Any:
        nonlocal count
        if isinstance(part, tuple):
            return tuple(changed(item, number=number) for item in part)
        if isinstance(part, Literal) and number and part.type in NUMBERS:
            count += 1
            return fresh.get(count, part)
        if isinstance(part, Name) or not _is_node(part):
            return part
        inside = isinstance(part, Operation) and part.name in ARITHMETIC
        return _rebuilt(part, lambda value: changed(value, number=inside))

    result: tree.Body = changed(body)
    return result


def _rebuilt(part: T, change: Callable[[Any], Any]) -> T:
    """A node of LIR with all its fields changed; the very same one where none is."""
    values = {field.name: getattr(part, field.name) for field in fields(part) if field.name != "span"}  # type: ignore[arg-type]
    fresh = {name: change(value) for name, value in values.items()}
    if all(fresh[name] is value for name, value in values.items()):
        return part
    return replace(part, **fresh)  # type: ignore[type-var]


# -- calls -------------------------------------------------------------------------------------------------------------


def _redirected(function: tree.Function, stands_for: dict[str, _MergedFunction]) -> tree.Function:
    """A function with its calls of maps going to those that stand for them."""

    def change(statement: tree.Statement) -> tree.Statement:
        match statement:
            case tree.TeamCall(call=Call() as call) | tree.Evaluate(call=Call() as call) if call.function in stands_for:
                one = stands_for[call.function]
                args = (*call.args, *one.passed[call.function])
                return replace(statement, call=Call(one.function.name, args, call.type))
        return statement

    return _with_statements(function, change)


def _with_teams(
    functions: list[tree.Function], stands_for: dict[str, _MergedFunction], names: Names
) -> list[tree.Function]:
    """Give each shared map a function that decides whether a team runs it, instead of the decision at each call."""
    shared = {one.function.name: one.function for one in stands_for.values()}
    teams: dict[tuple[str, LirExpr | None], tree.Function] = {}

    def change(statement: tree.Statement) -> tree.Statement:
        if not isinstance(statement, tree.TeamCall) or statement.call.function not in shared:
            return statement
        callee = shared[statement.call.function]
        condition = _from_inside(statement, callee)
        if condition is None and statement.condition is not None:
            return statement
        key = (callee.name, condition)
        if key not in teams:
            teams[key] = _team(callee, condition, names.fresh(f"{callee.name}_by_team"))
        return tree.Evaluate(replace(statement.call, function=teams[key].name), span=statement.span)

    changed = [_with_statements(function, change) for function in functions]
    result: list[tree.Function] = []
    for function in changed:
        result.append(function)
        result += [team for (name, _), team in teams.items() if name == function.name]
    return result


def _from_inside(team: tree.TeamCall, callee: tree.Function) -> LirExpr | None:
    """The condition in terms of the parameters; None where it reads more than is passed."""
    inside = {arg: param.ref for param, arg in reversed(list(zip(callee.params, team.call.args, strict=True)))}
    if team.condition is None or any(isinstance(part, Name) and part not in inside for part in parts(team.condition)):
        return None

    def renamed(part: Any) -> Any:
        if isinstance(part, tuple):
            return tuple(renamed(item) for item in part)
        if isinstance(part, Name):
            return inside[part]
        return _rebuilt(part, renamed) if _is_node(part) else part

    condition: LirExpr = renamed(team.condition)
    return condition


def _team(callee: tree.Function, condition: LirExpr | None, name: str) -> tree.Function:
    call = Call(callee.name, tuple(param.ref for param in callee.params), Basic.VOID)
    changed = tuple(place for place, param in enumerate(callee.params) if isinstance(param.type, Reference))
    return replace(callee, name=name, body=(tree.TeamCall(call, condition, changed),))


def _with_statements(function: tree.Function, change: Callable[[tree.Statement], tree.Statement]) -> tree.Function:
    def body_of(body: tree.Body) -> tree.Body:
        return tuple(inside(change(statement)) for statement in body)

    def inside(statement: tree.Statement) -> tree.Statement:
        match statement:
            case tree.Compound(body=body) | tree.Attempt(body=body) | tree.Loop(body=body) | tree.While(body=body):
                return replace(statement, body=body_of(body))
            case tree.If(cases=cases, otherwise=otherwise):
                fresh = tuple((condition, body_of(body)) for condition, body in cases)
                return replace(statement, cases=fresh, otherwise=body_of(otherwise))
        return statement

    return replace(function, body=body_of(function.body))
