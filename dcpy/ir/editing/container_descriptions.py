"""Container descriptions: what messages call a container, by the names of the program alone.

A name that the program has stays. Others are made while it is compiled: of results, of views (`a_view`) and of what a
part of an expression computes (`tmp_3`). These are described by what they show or by the line that they come from.
Names in the text of an SDFG, which has no other source, are all written by its user.
"""

from __future__ import annotations

import linecache
import re

from dcpy.base.printable_text import printable_line
from dcpy.base.source import SrcSpan
from dcpy.ir.data import Data, View
from dcpy.ir.editing.axis_descriptions import identifiers, with_axes
from dcpy.ir.sdfg import Sdfg

LONGEST = 40  # characters of a line that a description quotes
#: a name in quotes, or one with an index: others may be words of a message, or of a plan that is written again
_NAMES = re.compile(r"'([A-Za-z_]\w*)'|\b([A-Za-z_]\w*)(?=\[)")
_TEMPORARY, _RESULT = "tmp", "__return"


def description(sdfg: Sdfg, name: str, *, quoting: bool = True) -> str:
    """A container in words: ``'a'``, ``the result``, ``a part of 'a'``, ``a temporary of `np.sort(a)```.

    Compiled code is not `quoting`: it is found in the cache also for a program whose lines have moved.
    """
    seen, shows = name, False
    while isinstance(desc := _known(sdfg, seen), View) and not _is_written(sdfg, seen, desc):
        seen, shows = desc.of, True
    desc = _known(sdfg, seen)
    if desc is None:
        found = "a temporary" if _is_gone(sdfg, seen) else repr(seen)
    elif _is_written(sdfg, seen, desc):
        found = repr(spelled(sdfg, seen)) if quoting else repr(seen)
    elif seen.startswith(_RESULT) or seen in {result.container for result in sdfg.results}:
        found = "the result" if len(sdfg.results) < 2 else f"result {_number(seen)}"
    else:
        found = _temporary(desc.span) if quoting else "a temporary"
    return f"a part of {found}" if shows else found


def _number(name: str) -> int:
    """The position, from 1, of a result: ``__return`` is the first."""
    digits = re.search(r"_(\d+)$", name)
    return int(digits[1]) + 1 if digits else 1


def readable(text: str, sdfg: Sdfg) -> str:
    """A message, with descriptions in place of names of containers and parameters that the program does not have."""

    def told(match: re.Match[str]) -> str:
        name = match[1] or match[2]
        if is_written(sdfg, name):
            return match[0].replace(name, spelled(sdfg, name))
        found = description(sdfg, name)
        return f"{found} at " if match[2] else found

    return with_axes(_NAMES.sub(told, text), sdfg)


def spelled(sdfg: Sdfg, name: str) -> str:
    """A name as the program writes it: ``state.mass`` for the argument `state_mass`, which is a field."""
    if name not in sdfg.arguments or "_" not in name or sdfg.span is None:
        return name
    dotted = re.compile(rf"\b{'[._]'.join(map(re.escape, name.split('_')))}\b")
    written = set(dotted.findall("".join(linecache.getlines(sdfg.span.file))))
    return name if name in written or not written else min(written)


def is_written(sdfg: Sdfg, name: str) -> bool:
    """Return whether the program has the name of a container; what is no container is a word like others."""
    desc = _known(sdfg, name)
    return not _is_gone(sdfg, name) if desc is None else _is_written(sdfg, name, desc)


def _is_gone(sdfg: Sdfg, name: str) -> bool:
    """Return whether a name is that of a temporary which a pass has taken out of a Python program."""
    return sdfg.span is not None and re.fullmatch(rf"{_TEMPORARY}(_\d+)*", name) is not None


def _known(sdfg: Sdfg, name: str) -> Data | None:
    return next((region.containers[name] for region in sdfg.body.walk_regions() if name in region.containers), None)


def _temporary(span: SrcSpan | None) -> str:
    line = printable_line(span.excerpt()).strip() if span is not None else ""
    if span is None or not line:
        return "a temporary"
    return f"a temporary of `{line if len(line) <= LONGEST else line[:LONGEST].rstrip() + ' ...'}` (line {span.line})"


def _is_written(sdfg: Sdfg, name: str, desc: Data) -> bool:
    """Return whether the program has a name, perhaps with another number behind it."""
    place = desc.span or sdfg.span
    if sdfg.span is None or place is None:
        return True
    if name.startswith(_RESULT):
        return False
    if name in sdfg.arguments:
        return True
    stems = {name, re.sub(r"_\d+$", "", name)}
    if desc.span is not None and stems & set(identifiers([desc.span.excerpt()])):
        return True
    return _TEMPORARY not in stems and bool(stems & set(identifiers(linecache.getlines(place.file))))

