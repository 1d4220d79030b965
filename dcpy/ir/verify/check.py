"""Runs the rules of a form over an SDFG and its callees."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from functools import lru_cache
from typing import Any

from dcpy.base.errors import DcpyError, InvalidSdfg
from dcpy.base.source import SrcSpan
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify.forms import TREE_RULES, WELL_FORMED, Form
from dcpy.ir.verify.rule import Problem, Rule
from dcpy.ir.verify.rules.tree import tree_subjects
from dcpy.ir.verify.scope import Declaration, Scope
from dcpy.ir.verify.walk import walk

SHOWN = 20  # problems in one error message


def verify(sdfg: Sdfg, form: Form = WELL_FORMED) -> None:
    """Raises `InvalidSdfg` with all that is wrong, each with the name of its rule, unless the SDFG has the form."""
    found = problems(sdfg, form)
    if not found:
        return
    first, *others = found
    notes = [str(problem) for problem in others[:SHOWN]]
    if len(others) > SHOWN:
        notes.append(f"and {len(others) - SHOWN} more")
    raise InvalidSdfg(
        f"{first.message} [{first.rule}], in {sdfg.name!r}", span=first.span, notes=tuple(notes), help=first.help
    )


def problems(sdfg: Sdfg, form: Form = WELL_FORMED) -> tuple[Problem, ...]:
    """All that is wrong with an SDFG and the SDFGs that it calls, each problem once."""
    found: dict[Problem, None] = {}
    for program in _callees_first(sdfg):
        broken = [problem for subject in tree_subjects(program) for problem in _found(TREE_RULES, *subject)]
        if broken:  # the other rules could go round in circles
            return tuple(dict.fromkeys(broken))
        for subject, scope in walk(program):
            found.update(dict.fromkeys(_found(_rules_for(form, subject.__class__), subject, scope)))
    return tuple(found)


def _callees_first(sdfg: Sdfg) -> list[Sdfg]:
    """The SDFG after all that it calls, directly or not, each once; a recursive one too."""
    order: dict[Sdfg, None] = {}
    entered: set[Sdfg] = set()

    def visit(program: Sdfg) -> None:
        if program in entered:
            return
        entered.add(program)
        for call in program.body.walk_calls():
            visit(call.sdfg)
        order[program] = None

    visit(sdfg)
    return list(order)


@lru_cache(maxsize=256)
def _rules_for(form: Form, kind: Hashable) -> tuple[Rule, ...]:
    return tuple(rule for rule in form.rules if isinstance(kind, type) and issubclass(kind, rule.subject))


def _found(rules: tuple[Rule, ...], subject: Any, scope: Scope) -> Iterator[Problem]:
    for rule in rules:
        try:
            for finding in rule.find(subject, scope):
                message, help = finding if isinstance(finding, tuple) else (finding, "")
                yield Problem(rule.name, message, help, _span(subject, scope))
        except DcpyError as error:  # a rule that met something that has no meaning
            yield Problem(rule.name, error.message, error.help, error.span or _span(subject, scope))


def _span(subject: Any, scope: Scope) -> SrcSpan | None:
    own = subject.desc.span if isinstance(subject, Declaration) else getattr(subject, "span", None)
    if own is not None or not isinstance(scope.place, Block | Node):
        return own
    return scope.place.span
