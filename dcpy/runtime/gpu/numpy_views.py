"""NumPy views of device arrays: the same addresses, sizes and strides; the host must not read the memory.

Types and relations of arguments are found on them as for calls with arrays of the host.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dcpy.base.options import Options
from dcpy.runtime._dispatch import DeviceArray, Home
from dcpy.runtime.dispatch.device_stand_ins import stand_in
from dcpy.runtime.gpu.arrays import refused

PROTOCOLS = ("__dlpack__", "__cuda_array_interface__")


def seen_by_numpy(values: tuple[Any, ...], options: Options, paths: Sequence[str] = ()) -> tuple[Any, ...]:
    """Values with arrays of NumPy's for those of the device that the options choose; `paths` name them in errors."""
    if not any(is_array(value) and not isinstance(value, np.ndarray) for value in values):
        return values  # then no device needs to be there yet
    from dcpy.runtime.gpu.arrays import home_of

    home = home_of(options)
    named = zip(paths or [""] * len(values), values, strict=True)
    return tuple(stand_in(imported(home, path, value)) for path, value in named)


def is_array(value: Any) -> bool:
    """Return whether a value is an array of NumPy's or ours, or one of a library that offers a protocol of devices'
    arrays.
    """
    return isinstance(value, np.ndarray | DeviceArray) or any(hasattr(type(value), name) for name in PROTOCOLS)


def imported(home: Home, path: str, value: Any) -> Any:
    """Our array for another library's of the device, any other value as it is. Raises `ArgumentError`."""
    if isinstance(value, np.ndarray) or not is_array(value):
        return value
    try:
        return home.imported(value)
    except Exception as why:
        raise refused(path, value, why) from why
