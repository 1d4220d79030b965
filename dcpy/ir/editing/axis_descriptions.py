"""Axis descriptions: what messages call the parameters of maps and loops, by the names of the program alone.

A variable of the program stays, without the number that keeps two loops apart. The parameters of an array operation are
the axes of its result: ``i0_5_1`` is axis 0, and i in an index. Parts of an axis say so: ``i_tile`` is "tiles of i".
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from dcpy.base.source import SrcSpan
from dcpy.ir.sdfg import Sdfg

_PART = re.compile(r"(.+)_(\d+|tile|block|lane|chunk)")
_AXIS = re.compile(r"i(\d+)")
_TILE = re.compile(r"tile(\d+)")
_LETTERS = "ijklmnpqr"
_HEADER = 4  #: lines of a statement in which its variables are looked for


def with_axes(text: str, sdfg: Sdfg) -> str:
    """A message, with descriptions in place of parameters that the program does not have.

    ``map i0, i1`` is "array operation over axes 0 and 1", and ``map i`` or ``loop i`` is "loop over i".
    """
    if sdfg.span is None:
        return text
    words = {name: told for name, told in _parameters(sdfg).items() if name in text}
    if not words:
        return text
    one = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    name = re.compile(rf"\b({one})\b")
    places = rf"\[[^\]]*\]|\biterations? (?:{one})\b"
    pattern = re.compile(rf"{places}|\b(?:map|loop) ((?:{one})(?:, (?:{one}))*)\b(?! =)|'({one})'|{name.pattern}")

    def told(match: re.Match[str]) -> str:
        if match[1]:
            return _nest([words[found] for found in match[1].split(", ")])
        if match[2]:
            return match[0] if words[match[2]] == match[2] else words[match[2]]
        if match[3]:
            beside = text[: match.start()].rstrip()[-1:] + text[match.end() :].lstrip()[:1]
            return _in_index(words[match[3]]) if set(beside) & set("*+/") else words[match[3]]
        return name.sub(lambda found: _in_index(words[found[1]]), match[0])

    return re.sub(r"\b([Aa]) (?=array operation)", r"\1n ", pattern.sub(told, text))


def _nest(words: list[str]) -> str:
    if not all(re.search(r"\baxis \d+$", word) for word in words):
        return f"loop over {', '.join(words)}"
    axes = [word.removeprefix("axis ") for word in words]
    if not all(map(str.isdigit, axes)):
        return f"array operation over {', '.join(words)}"
    return f"array operation over {'axes' if axes[1:] else 'axis'} {' and '.join(axes)}"


def _in_index(words: str) -> str:
    """A parameter in an index: a letter for an axis, as in a formula."""
    axis = re.fullmatch(r"axis (\d+)", words)
    if axis is None:
        return words.rpartition(" ")[2]
    return _LETTERS[int(axis[1])] if int(axis[1]) < len(_LETTERS) else f"i{axis[1]}"


def _parameters(sdfg: Sdfg) -> dict[str, str]:
    """Each parameter in words. One of several loops is the program's if it is that of one of them."""
    found: dict[str, str] = {}
    for region in sdfg.body.walk_regions():
        header = _header(getattr(region.owner, "span", None))
        words = {name: _words(name, header) for name in region.params}
        apart = len({told for told, _ in words.values()}) == len(words)
        for name, (told, is_written) in words.items():
            if is_written or name not in found:
                found[name] = told if apart else _with_its_number(name)
    return found


def _with_its_number(name: str) -> str:
    """A parameter beside another one of the same stem: ``c_1_tile`` is "tiles of c_1"."""
    part = re.fullmatch(r"(.+)_(tile|block|lane|chunk)(_\d+)?", name)
    return name if part is None else f"{part[2]}s of {part[1]}"


def _header(span: SrcSpan | None) -> Collection[str]:
    """The names in the first lines of a statement."""
    if span is None:
        return ()
    lines = range(span.line, min(max(span.end_line, span.line), span.line + _HEADER) + 1)
    return set(identifiers(SrcSpan(span.file, line).excerpt() for line in lines))


def _words(name: str, written: Collection[str]) -> tuple[str, bool]:
    """A parameter in words, and whether the program has its name."""
    stem, part = name, ""
    while stem not in written and (found := _PART.fullmatch(stem)):
        stem = found[1]
        part = part if found[2].isdigit() or part else f"{found[2]}s of "
    if stem in written:
        return part + stem, True
    if axis := _TILE.fullmatch(stem):
        return f"tiles of axis {axis[1]}", False
    axis = _AXIS.fullmatch(stem)
    return f"{part}axis {axis[1]}" if axis else part + stem, False


def identifiers(lines: Iterable[str]) -> Iterator[str]:
    """The names in some lines, those of fields (``p.x`` is ``p_x``) included."""
    for line in lines:
        yield from re.findall(r"[A-Za-z_]\w*", line)
        yield from (path.replace(".", "_") for path in re.findall(r"[A-Za-z_][\w.]*\w", line) if "." in path)
