"""The pieces of ``separator.join(items)``."""

from __future__ import annotations

from typing import Any


def interleaved(items: Any, separator: Any) -> Any:
    """The items, with a separator between two of them."""
    found = []
    for position in range(len(items)):
        if position > 0:
            found.append(separator)
        found.append(items[position])
    return found
