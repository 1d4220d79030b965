"""``match`` statements as chains of branches.

Patterns are tests, and names get their values in front of the body; where a guard or an alternative needs them earlier,
the test itself binds them (``:=``):

    case (0, n) if n > 2:
    if isinstance(m, (tuple, list, range)) and len(m) == 2 and m[0] == 0 and (n := m[1], True)[1] and n > 2:
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.frontend.desugar import core
from dcpy.frontend.introspection.function_source import Source

Lower = Callable[[Sequence[ast.stmt]], core.Body]
#: Classes of which ``case float(x)`` names the value itself.
_WHOLE = frozenset({"bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple"})
_SEQUENCES = tuple, list, range  # an array is no sequence for Python, nor is a string


def desugar_match(node: ast.Match, subject: str, source: Source, lower: Lower) -> tuple[core.Statement, ...]:
    """The statements of a ``match``; `subject` is the name that its value gets."""
    return lower(match_as_branches(node, subject, source))


def match_as_branches(node: ast.Match, subject: str, source: Source) -> list[ast.stmt]:
    """A ``match`` as an assignment to the name `subject` and a chain of ``if``."""
    chain: list[ast.stmt] = []
    for case in reversed(node.cases):
        found = _Tests(source)
        found.pattern(case.pattern, ast.Name(subject, ast.Load()))
        tests = found.tests
        bound = [_assigned(name, value, case.pattern) for name, value in found.names]
        if case.guard is not None:
            tests = [*tests, *(_binding(name, value) for name, value in found.names), case.guard]
            bound = []
        body = [*bound, *case.body]
        if not tests:
            chain = body
            continue
        chain = [ast.copy_location(ast.If(_placed(_all(tests), case.pattern), body, chain), case.pattern)]
    return [_assigned(subject, node.subject, node), *chain]


@dataclass
class _Tests:
    """The tests of a pattern, in Python's order, and the names that it gives to parts of the value."""

    source: Source
    tests: list[ast.expr] = field(default_factory=list)
    names: list[tuple[str, ast.expr]] = field(default_factory=list)

    def pattern(self, pattern: ast.pattern, subject: ast.expr) -> None:
        """Add what the pattern asks of the subject, an expression that may be written several times."""
        match pattern:
            case ast.MatchValue(value=value):
                self.tests.append(ast.Compare(subject, [ast.Eq()], [value]))
            case ast.MatchSingleton(value=value):
                self.tests.append(ast.Compare(subject, [ast.Is()], [ast.Constant(value)]))
            case ast.MatchOr(patterns=parts):
                self.tests.append(ast.BoolOp(ast.Or(), [self._alternative(part, subject) for part in parts]))
            case ast.MatchAs(pattern=inner, name=name):
                if inner is not None:
                    self.pattern(inner, subject)
                if name is not None:
                    self.names.append((name, subject))
            case ast.MatchSequence(patterns=parts):
                self._sequence(parts, subject)
            case ast.MatchMapping(keys=keys, patterns=parts, rest=None):
                self._mapping(keys, parts, subject)
            case ast.MatchClass():
                self._class(pattern, subject)
            case _:
                raise FrontendError(
                    f"the pattern {ast.unparse(pattern)!r} is not supported",
                    span=self.source.span(pattern),
                    notes=("the rest of a dictionary would be a new one",),
                    help="use if and elif, or name the keys that are needed",
                )

    def _alternative(self, pattern: ast.pattern, subject: ast.expr) -> ast.expr:
        inner = _Tests(self.source)
        inner.pattern(pattern, subject)
        return _all([*inner.tests, *(_binding(name, value) for name, value in inner.names)] or [ast.Constant(True)])

    def _sequence(self, parts: Sequence[ast.pattern], subject: ast.expr) -> None:
        stars = [position for position, part in enumerate(parts) if isinstance(part, ast.MatchStar)]
        self._instance(subject, _python(_SEQUENCES))
        length = ast.Call(_python(len), [subject], [])
        least = len(parts) - len(stars)
        if not stars or least:
            self.tests.append(ast.Compare(length, [ast.GtE() if stars else ast.Eq()], [ast.Constant(least)]))
        for position, part in enumerate(parts):
            behind = position - len(parts)
            if not isinstance(part, ast.MatchStar):
                self.pattern(part, _item(subject, ast.Constant(behind if stars and position > stars[0] else position)))
            elif part.name is not None:
                end = ast.Constant(behind + 1) if behind < -1 else None
                rest = _item(subject, ast.Slice(ast.Constant(position), end))
                self.names.append((part.name, ast.Call(_python(list), [rest], [])))

    def _mapping(self, keys: Sequence[ast.expr], parts: Sequence[ast.pattern], subject: ast.expr) -> None:
        self._instance(subject, _python(dict))
        self.tests += [ast.Compare(key, [ast.In()], [subject]) for key in keys]
        for key, part in zip(keys, parts, strict=True):
            self.pattern(part, _item(subject, key))

    def _class(self, pattern: ast.MatchClass, subject: ast.expr) -> None:
        self._instance(subject, pattern.cls)
        if isinstance(pattern.cls, ast.Name) and pattern.cls.id in _WHOLE and len(pattern.patterns) == 1:
            self.pattern(pattern.patterns[0], subject)
            return
        for position, part in enumerate(pattern.patterns):
            names = ast.Attribute(pattern.cls, "__match_args__", ast.Load())
            name = _item(names, ast.Constant(position))
            self.pattern(part, ast.Call(_python(getattr), [subject, name], []))
        for attribute, part in zip(pattern.kwd_attrs, pattern.kwd_patterns, strict=True):
            self.pattern(part, ast.Attribute(subject, attribute, ast.Load()))

    def _instance(self, subject: ast.expr, classes: ast.expr) -> None:
        self.tests.append(ast.Call(_python(isinstance), [subject, classes], []))


def _python(found: Any) -> ast.expr:
    """A tree that stands for an object of Python's, whatever names are bound to."""
    return ast.Constant(found)


def _item(owner: ast.expr, key: ast.expr) -> ast.expr:
    return ast.Subscript(owner, key, ast.Load())


def _all(tests: Sequence[ast.expr]) -> ast.expr:
    return tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), list(tests))


def _binding(name: str, value: ast.expr) -> ast.expr:
    """A test that holds, and binds the name."""
    pair = ast.Tuple([ast.NamedExpr(ast.Name(name, ast.Store()), value), ast.Constant(True)], ast.Load())
    return _item(pair, ast.Constant(1))


def _assigned(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), place))


def _placed(tree: ast.expr, place: ast.AST) -> ast.expr:
    """The tree, of which all parts that have no place yet stand at this one."""
    return ast.fix_missing_locations(ast.copy_location(tree, place))
