"""From places in generated text, as messages of devices name them, to the lines of Python that they come from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from dcpy.base.errors import DeviceError
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import Unit

_PLACE = re.compile(r"([\w.+-]+):(\d+)")


def explained(message: str, units: Iterable[Unit], kind: type[DeviceError] = DeviceError) -> DeviceError:
    """The error that says `message`, at the Python line of the first place in it; notes have those of all."""
    known = {unit.name: unit for unit in units}
    found = list(dict.fromkeys(_places(message, known)))
    notes = tuple(f"{place} is from {span.file}:{span.line}" for place, span in found)
    return kind(message, span=found[0][1] if found else None, notes=notes)


def _places(message: str, known: dict[str, Unit]) -> Iterator[tuple[str, SrcSpan]]:
    for match in _PLACE.finditer(message):
        span = known[match[1]].place_of(int(match[2])) if match[1] in known else None
        if span is not None:
            yield match[0], span
