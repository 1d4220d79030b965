"""Tokens of the textual IR, and a cursor over them that knows how to complain.

White space, line breaks and ``# comments`` separate tokens and mean nothing else.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import NamedTuple, NoReturn

from dcpy.base.errors import ParseError
from dcpy.base.source import SrcSpan

_TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*)*
    (?: (?P<number>(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?)
      | (?P<name>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
      | `(?P<quoted>[^`\n]+)`
      | (?P<string>"(?:[^"\\\n]|\\.)*")
      | (?P<sign><-|->|\*\*|//|<<|>>|<=|>=|==|!=|[-+*/%<>=&|^~()\[\]{},:;@])
      | (?P<end>\Z) )""",
    re.VERBOSE,
)
IDENTIFIER = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*\Z")


class Token(NamedTuple):
    """`kind` is ``number``, ``name``, ``quoted`` (a name in back quotes), ``string``, ``sign`` or ``end``."""

    kind: str
    text: str
    position: int


@dataclass(frozen=True, slots=True)
class TextSpan(SrcSpan):
    """A place in a text that is no file: it carries its own line."""

    text: str = ""

    def excerpt(self) -> str:
        """The line itself."""
        return self.text


def quote(name: str) -> str:
    """A name as it can be read back: itself, or a string where it is no identifier."""
    return name if IDENTIFIER.match(name) else json.dumps(name)


def tokenize(text: str, file: str) -> list[Token]:
    """All tokens, the last of kind ``end``; `ParseError` at the first character that begins none."""
    tokens: list[Token] = []
    position = 0
    while not tokens or tokens[-1].kind != "end":
        match = _TOKEN.match(text, position)
        if match is None:
            rest = re.compile(r"(?:\s|#[^\n]*)*").match(text, position)
            at = rest.end() if rest else position
            raise ParseError(f"unexpected {text[at]!r}", span=span_at(text, at, 1, file))
        kind = match.lastgroup or ""
        tokens.append(Token(kind, match.group(kind), match.start(kind)))
        position = match.end()
    return tokens


def span_at(text: str, position: int, width: int, file: str) -> SrcSpan:
    """The place of a character, counted from the start of `text`."""
    line = text.count("\n", 0, position) + 1
    start = text.rfind("\n", 0, position) + 1
    end = text.find("\n", position)
    excerpt = text[start : len(text) if end < 0 else end]
    column = position - start
    return TextSpan(file, line, column, line, column + max(width, 1), text=excerpt)


class Cursor:
    """A position in a list of tokens."""

    def __init__(self, text: str, file: str = "<text>") -> None:
        self.text, self.file = text, file
        self.tokens = tokenize(text, file)
        self.index = 0
        self.token = self.tokens[0]

    def advance(self) -> Token:
        """Steps to the next token; returns the one passed."""
        passed = self.token
        if passed.kind != "end":
            self.index += 1
            self.token = self.tokens[self.index]
        return passed

    def peek(self, ahead: int = 1) -> Token:
        """The token `ahead` of the current one."""
        return self.tokens[min(self.index + ahead, len(self.tokens) - 1)]

    def at(self, *texts: str) -> bool:
        """Return whether the token is one of these words or signs."""
        return self.token.text in texts and self.token.kind in ("name", "sign")

    def accept(self, *texts: str) -> bool:
        """Steps over the token if it is one of these; returns whether it was."""
        found = self.at(*texts)
        if found:
            self.advance()
        return found

    def expect(self, text: str) -> Token:
        """Steps over the word or sign `text`, which must be here."""
        if not self.at(text):
            self.fail(f"expected {text!r}, found {self.found()}")
        return self.advance()

    def found(self) -> str:
        """The current token, in words."""
        return "the end" if self.token.kind == "end" else repr(self.token.text)

    def identifier(self, what: str) -> str:
        """The name at the cursor, plain or in quotes; `what` says what is named."""
        if self.token.kind in ("name", "quoted"):
            return self.advance().text
        if self.token.kind == "string":
            return self.string(what)
        return self.fail(f"expected {what}, found {self.found()}")

    def string(self, what: str) -> str:
        """The content of the string at the cursor."""
        if self.token.kind != "string":
            self.fail(f"expected {what} in double quotes, found {self.found()}")
        try:
            return str(json.loads(self.token.text))
        except ValueError:
            return self.fail("not a valid string")
        finally:
            self.advance()

    def integer(self, what: str) -> int:
        """The whole number at the cursor, with a sign or not."""
        negative = self.accept("-")
        if self.token.kind != "number" or not self.token.text.isdigit():
            self.fail(f"expected {what}, found {self.found()}")
        value = int(self.advance().text)
        return -value if negative else value

    def fail(self, message: str, *, at: Token | None = None, help: str = "") -> NoReturn:
        """Raise `ParseError` at a token (default: the current one)."""
        token = at or self.token
        span = span_at(self.text, token.position, len(token.text), self.file)
        raise ParseError(message, span=span, help=help)
