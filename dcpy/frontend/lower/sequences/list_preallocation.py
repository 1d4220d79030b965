"""List preallocation: a loop that appends one item per iteration fills a list of known length.

``for i in range(n): out.append(f(i))`` is a comprehension written out. The list is an array of a known length then,
rows of one length can be in another list, and iterations do not depend on each other by how long the list is.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError
from dcpy.frontend.abstract_values.list_values import ListRef, ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, TupleValue, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.lower.arrays.name_aliases import held
from dcpy.frontend.lower.control import joins
from dcpy.frontend.lower.sequences import amortized_append, item_kinds, list_references, list_types
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr, as_expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


@dataclass
class PreallocatedList:
    """A list that a loop fills: its array, how many items were there before, their kind, and the place of the next."""

    array: ArrayValue
    start: Expr
    kind: item_kinds.ItemKind
    place: Expr | None = None


def appended_lists(frame: Frame, node: core.For) -> list[str]:
    """The keys of lists to which each iteration of a loop appends once, and which it mentions nowhere else."""
    names = [name for statement in node.body if (name := _appends_to(statement)) is not None]
    if not names or any(_leaves(statement) for statement in node.body):
        return []
    found = []
    for name in dict.fromkeys(names):
        value = frame.env.get(name)
        if not isinstance(value, ListRef) or not _is_filled(frame, value.key):
            continue
        shows = [other for other, known in frame.env.items() if list_references.shown_in(known, value.key)]
        if sum(_mentions(statement, frozenset(shows)) for statement in node.body) == 1 and len(shows) == 1:
            found.append(value.key)
    return found


def _is_filled(frame: Frame, key: str) -> bool:
    """Return whether the list was made where the loop is: else it is filled many times."""
    content = frame.env.get(key + list_references.ITEMS)
    fixed = isinstance(content, TupleValue) or (isinstance(content, ListValue) and not content.size)
    own = frame.program.lists.scopes.get(key) is frame.scope
    return (
        fixed and own and key not in frame.program.lists.frozen_reasons and key not in frame.program.lists.preallocated
    )


def _appends_to(statement: core.Statement) -> str | None:
    match statement:
        case core.Evaluate(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr="append"), args=[item],
                                          keywords=[])):  # fmt: skip
            return None if isinstance(item, ast.Starred) else name
    return None


def _leaves(statement: core.Statement) -> bool:
    """Return whether an iteration may end before it has come to its end."""
    match statement:
        case core.Break() | core.Continue() | core.Return():
            return True
        case core.For(body=body) | core.While(body=body):
            return any(_returns(inner) for inner in body)
        case core.If():
            return any(_leaves(inner) for side in statement.sides() for inner in side)
    return False


def _returns(statement: core.Statement) -> bool:
    return isinstance(statement, core.Return) or any(map(_returns, _inside(statement)))


def _inside(statement: core.Statement) -> Iterator[core.Statement]:
    for side in statement.sides():
        yield from side


def _mentions(statement: core.Statement, names: frozenset[str]) -> int:
    """Return how often names occur in a statement, functions inside included."""
    trees = [tree for tree in statement.expressions() if isinstance(tree, ast.AST)]
    own = sum(isinstance(part, ast.Name) and part.id in names for tree in trees for part in ast.walk(tree))
    if isinstance(statement, core.Define):
        own += len(statement.free & names) * 2
    return own + sum(_mentions(inner, names) for inner in _inside(statement))


def run_filling(frame: Frame, keys: list[str], count: Expr, run: Callable[[], None]) -> None:
    """Run a loop that appends to lists, each of which gets its length before."""
    kinds = _kinds(frame, keys, run)
    program = frame.program
    for key, kind in kinds.items():
        content = frame.env[key + list_references.ITEMS]
        assert isinstance(content, TupleValue | ListValue)
        program.lists.preallocated[key] = _started(frame, content, kind, count)
    try:
        run()
        for key, kind in kinds.items():
            found = kind.list_of(program.lists.preallocated[key].array)
            frame.env[key + list_references.ITEMS] = replace(found, array=replace(found.array, fresh=False))
    finally:
        for key in kinds:
            program.lists.preallocated.pop(key, None)


def _started(frame: Frame, content: TupleValue | ListValue, kind: item_kinds.ItemKind, count: Expr) -> PreallocatedList:
    b = frame.b
    start = as_expr(len(content.items)) if isinstance(content, TupleValue) else b.exact(content.array.shape[0])
    out = b.empty((start + count, *kind.shape), kind.dtype, name="list")
    if isinstance(content, TupleValue):
        for position, item in enumerate(content.items):
            held(frame, "", list_references.shown(frame, item), b.root(out.container))
            list_types.put(b, out, (as_expr(position),), list_references.shown(frame, item), kind.levels)
    else:
        list_types.store(b, amortized_append.window(out, as_expr(0), start), list_types.converted(b, content, kind))
    return PreallocatedList(out, start, kind)


def _kinds(frame: Frame, keys: list[str], run: Callable[[], None]) -> dict[str, item_kinds.ItemKind]:
    """Return the kinds of the lists that a loop fills, found by a dry run."""
    env, found = frame.env, {}
    frame.env = dict(env)
    changes = dict(frame.program.lists.change_counts)
    try:
        with frame.emit.dry_run():
            run()
            for key in keys:
                content = frame.env.get(key + list_references.ITEMS)
                if isinstance(content, ListValue):
                    found[key] = item_kinds.kind_of_list(frame.b, content).unfilled()
    except DcpyError:
        return {}
    finally:
        frame.env = env
        frame.program.lists.change_counts = changes
    return {key: kind for key, kind in found.items() if all(
        joins.known_outside(frame, (size,)) for size in kind.shape)}  # fmt: skip


def place_of(extent: Range, index: Expr) -> Expr:
    """Return how many values of a range come before `index`."""
    match extent.step.constant:
        case 1:
            return index - extent.start
        case -1:
            return extent.start - index
    return (index - extent.start) // extent.step


def fill(frame: Frame, filling: PreallocatedList, value: Value) -> None:
    """``list.append(value)`` in the loop that fills the list."""
    assert filling.place is not None
    list_types.put(frame.b, filling.array, (filling.start + filling.place,), value, filling.kind.levels)
