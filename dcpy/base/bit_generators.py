"""NumPy's random generators as memory, both ways.

NumPy hands its bit generators to C as a struct of five pointers (numpy/random/bitgen.h): a state, and four functions
that draw from it. To dcpy a generator is that struct: an array of five words that every draw reads and writes. One that
a program makes itself has its state behind them.
"""

from __future__ import annotations

import ctypes
import sys
import threading
from typing import Any

import numpy as np

WORDS = 5  # of a struct bitgen: state, next_uint64, next_uint32, next_double, next_raw
#: A generator of the program's own: room for a struct bitgen, then PCG64's state and increment, low word first, and
#: what is left of 64 bits of which 32 were drawn: ``2**32 + bits``, or less where nothing is.
OWN_WORDS = WORDS + 5
CAPSULE = b"BitGenerator"  # the name under which NumPy passes a struct bitgen

Words = np.ndarray[Any, np.dtype[np.uint64]]


def is_generator(value: object) -> bool:
    """Return whether the value is an ``np.random.Generator`` (``numpy.random`` is imported where there is one)."""
    return "numpy.random" in sys.modules and type(value) is sys.modules["numpy.random"].Generator


def words_of(generator: Any) -> Words:
    """The struct of a generator's bit generator as a uint64 array over the very memory, which it keeps alive."""
    bit_generator = generator.bit_generator
    words: Any = (ctypes.c_uint64 * WORDS).from_address(bit_generator.ctypes.bit_generator.value)
    words.owner = bit_generator
    return np.asarray(words)


def are_words(array: Any) -> bool:
    """Return whether an array is the memory that `words_of` gives: that of a bit generator, which it keeps alive."""
    base = array.base.obj if isinstance(array.base, memoryview) else array.base
    owner = getattr(base, "owner", None)
    return (
        "numpy.random" in sys.modules
        and isinstance(owner, sys.modules["numpy.random"].BitGenerator)
        and array.ctypes.data == owner.ctypes.bit_generator.value
    )


class _BitGeneratorCapsule:
    """Bit generator in the form that ``np.random.Generator`` accepts: a capsule with the struct, and a lock."""

    def __init__(self, words: Words) -> None:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
        self.words = words
        self.capsule = new(words.ctypes.data, CAPSULE, None)
        self.lock = threading.Lock()


def generator_over(words: Words) -> Any:
    """A generator that draws from the state to which a struct points: the inverse of `words_of`."""
    return np.random.Generator(_BitGeneratorCapsule(words))  # type: ignore[arg-type]
