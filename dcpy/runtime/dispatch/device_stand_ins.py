"""Stand-ins for device arrays: NumPy arrays with the same address, sizes and strides, which the host must not read."""

from __future__ import annotations

from typing import Any

import numpy as np

from dcpy.runtime._dispatch import DeviceArray


class _ArrayInterface:
    """NumPy's protocol for the memory of a device array."""

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
    return np.asarray(_ArrayInterface(value))
