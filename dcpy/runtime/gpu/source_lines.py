"""Source lines: from places in the text of kernels, as devices report them, to lines of Python."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dcpy.base.source import SrcSpan

#: for each file of kernels: `Unit.places`
Places = Mapping[str, Sequence[tuple[int, SrcSpan]]]
_PLACE = re.compile(r"([\w.+-]+):(\d+)")


def place_of(line: str, places: Places) -> SrcSpan | None:
    """Return the place in Python from which ``FILE:LINE`` comes."""
    file, _, number = line.partition(":")
    return next((span for first, span in reversed(places.get(file, ())) if first <= int(number)), None)


def with_places(message: str, places: Places) -> str:
    """The message, in which places of kernels are followed by those in Python."""

    def both(found: re.Match[str]) -> str:
        span = place_of(found[0], places) if found[1] in places else None
        return found[0] if span is None else f"{found[0]} ({span})"

    return _PLACE.sub(both, message)
