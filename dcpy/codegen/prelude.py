"""The text in front of a generated program: just the helpers and C declarations that it mentions.

include/*.h are not included by anybody. They are read here and cut at blank lines into snippets, each of which defines
one name. A program gets the snippets it mentions and, in turn, those that they mention. A snippet about ``double`` (or
``dcpy_complex128``) also defines its ``float`` version: the same text over other words, with an ``f`` at the end of
its name, as C's own mathematical functions have it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FILES = ("libm.h", "integers.h", "floats.h", "complex.h", "memory.h", "python.h", "streams.h")
WORD = re.compile(r"[A-Za-z_]\w*")
VECTORIZED = "#pragma omp declare simd notinbranch\n"


@dataclass(frozen=True, slots=True)
class Snippet:
    """A definition, and the words of its text."""

    name: str
    text: str
    position: int

    @property
    def words(self) -> tuple[str, ...]:
        """The identifiers in it, comments apart."""
        return tuple(dict.fromkeys(WORD.findall(_code(self.text))))

    @property
    def is_declaration(self) -> bool:
        """Whether it declares a C function."""
        return self.text.startswith("extern")

    @property
    def is_template(self) -> bool:
        """Whether it takes any type of number."""
        return _code(self.text).lstrip().startswith("template")

    @property
    def has_float_version(self) -> bool:
        """Whether it is a function about double (or complex128)."""
        about_double = bool({"double", "dcpy_complex128"} & set(self.words))
        return about_double and not self.is_template and not _code(self.text).lstrip().startswith("struct")


@cache
def snippets() -> dict[str, Snippet]:
    """All snippets by name, in an order in which they may be defined."""
    found: dict[str, Snippet] = {}
    for file in FILES:
        text = (Path(__file__).parent / "include" / file).read_text()
        pieces = [piece for part in re.split(r"\n\n(?=\S)", text)[1:] for piece in _pieces(part.strip("\n"))]
        for piece in pieces:
            name = _defined_name(piece)
            found[name] = Snippet(name, piece, len(found))
    return found


def names() -> tuple[str, ...]:
    """Everything that a snippet may define: names that generated variables avoid."""
    return tuple(name for base in snippets() for name in (base, base + "f") if _find(name) is not None)


def in_precision(name: str, single: bool) -> str:
    """The name of a helper or C function for double or for float arguments; templates serve both."""
    snippet = snippets().get(name)
    return name + "f" if single and snippet is not None and snippet.has_float_version else name


def is_template(name: str) -> bool:
    """Whether a helper takes any type of number."""
    return name in snippets() and snippets()[name].is_template


def prelude(mentioned: Iterable[str], vector_functions: frozenset[str]) -> str:
    """The snippets for a program that mentions these words (identifiers, or types and calls with some inside)."""
    wanted: dict[str, Snippet] = {}
    pending = [word for text in dict.fromkeys(mentioned) for word in WORD.findall(text)]
    while pending:
        word = pending.pop()
        snippet = _find(word)
        if snippet is not None and word not in wanted:
            wanted[word] = snippet
            pending += snippet.words
    ordered = sorted(wanted, key=lambda word: (_depth(word), wanted[word].position, word))
    declared = [_declaration(word, wanted[word], vector_functions) for word in ordered if wanted[word].is_declaration]
    defined = [wanted[word].text for word in ordered if not wanted[word].is_declaration]
    return "\n\n".join(["\n".join(declared), *defined] if declared else defined)


def _declaration(word: str, snippet: Snippet, vector_functions: frozenset[str]) -> str:
    return (VECTORIZED if word in vector_functions else "") + snippet.text


@cache
def _depth(word: str) -> int:
    """Snippets at a greater depth mention only those of smaller depth (or themselves)."""
    snippet = _find(word)
    if snippet is None:
        return 0
    inner = [_depth(other) + 1 for other in snippet.words if other != word and _find(other) is not None]
    return max(inner, default=0)


@cache
def _find(word: str) -> Snippet | None:
    if word in snippets():
        return snippets()[word]
    if word == "dcpy_complex64":
        return _float_version(snippets()["dcpy_complex128"])
    base = snippets().get(word[:-1]) if word.endswith("f") else None
    return _float_version(base) if base is not None and base.has_float_version else None


def _float_version(snippet: Snippet) -> Snippet:
    def change(match: re.Match[str]) -> str:
        word = match.group()
        if word in ("double", "dcpy_complex128"):
            return "float" if word == "double" else "dcpy_complex64"
        return in_precision(word, single=True)

    return Snippet(snippet.name, WORD.sub(change, snippet.text), snippet.position)


def _pieces(part: str) -> list[str]:
    """A run of declarations is cut at each line."""
    return part.split("\n") if part.startswith("extern") else [part]


def _code(text: str) -> str:
    """The text without comments: words in them mention nothing."""
    return re.sub(r"//.*", "", text)


def _defined_name(piece: str) -> str:
    code = _code(piece)
    match = re.search(r"struct (\w+)", code) or re.search(r"(\w+)\(", code)
    if match is None:
        raise ValueError(f"a snippet that defines nothing: {piece!r}")
    return match.group(1)
