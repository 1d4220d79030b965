"""Rules: each has a name, a kind of subject, and a function that yields the errors of one subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from dcpy.base.source import SrcSpan
from dcpy.ir.verify.subjects import Scope

Finding = str | tuple[str, str]  # a sentence, or a sentence and what to do instead
Findings = Iterator[Finding]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with an SDFG."""

    rule: str
    message: str
    help: str = ""
    span: SrcSpan | None = field(default=None, compare=False)

    def __str__(self) -> str:
        place = f" ({self.span})" if self.span is not None else ""
        return f"[{self.rule}] {self.message}{place}"


@dataclass(frozen=True, slots=True, eq=False)
class Rule:
    """A rule of verification; `sentence` says in words what must hold."""

    name: str
    subject: type
    find: Callable[[Any, Scope], Findings]

    @property
    def sentence(self) -> str:
        """The first line of the function's docstring."""
        return (self.find.__doc__ or "").strip().splitlines()[0]


def rule(name: str, subject: type) -> Callable[[Callable[[Any, Scope], Findings]], Rule]:
    """Make a rule of a function that yields findings about one subject, given what is visible around it."""
    return lambda find: Rule(name, subject, find)


def rules_of(*modules: ModuleType) -> tuple[Rule, ...]:
    """The rules that modules define, in order."""
    return tuple(value for module in modules for value in vars(module).values() if isinstance(value, Rule))
