"""match`` statements as chains of branches: values, singletons, ``|``, names, and guards."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from dcpy.base.errors import FrontendError
from dcpy.frontend.desugar import core
from dcpy.frontend.introspection.function_source import Source

Lower = Callable[[Sequence[ast.stmt]], core.Body]


def desugar_match(node: ast.Match, subject: str, source: Source, lower: Lower) -> tuple[core.Statement, ...]:
    """The statements of a ``match``; `subject` is the name that its value gets."""
    return lower(match_as_branches(node, subject, source))


def match_as_branches(node: ast.Match, subject: str, source: Source) -> list[ast.stmt]:
    """A ``match`` as an assignment to the name `subject` and a chain of ``if``."""
    chain: list[ast.stmt] = []
    for case in reversed(node.cases):
        test, captured = _pattern(case.pattern, ast.Name(subject, ast.Load()), source)
        if captured is not None and case.guard is not None:
            raise _refusal(source, case.pattern, "a guard of a pattern that gives the value a name")
        tests = [part for part in (test, case.guard) if part is not None]
        bind: list[ast.stmt] = []
        if captured is not None:
            bind = [_assigned(captured, ast.Name(subject, ast.Load()), case.pattern)]
        body = [*bind, *case.body]
        if not tests:
            chain = body
            continue
        condition = tests[0] if len(tests) == 1 else ast.BoolOp(ast.And(), tests)
        chain = [ast.copy_location(ast.If(_placed(condition, case.pattern), body, chain), case.pattern)]
    return [_assigned(subject, node.subject, node), *chain]


def _assigned(name: str, value: ast.expr, place: ast.AST) -> ast.stmt:
    return ast.fix_missing_locations(ast.copy_location(ast.Assign([ast.Name(name, ast.Store())], value), place))


def _pattern(pattern: ast.pattern, subject: ast.expr, source: Source) -> tuple[ast.expr | None, str | None]:
    """The test (None: it always holds), and the name that the value gets."""
    match pattern:
        case ast.MatchValue(value=value):
            return ast.Compare(subject, [ast.Eq()], [value]), None
        case ast.MatchSingleton(value=value):
            return ast.Compare(subject, [ast.Is()], [ast.Constant(value)]), None
        case ast.MatchOr(patterns=parts):
            tests = [_pattern(part, subject, source) for part in parts]
            if all(test is not None and name is None for test, name in tests):
                return ast.BoolOp(ast.Or(), [test for test, _ in tests if test is not None]), None
        case ast.MatchAs(pattern=None, name=name):
            return None, name
        case ast.MatchAs(pattern=ast.pattern() as inner, name=name):
            test, inside = _pattern(inner, subject, source)
            if inside is None:
                return test, name
    raise _refusal(source, pattern, f"the pattern {ast.unparse(pattern)!r}")


def _refusal(source: Source, node: ast.AST, what: str) -> FrontendError:
    help_text = "use if and elif; patterns may be values, `|`, and names"
    return FrontendError(f"{what} is not supported", span=source.span(node), help=help_text)


def _placed(tree: ast.expr, place: ast.AST) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(tree, place))
