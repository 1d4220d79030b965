"""Arrays of the items of an iterator: ``fromiter``, as a Python function."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(np.fromiter)
def fromiter(iter: Any, dtype: Any, count: int = -1) -> Any:
    """An array of the items of an iterator, or of its first `count` ones."""
    items = list(iter) if count < 0 else list(itertools.islice(iter, count))
    if count > len(items):
        raise ValueError(f"iterator too short: Expected {count} but iterator had only {len(items)} items.")
    found = np.empty(len(items), dtype)
    for k in range(len(items)):
        found[k] = items[k]
    return found
