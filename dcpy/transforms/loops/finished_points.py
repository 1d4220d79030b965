"""Early exit: a flag of a loop that stays false once it is false, since its operands no longer change.

If each write of an iteration selects, by one flag, between a new value and the old one, an iteration with a false flag
changes nothing. If the flag depends on nothing else that changes between iterations, it is false in the next iteration
too, and by induction in all later ones. So the loop can stop there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.data import Scalar, is_scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Load, Op, Ref, ScalarExpr, op, symbols_of, walk
from dcpy.ir.nodes import Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Branch, Break, Loop, Region, State
from dcpy.ir.tree import is_inside


@dataclass(frozen=True)
class Finish:
    """The tasklet that computes the flag `name` of an iteration, and the tasklets that select by it."""

    name: str
    flag: Tasklet
    choices: tuple[Tasklet, ...]


def finish_of(loop: Loop, uses: Uses) -> Finish | Refusal:
    """The flag that is false when a loop of tasklets changes nothing any more; or the reason that there is none."""
    tasklets = list(_tasklets(loop))
    plain = all(isinstance(block, State) for block in loop.body.blocks)
    if not plain or len(tasklets) < sum(1 for _ in loop.body.walk_nodes()):
        return Refusal("it is not a row of tasklets")
    if any(effects_of(tasklet) for tasklet in tasklets):
        return Refusal("one of its tasklets does more than to compute")
    choices = tuple(t for t in tasklets if not all(_is_own(memlet.container, loop, uses) for memlet in t.writes()))
    names = {_chosen_by(tasklet, loop, uses) for tasklet in choices}
    if len(names) != 1 or "" in names:
        return Refusal("what it changes is not chosen by one flag between a new value and the old one")
    (name,) = names
    (flag, *others) = uses.writers(name)
    if others or not isinstance(flag, Tasklet):
        return Refusal(f"{name!r} is not computed once in an iteration")
    order = {tasklet: position for position, tasklet in enumerate(tasklets)}
    if any(order[choice] < order[flag] for choice in choices):
        return Refusal(f"a choice by {name!r} stands before that is computed")
    return _why_changing(name, loop, tasklets[: order[flag] + 1], uses) or Finish(name, flag, choices)


def leave_when_finished(loop: Loop, finish: Finish, rw: Rewriter) -> None:
    """Break out of a loop where its flag is false. After that the flag is true, and selects take the new value."""
    first, *others = loop.body.blocks
    assert isinstance(first, State)
    for other in others:
        assert isinstance(other, State)
        rw.append_state(first, other)
    condition = op("not", Load(finish.name, (), rw.uses.desc(finish.name).dtype))
    behind = State(span=first.span)
    rw.insert_after(first, Branch([(condition, Region([Break(span=loop.span)]))], span=loop.span), behind)
    rw.move_nodes(first.nodes[first.index(finish.flag) + 1 :], behind)
    for choice in finish.choices:
        code = tuple((name, _taken(expr) if name in choice.outputs else expr) for name, expr in choice.code)
        used = {part.name for _, expr in code for part in walk(expr) if isinstance(part, Ref)}
        inputs = {name: memlet for name, memlet in choice.inputs.items() if name in used}
        rw.update(choice, code=code, inputs=inputs)


def _taken(expr: ScalarExpr) -> ScalarExpr:
    assert isinstance(expr, Op)
    return expr.args[1]


def _tasklets(loop: Loop) -> Iterator[Tasklet]:
    return (node for node in loop.body.walk_nodes() if isinstance(node, Tasklet))


def _is_own(name: str, loop: Loop, uses: Uses) -> bool:
    """Return whether a container is a scalar declared in the loop body."""
    return is_scalar(uses.desc(name)) and is_inside(uses.home(name), loop) and not uses.views_of(name)


def _chosen_by(tasklet: Tasklet, loop: Loop, uses: Uses) -> str:
    """The flag by which a tasklet keeps or replaces the elements that it writes; "" for other tasklets."""
    code = dict(tasklet.code)
    found: dict[str, None] = {}
    for connector, memlet in tasklet.outputs.items():
        match code[connector]:
            case Op("select", (Ref(flag), _, Ref(old))) if flag in tasklet.inputs and not memlet.wcr:
                mine = tasklet.inputs[flag].container
                keeps = tasklet.inputs.get(old) == memlet and _is_own(mine, loop, uses)
                found[mine if keeps and isinstance(uses.desc(mine), Scalar) else ""] = None
            case _:
                return ""
    (name, *others) = found
    return "" if others else name


def _why_changing(name: str, loop: Loop, before: Sequence[Tasklet], uses: Uses) -> Refusal | None:
    """A reason that the flag could turn true in the next iteration, although nothing has changed."""
    pending, seen = [name], {name}
    while pending:
        wanted = pending.pop()
        makers = [tasklet for tasklet in before if any(m.container == wanted for m in tasklet.writes())]
        if len(makers) != 1 or len(uses.writers(wanted)) != 1:
            return Refusal(f"{wanted!r}, which {name!r} is computed from, is not computed once in an iteration")
        (maker,) = makers
        if any(loop.param in symbols_of(expr) for expr in maker.exprs()):
            return Refusal(f"{name!r} depends on {loop.param}")
        for memlet in maker.reads():
            if loop.param in memlet.subset.symbols:
                return Refusal(f"{name!r} depends on {loop.param}")
            if is_inside(uses.home(memlet.container), loop) and memlet.container not in seen:
                seen.add(memlet.container)
                pending.append(memlet.container)
    return None
