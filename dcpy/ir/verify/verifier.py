"""The verifier: runs the rules of a form over an SDFG and its callees."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from dcpy.base.errors import DcpyError, InvalidSdfg, ParseError
from dcpy.base.printable_text import printable
from dcpy.base.source import SrcSpan
from dcpy.ir.analysis.dataflow.value_ranges import KnownRanges
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify.forms import READABLE, TREE_RULES, WELL_FORMED, Form
from dcpy.ir.verify.rule import Problem, Rule
from dcpy.ir.verify.rules.tree import calls_are_not_recursive, tree_subjects
from dcpy.ir.verify.subjects import Declaration, Scope
from dcpy.ir.verify.walk import walk

SHOWN = 20  # problems in one error message


def verify(sdfg: Sdfg, form: Form = WELL_FORMED) -> None:
    """Raise `InvalidSdfg` with all that is wrong, each with the name of its rule, unless the SDFG has the form."""
    _raise(InvalidSdfg, sdfg, problems(sdfg, form))


def verify_readable(sdfg: Sdfg, error: type[DcpyError] = ParseError) -> None:
    """Raise `error` where names are no names, or texts cannot be shown: what readers ask before anything else.

    Unlike `verify` it trusts nothing else of the SDFG, and looks nothing up.
    """
    scope = Scope(sdfg, KnownRanges(Sdfg(sdfg.name)))
    _raise(error, sdfg, tuple(_found((calls_are_not_recursive,), sdfg, scope)))
    _raise(error, sdfg, tuple(dict.fromkeys(problem for part in sdfg.with_callees() for problem in _unreadable(part))))


def _unreadable(sdfg: Sdfg) -> Iterator[Problem]:
    scope = Scope(sdfg, KnownRanges(Sdfg(sdfg.name)))
    declared = (
        Declaration(name, desc, region)
        for region in sdfg.body.walk_regions()
        for name, desc in region.containers.items()
    )
    subjects: tuple[Any, ...] = (sdfg, *declared, *sdfg.body.walk_blocks(), *sdfg.body.walk_nodes())
    for subject in subjects:
        yield from _found(_rules_for(READABLE, subject.__class__), subject, scope)


def _raise(error: type[DcpyError], sdfg: Sdfg, found: Sequence[Problem]) -> None:
    if not found:
        return
    first, *others = found
    notes = [str(problem) for problem in others[:SHOWN]]
    if len(others) > SHOWN:
        notes.append(f"and {len(others) - SHOWN} more")
    raise error(
        f"{first.message} [{first.rule}], in {printable(sdfg.name)!r}",
        span=first.span,
        notes=tuple(notes),
        help=first.help,
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
    if isinstance(subject, Declaration):
        return subject.desc.span or scope.sdfg.span  # of an argument without: the program
    own = getattr(subject, "span", None)
    if own is not None or not isinstance(scope.place, Block | Node):
        return own
    return scope.place.span
