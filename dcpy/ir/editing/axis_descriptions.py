"""Axis descriptions: what messages call the parameters of maps and loops, by the names of the program alone.

A variable of the program stays, without the number that keeps two loops apart. The parameters of an array operation are
the axes of its result: ``i0_5_1`` is axis 0. Parts of an axis say so: ``i_tile`` is "tiles of i".
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Collection, Iterable, Iterator

from dcpy.ir.sdfg import Sdfg

_PART = re.compile(r"(.+)_(\d+|tile|block|lane|chunk)")
_AXIS = re.compile(r"i(\d+)")


def with_axes(text: str, sdfg: Sdfg) -> str:
    """A message, with descriptions in place of parameters that the program does not have, but for those in indices.

    ``map i0, i1`` is "array operation over axes 0 and 1", and ``map i`` or ``loop i`` is "loop over i".
    """
    if sdfg.span is None:
        return text
    params = sorted({name for region in sdfg.body.walk_regions() for name in region.params}, key=len, reverse=True)
    if not params or not any(name in text for name in params):
        return text
    written = set(identifiers(linecache.getlines(sdfg.span.file)))
    words = {name: _words(name, written) for name in params}
    one = "|".join(map(re.escape, params))
    pattern = re.compile(rf"\[[^\]]*\]|\b(?:map|loop) ((?:{one})(?:, (?:{one}))*)\b(?! =)|'({one})'|\b({one})\b")

    def told(match: re.Match[str]) -> str:
        if match[1]:
            return _nest([words[name] for name in match[1].split(", ")])
        if match[2]:
            return f"'{match[2]}'" if words[match[2]] == match[2] else words[match[2]]
        return words[match[3]] if match[3] else match[0]

    return re.sub(r"\b([Aa]) (?=array operation)", r"\1n ", pattern.sub(told, text))


def _nest(words: list[str]) -> str:
    axes = [found[1] for word in words if (found := re.fullmatch(r"axis (\d+)", word))]
    if len(axes) < len(words):
        return f"loop over {', '.join(words)}"
    return f"array operation over {'axes' if axes[1:] else 'axis'} {' and '.join(axes)}"


def _words(name: str, written: Collection[str]) -> str:
    """A parameter in words; itself if nothing is known of it."""
    stem, part = name, ""
    while stem not in written and (found := _PART.fullmatch(stem)):
        stem = found[1]
        part = part if found[2].isdigit() or part else f"{found[2]}s of "
    if stem in written:
        return part + stem
    axis = _AXIS.fullmatch(stem)
    return f"{part}axis {axis[1]}" if axis else name


def identifiers(lines: Iterable[str]) -> Iterator[str]:
    """The names in some lines, those of fields (``p.x`` is ``p_x``) included."""
    for line in lines:
        yield from re.findall(r"[A-Za-z_]\w*", line)
        yield from (path.replace(".", "_") for path in re.findall(r"[A-Za-z_][\w.]*\w", line) if "." in path)
