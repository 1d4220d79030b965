"""Keys that are known at run time only: where a dictionary gets one, it is made as a `HashMap`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dcpy.base.errors import FrontendError
from dcpy.frontend.abstract_values.values import DictValue
from dcpy.frontend.lower.lowering_signals import PathsMatter

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def require_hashed(frame: Frame, owner: DictValue, error: FrontendError | None = None) -> None:
    """Begin anew with a `HashMap` in the place of this dictionary, if all keys are numbers or texts, and it is new."""
    is_plain = all(is_number(key) or isinstance(key, str) for key, _ in owner.items)
    if owner.site is not None and is_plain and owner.site not in frame.b.split_joins:
        raise PathsMatter(owner.site, error or FrontendError("the keys of the dictionary depend on the path taken"))


def is_number(key: Any) -> bool:
    """Return whether a key is a number, or a tuple of numbers."""
    if isinstance(key, tuple):
        return all(map(is_number, key))
    return isinstance(key, int | float | np.integer | np.floating | np.bool_)
