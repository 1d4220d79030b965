"""Vector checks: vectors find out first whether any iteration of a loop of checks fails.

before   loop i { x = A[i];  if x < 0 || x >= n { stop } }
after    var failing = 0;  loop i simd reduction(bitor: failing) { x = A[i];  failing |= x < 0 || x >= n }
         if failing != 0 { loop i { x = A[i];  if x < 0 || x >= n { stop } } }

Nothing leaves a loop of vectors, so that a check that leaves makes it scalar: several times as slow, where what is
checked (indices, as a rule) is right. Where something is wrong, the loop as written finds the error.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dcpy.base.option_groups.cpu import Language
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import (
    Call,
    Cast,
    Infix,
    Intrinsic,
    Item,
    LirExpr,
    Literal,
    Name,
    Operation,
    integer,
    plus,
)
from dcpy.codegen.lir.reduction_operators import ReductionOperator
from dcpy.codegen.lir.scalar_operations import convert
from dcpy.codegen.lir.traversal import children, expressions, parts, statements
from dcpy.codegen.lir.types import INDEX, TRUTH
from dcpy.codegen.lower.context import Context
from dcpy.ir import types

ANY = ReductionOperator("bitor", types.int64)  # as wide as indices are: vectors convert nothing


def any_fails(context: Context, body: tree.Body) -> tuple[Name, tree.Body] | None:
    """Return a variable, and an iteration that sets bits of it if a check fails; None where it does more than check."""
    last = max((place for place, each in enumerate(body) if is_check(each)), default=None)
    if last is None or not context.on_host or context.process:
        return None
    if context.module.options.language is not Language.CPP:
        return None
    asked = body[: last + 1]  # what follows has no visible effect, as `only_checks` says of the whole
    if not only_checks(body) or not runs_on(asked):
        return None
    failing = Name(context.names.fresh("failing"), INDEX)
    return failing, tuple(flagged(asked, failing))


def some_fail(failing: Name) -> LirExpr:
    """Return whether any iteration has set the variable."""
    return Infix("!=", failing, Literal(0, INDEX), TRUTH)


def is_check(statement: tree.Statement) -> bool:
    """Return whether a statement may leave the loop."""
    return any(isinstance(each, tree.CheckFail) for each in statements((statement,)))


def only_checks(body: tree.Body) -> bool:
    """Return whether an iteration only computes variables of its own, and leaves."""
    own = {each.name for each in statements(body) if isinstance(each, tree.Declare)}
    for each in statements(body):
        match each:
            case tree.CheckFail():
                if each.warning or each.forwarded:
                    return False
            case tree.Assign(target=target) | tree.Update(target=target):
                if not isinstance(target, Name) or target.name not in own:
                    return False
            case tree.Declare() | tree.If() | tree.Compound():
                pass
            case _:
                return False
    computed = (one for each in statements(body) for one in expressions(each))
    return not any(isinstance(part, Call) for one in computed for part in parts(one))


def runs_on(body: tree.Body) -> bool:
    """Return whether behind a check that fails nothing is read or divided, which only the check may have allowed.

    An element whose index shares no variable with what was checked is there, whatever the check says.
    """
    checked: set[str] = set()
    made_from: dict[str, set[str]] = {}
    for each in statements(body):
        computed = [part for one in expressions(each) for part in parts(one)]
        if checked and any(_may_fail(part) for part in computed if not _is_apart(part, checked, made_from)):
            return False
        if isinstance(each, tree.CheckFail):
            checked |= _variables(each.condition, made_from) or {""}
        elif isinstance(each, tree.Declare):
            made_from[each.name] = set() if each.value is None else _variables(each.value, made_from)
        elif isinstance(each, tree.Assign | tree.Update) and isinstance(each.target, Name):
            made_from[each.target.name] = made_from.get(each.target.name, set()) | _variables(each.value, made_from)
    return True


def _variables(expr: LirExpr, made_from: Mapping[str, set[str]]) -> set[str]:
    """The variables that a number is computed from; of one that was read from memory, that very place."""
    match expr:
        case Name(name=name):
            return made_from.get(name) or {name}
        case Item():
            return {repr(expr)}
    return {name for child in children(expr) for name in _variables(child, made_from)}


def _is_apart(part: LirExpr, checked: set[str], made_from: Mapping[str, set[str]]) -> bool:
    return isinstance(part, Item) and not _variables(part.index, made_from) & checked


def _may_fail(part: LirExpr) -> bool:
    return isinstance(part, Item | Intrinsic | Operation) or (isinstance(part, Infix) and part.op in ("/", "%"))


def flagged(body: tree.Body, failing: Name) -> Iterator[tree.Statement]:
    """The statements of an iteration, which set bits of a variable where a check fails, and do not leave."""
    for each in body:
        match each:
            case tree.CheckFail(condition=condition):
                yield tree.Update(failing, _as_bit(condition), ANY)
            case tree.Compound(body=inside):
                yield tree.Compound(tuple(flagged(inside, failing)))
            case tree.If(cases=cases, otherwise=otherwise):
                taken = tuple((condition, tuple(flagged(inside, failing))) for condition, inside in cases)
                yield tree.If(taken, tuple(flagged(otherwise, failing)))
            case _:
                yield each


def _as_bit(condition: LirExpr) -> LirExpr:
    """A condition as 0 or 1. Whether a place is outside is the sign of it, or of its distance from the end."""
    match condition:
        case Infix(">=", Cast(place, types.int64, types.uint64), Cast(size, types.int64, types.uint64)):
            behind = Infix("-", plus(size, integer(-1)), place, INDEX)
            sides = convert(Infix("|", place, behind, INDEX), types.int64, types.uint64)
            return convert(Infix(">>", sides, Literal(63, types.uint64), types.uint64), types.uint64, types.int64)
    return convert(condition, types.bool_, types.int64)
