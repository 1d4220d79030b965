"""Parser of symbolic expressions: ``N*M - 1``, ``(N + 3) // 4``, ``min(i, N)``; the inverse of ``str``.

A small precedence climber over Python's own tokens; nothing is ever evaluated as Python.
"""

from __future__ import annotations

import re

from dcpy.base.errors import ParseError
from dcpy.base.printable_text import printable
from dcpy.ir.symbolic.expr import Expr, const, max_of, min_of, sym

_TOKEN = re.compile(r"\s*(?:(\d{1,400})|([A-Za-z_]\w*)|(//|[-+*%(),])|\Z)", re.ASCII)


def parse_expr(text: str) -> Expr:
    """The expression that `text` spells; `ParseError` names the first character that does not fit."""
    parser = _SymbolicParser(text)
    result = parser.sum()
    if parser.token:
        parser.fail()
    return result


class _SymbolicParser:
    def __init__(self, text: str) -> None:
        self.text, self.position, self.token = text, 0, ""
        self.advance()

    def advance(self) -> str:
        """Steps to the next token; returns the one passed."""
        passed = self.token
        match = _TOKEN.match(self.text, self.position)
        if match is None:
            first = self.text[self.position :].lstrip()[0]
            raise ParseError(f"unexpected {first!r} in the expression {printable(self.text)!r}")
        self.position, self.token = match.end(), match.group(match.lastindex) if match.lastindex else ""
        return passed

    def fail(self) -> None:
        found = repr(self.token) if self.token else "the end"
        raise ParseError(f"unexpected {found} in the expression {printable(self.text)!r}")

    def expect(self, token: str) -> None:
        if self.token != token:
            self.fail()
        self.advance()

    def sum(self) -> Expr:
        total = self.product()
        while self.token in ("+", "-"):
            total = total + self.product() if self.advance() == "+" else total - self.product()
        return total

    def product(self) -> Expr:
        total = self.unary()
        while self.token in ("*", "//", "%"):
            operator, right = self.advance(), self.unary()
            total = {"*": Expr.__mul__, "//": Expr.__floordiv__, "%": Expr.__mod__}[operator](total, right)
        return total

    def unary(self) -> Expr:
        if self.token == "-":
            self.advance()
            return -self.unary()
        return self.atom()

    def atom(self) -> Expr:
        token = self.advance()
        if token.isdigit():
            return const(int(token))
        if token == "(":
            inside = self.sum()
            self.expect(")")
            return inside
        if token in ("min", "max") and self.token == "(":
            return (min_of if token == "min" else max_of)(*self.arguments())
        if token.isidentifier():
            return sym(token)
        self.fail()
        raise AssertionError("unreachable")

    def arguments(self) -> list[Expr]:
        self.expect("(")
        values = [self.sum()]
        while self.token == ",":
            self.advance()
            values.append(self.sum())
        self.expect(")")
        return values
