"""Former names: attributes of a module under the names of the version before, for one version."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def former_names(module: str, names: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a ``__getattr__`` for `module`, by which former names still work, with a `DeprecationWarning`.

    `names` maps each former name to that of today.
    """

    def getattribute(name: str) -> Any:
        if name not in names:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        message = f"{module}.{name} is called {names[name]} now; the old name goes with the next version"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        return getattr(sys.modules[module], names[name])

    return getattribute
