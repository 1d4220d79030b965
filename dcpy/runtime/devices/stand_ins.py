"""Arrays of a device as arrays of NumPy's: the same addresses, sizes and strides, behind which the host may not look.

Types and relations of arguments are found on them as for calls with arrays of the host.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.runtime._dispatch import DeviceArray


class _Interface:
    def __init__(self, array: DeviceArray) -> None:
        self.__array_interface__ = {
            "shape": array.shape,
            "strides": array.strides,
            "typestr": array.dtype.str,
            "data": (array.place, not array.writeable),
            "version": 3,
        }


def stand_in(value: Any) -> Any:
    """An array of NumPy's for one of a device, any other value as it is."""
    if not isinstance(value, DeviceArray):
        return value
    if value.size == 0:  # its address says nothing
        found = np.empty(value.shape, value.dtype)
        found.flags.writeable = value.writeable
        return found
    return np.asarray(_Interface(value))
