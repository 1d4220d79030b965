"""Replica digests: numbers that ranks compare instead of the elements of replicated arrays.

All of an array of up to `ELEMENTS` elements counts; of a larger one so many elements do, at equal distances. That finds
arrays which are others (another seed, another file), and not one element that differs.
"""

from __future__ import annotations

import binascii
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from dcpy.base.option_groups.ranks import Replicas

DIGEST = "elements with the checksum"  # of an array, in messages
ELEMENTS = 1024  #: of an array that are compared, at most twice as many


def digests(bound: Mapping[str, Any], reads: Collection[str], which: Replicas) -> dict[str, str]:
    """Return a digest of each array of a call that all ranks have as a whole, and that the program `reads`."""
    if which is Replicas.OFF:
        return {}
    arrays = {name: value for name in reads if isinstance(value := bound[name], np.ndarray)}
    return {name: digest(value, which is Replicas.ALL) for name, value in arrays.items()}


def digest(array: np.ndarray[Any, Any], everything: bool = False) -> str:
    """Return a digest of the elements of an array, in their own order, for any strides."""
    step = 1 if everything else max(array.size // ELEMENTS, 1)
    if array.flags.c_contiguous:
        sample = array.reshape(-1)[::step]
    elif step == 1:
        sample = array
    else:
        sample = array[np.unravel_index(np.arange(0, array.size, step), array.shape)]
    return f"{DIGEST} {binascii.crc32(sample.tobytes()):08x}"
