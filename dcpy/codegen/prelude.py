"""The text in front of a generated program: just the helpers and C declarations that it mentions.

Programs do not include include/*.h. A dialect names those that are its own; they are read here and cut at blank
lines into snippets, each of which defines one name. A program gets the snippets it mentions and, in turn, those that
they mention. A snippet about ``double`` (or ``dcpy_complex128``) also defines its ``float`` version: the same text over
other words, with an ``f`` at the end of its name, as C's own mathematical functions have it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

LIBRARY = ("libm.h",)
NUMBERS = ("integers.h", "overflow.h", "floats.h", "complex.h")
FILES = (
    *LIBRARY, *NUMBERS, "orders.h", "sizes.h", "memory.h", "nontemporal.h", "teams.h", "python.h", "streams.h",
    "devices.h",
)  # fmt: skip
ON_DEVICES = (*LIBRARY, *NUMBERS, "kernels.h", "complex_kernels.h")
WIDTHS = (8, 16, 32, 64)
WORD = re.compile(r"[A-Za-z_]\w*")
VECTORIZED = "#pragma omp declare simd notinbranch"
LINKAGE = 'extern "C" '


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
        """Return whether it declares a C function."""
        return self.text.startswith("extern")

    def function(self, name: str) -> str:
        """The function that a declaration of C's calls so: by its own name, or by another one."""
        found = re.search(r'__asm__\("(\w+)"\)', self.text)
        return found.group(1) if found else name

    @property
    def is_template(self) -> bool:
        """Return whether it takes any type of number."""
        return _code(self.text).lstrip().startswith("template")

    @property
    def has_float_version(self) -> bool:
        """Return whether it is a function about double (or complex128)."""
        about_double = bool({"double", "dcpy_complex128"} & set(self.words))
        return about_double and not self.is_template and not _code(self.text).lstrip().startswith("struct")


