"""Control flow: conditions, checks, and where one may leave a scope."""

from __future__ import annotations

import re

from dcpy.base.exceptions import exception_type
from dcpy.ir.region import Branch, Break, Check, Continue, Loop, Return, SymbolAssign, While
from dcpy.ir.roles import Written
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.scope import Scope


@rule("control.break", Break)
def breaks_are_in_loops(block: Break, scope: Scope) -> Findings:
    """A break is in a loop, with no map between them."""
    yield from _in_a_loop("break", scope)


@rule("control.continue", Continue)
def continues_are_in_loops(block: Continue, scope: Scope) -> Findings:
    """A continue is in a loop, with no map between them."""
    yield from _in_a_loop("continue", scope)


def _in_a_loop(what: str, scope: Scope) -> Findings:
    for owner in reversed(scope.owners):
        if isinstance(owner, Loop | While):
            return
        if isinstance(owner, Written) and owner.concurrent:
            yield f"a {what} leaves a {owner.kind}", "make the map a loop"
            return
    yield f"a {what} is in no loop"


@rule("control.return", Return)
def returns_leave_no_map(block: Return, scope: Scope) -> Findings:
    """A return is not in a map: its other iterations would not know of it."""
    for owner in scope.owners:
        if isinstance(owner, Written) and owner.concurrent:
            yield f"a return leaves a {owner.kind}", "make the map a loop"


@rule("control.conditions", While)
def conditions_of_loops_are_bools(block: While, scope: Scope) -> Findings:
    """The condition of a loop is a bool."""
    if block.condition.dtype.kind != "b":
        yield f"the condition of a loop is {block.condition.dtype}", "compare it with 0"


@rule("control.branches", Branch)
def conditions_of_branches_are_bools(block: Branch, scope: Scope) -> Findings:
    """A branch has at least one case, and its conditions are bools."""
    if not block.cases:
        yield "a branch has no case"
    for condition, _ in block.cases:
        if condition.dtype.kind != "b":
            yield f"the condition of a branch is {condition.dtype}", "compare it with 0"


@rule("control.values", SymbolAssign)
def symbols_get_integers(block: SymbolAssign, scope: Scope) -> Findings:
    """The value of a symbol is an integer (or a bool, as 0 or 1)."""
    if block.value.dtype.kind not in "biu":
        yield f"{block.symbol!r} gets a value that is {block.value.dtype}", "cast it to an integer"


@rule("control.checks", Check)
def checks_raise_known_exceptions(block: Check, scope: Scope) -> Findings:
    """A check tests a bool and raises an exception of Python, with a message over at most four integers."""
    if block.condition.dtype.kind != "b":
        yield f"the condition of a check is {block.condition.dtype}", "compare it with 0"
    if exception_type(block.exception) is None:
        yield f"{block.exception!r} is no exception of Python or NumPy", "RuntimeError, ValueError and so on are"
    if len(block.values) > 4:
        yield f"a check has {len(block.values)} values for its message; 4 are the most"
    for value in block.values:
        if value.dtype.kind not in "biu":
            yield f"a value for the message of a check is {value.dtype}, which is no integer"
    for number in re.findall(r"\{([0-3])\}", block.message):
        if int(number) >= len(block.values):
            yield f"the message of a check names the value {number} of {len(block.values)}"
