"""The exceptions that a compiled program can raise, by the names that its checks carry.

These are Python's own, and NumPy's ``LinAlgError``, which no builtin stands for.
"""

from __future__ import annotations

import builtins

import numpy as np

_OF_NUMPY: dict[str, type[Exception]] = {"LinAlgError": np.linalg.LinAlgError}


def exception_type(name: str) -> type[Exception] | None:
    """The exception (or warning category) of that name; None where there is none."""
    found = _OF_NUMPY.get(name) or getattr(builtins, name, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None