class Prelude:
    """The snippets of one dialect: those of its files of include/, as `changed` makes them its own.

    Where two files define a name, the later one counts. Unless it `declares` them, functions of C are
    known where the text is compiled.

    The body of a snippet whose name ends in ``_i64`` serves all dtypes of integers: ``dcpy_abs_u8`` is made of
    ``dcpy_abs_i64``.
    """

    def __init__(self, files: tuple[str, ...], changed: Callable[[str], str] = str, *, declares: bool = True) -> None:
        self._files, self._changed, self._declares = files, changed, declares
        self._depths: dict[str, int] = {}
        self._found: dict[str, Snippet | None] = {}

    @cached_property
    def snippets(self) -> dict[str, Snippet]:
        """All snippets by name, in an order in which they may be defined."""
        found: dict[str, Snippet] = {}
        for file in self._files:
            text = self._changed((Path(__file__).parent / "include" / file).read_text())
            pieces = [piece for part in re.split(r"\n\n(?=\S)", text)[1:] for piece in _pieces(part.strip("\n"))]
            for piece in pieces:
                name = _defined_name(piece)
                found[name] = Snippet(name, piece, len(found))
        return found

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Everything that a snippet may define: names that generated variables avoid."""
        return tuple(name for base in self.snippets for name in (base, base + "f") if self.find(name) is not None)

    def in_precision(self, name: str, single: bool) -> str:
        """The name of a helper or C function for double or for float arguments; templates serve both."""
        snippet = self.snippets.get(name)
        return name + "f" if single and snippet is not None and snippet.has_float_version else name

    def is_template(self, name: str) -> bool:
        """Return whether a helper takes any type of number."""
        return name in self.snippets and self.snippets[name].is_template

    def text(self, mentioned: Iterable[str], vector_functions: frozenset[str]) -> str:
        """The snippets for a program that mentions these words (identifiers, or types and calls with some inside)."""
        wanted: dict[str, Snippet] = {}
        pending = [word for text in dict.fromkeys(mentioned) for word in WORD.findall(text)]
        while pending:
            word = pending.pop()
            snippet = self.find(word)
            if snippet is not None and word not in wanted:
                wanted[word] = snippet
                pending += snippet.words
        ordered = sorted(wanted, key=lambda word: (self._depth(word), wanted[word].position, word))
        declared = [word for word in ordered if wanted[word].is_declaration and self._declares]
        lines = [
            vectorized(wanted[word].text) if wanted[word].function(word) in vector_functions else wanted[word].text
            for word in declared
        ]
        defined = [wanted[word].text for word in ordered if not wanted[word].is_declaration]
        return "\n\n".join(["\n".join(lines), *defined] if lines else defined)

    def _depth(self, word: str) -> int:
        """Snippets at a greater depth mention only those of smaller depth (or themselves)."""
        if word not in self._depths:
            snippet = self.find(word)
            words = () if snippet is None else snippet.words
            inner = [self._depth(other) + 1 for other in words if other != word and self.find(other) is not None]
            self._depths[word] = max(inner, default=0)
        return self._depths[word]

    def find(self, word: str) -> Snippet | None:
        """The snippet that defines a name: one of the files, or a version of one."""
        if word not in self._found:
            self._found[word] = self._version(word)
        return self._found[word]

    def _version(self, word: str) -> Snippet | None:
        if word in self.snippets:
            return self.snippets[word]
        if word == "dcpy_complex64" and "dcpy_complex128" in self.snippets:
            return self._float_version(self.snippets["dcpy_complex128"])
        stem, _, dtype = word.rpartition("_")
        if dtype in INTEGERS and f"{stem}_i64" in self.snippets:
            return self._integer_version(self.snippets[f"{stem}_i64"], dtype)
        base = self.snippets.get(word[:-1]) if word.endswith("f") else None
        return self._float_version(base) if base is not None and base.has_float_version else None

    def _float_version(self, snippet: Snippet) -> Snippet:
        def change(match: re.Match[str]) -> str:
            word = match.group()
            if word in ("double", "dcpy_complex128"):
                return "float" if word == "double" else "dcpy_complex64"
            return self.in_precision(word, single=True)

        return Snippet(snippet.name, WORD.sub(change, snippet.text), snippet.position)

    def _integer_version(self, snippet: Snippet, dtype: str) -> Snippet:
        def change(match: re.Match[str]) -> str:
            word = match.group()
            if word == "int64_t":
                return INTEGERS[dtype]
            return f"{word.removesuffix('_i64')}_{dtype}" if word.endswith("_i64") else word

        return Snippet(snippet.name, WORD.sub(change, snippet.text), snippet.position)


INTEGERS = {f"{sign}{bits}": f"{word}{bits}_t" for sign, word in (("i", "int"), ("u", "uint")) for bits in WIDTHS}


def _pieces(part: str) -> list[str]:
    """A run of declarations is cut at each line."""
    return part.split("\n") if part.startswith("extern") else [part]


def vectorized(declaration: str) -> str:
    """The declaration of a function that has a vectorized version. Clang wants C++'s linkage around the directive."""
    plain = declaration.removeprefix(LINKAGE)
    lines = f"{VECTORIZED}\n{plain}"
    return lines if plain == declaration else f"{LINKAGE}{{\n{lines}\n}}"


def _code(text: str) -> str:
    """The text without comments: words in them mention nothing."""
    return re.sub(r"//.*", "", text)


def _defined_name(piece: str) -> str:
    code = _code(piece)
    struct = re.match(r"\s*(?:template.*\n|typedef )?struct (\w+)", code)
    match = struct or re.search(r"\b(?!__attribute__)(\w+)\(", code)
    if match is None:
        raise ValueError(f"a snippet that defines nothing: {piece!r}")
    return match.group(1)


CPP_PRELUDE = Prelude(FILES)
DEVICE_PRELUDE = Prelude(ON_DEVICES, declares=False)
