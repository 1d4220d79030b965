"""Unsupported functions, methods and keywords of NumPy, each with the reason and what to write instead.

Messages and the page of NumPy's functions show these reasons; a test checks that no function is missing.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Reason:
    """Reason why something is not compiled, and what works; whether it `makes_sense` in compiled code at all."""

    reason: str
    help: str = ""
    makes_sense: bool = False


OUTSIDE = "call it outside of the program, and pass the result as an argument"
OUTSIDE_OBJECT = "make it outside of the program and pass its arrays, or use it in a function with @dcpy.callback"

_FUNCTIONS: dict[Reason, str] = {
    Reason("it reads or writes files", OUTSIDE): """
        fromfile fromregex genfromtxt load loadtxt save savetxt savez savez_compressed""",
    Reason("it makes arrays of texts, bytes or objects of Python's", OUTSIDE, True): """
        fromstring""",
    Reason("it shows the memory of an array of another library", OUTSIDE, True): "from_dlpack",
    Reason("it makes or reads texts", OUTSIDE): """
        array2string array_repr array_str base_repr binary_repr format_float_positional format_float_scientific
        typename mintypecode""",
    Reason("compiled programs have no dates", "count days or seconds in int64"): """
        busday_count busday_offset datetime_as_string datetime_data is_busday isnat""",
    Reason("matrices are two-dimensional arrays", "use np.asarray and @"): "asmatrix bmat",
    Reason("it asks or changes NumPy itself", "call it outside of the program"): """
        get_include get_printoptions getbufsize geterr geterrcall info printoptions set_printoptions setbufsize
        seterrcall show_config show_runtime test""",
    Reason("it changes NumPy itself", "write `with np.errstate(...)`, or call it outside of the program"): "seterr",
    Reason("it gives arrays of objects of Python's", "call the function in a loop, or write it with ufuncs", True): """
        frompyfunc""",
    Reason("it makes bytes or generators of Python's", "draw numbers from the generator itself"): """
        random.Generator.bytes random.Generator.spawn""",
    Reason("it is deprecated", "call np.vstack"): "row_stack",
    Reason("it iterates over arrays in a way of its own", "use loops over indices", True): "nested_iters",
    Reason("it plans what np.einsum computes; dcpy plans by itself", "call np.einsum"): "einsum_path",
    Reason("the dtype of its result depends on the values", "take `.real` where the imaginary parts are 0", True): """
        real_if_close""",
    Reason(
        "the dtype and the size of its result depend on the values",
        "write np.linalg.eigvals of the companion matrix, as complex128",
        True,
    ): "roots",
    Reason("its view may reach outside of the array", "use slices, reshape or broadcast_to", True): """
        lib.stride_tricks.as_strided""",
}

_DISTRIBUTED = Reason(
    "ranks, and what each of them brings along, are known before a program runs",
    "pass what it makes as an argument; inside of programs there are dcpy.distribute, zeros, ones, full and empty",
)

_CLASSES: dict[Reason, str] = {
    Reason("it iterates over arrays in a way of its own", "loop over indices: `for i in range(a.shape[0])`"): """
        flatiter""",
    Reason("its objects say what broadcasting gives", "call np.broadcast_shapes or np.broadcast_arrays"): "broadcast",
    Reason("matrices are two-dimensional arrays", "use np.asarray and @"): "matrix",
    Reason("there are no subclasses of arrays", "pass the fields as arrays of their own"): "recarray record",
    Reason("it reads or writes files", OUTSIDE): "memmap",
    Reason("it makes arrays of texts, bytes or objects of Python's", OUTSIDE): "char.chararray",
    Reason("its objects are Python's", "call np.polyval(coefficients, x)"): "poly1d",
    Reason("its objects are Python's", "make it outside of the program, and pass a Generator"): """
        random.SeedSequence random.BitGenerator random.PCG64 random.MT19937 random.Philox random.SFC64""",
}

_METHODS: dict[Reason, str] = {
    Reason("it reads or writes files", OUTSIDE): "dump tofile",
    Reason("it makes bytes of Python's", OUTSIDE): "dumps tobytes",
    Reason("it changes what an array is, for all its names", "make a new array"): "resize setflags setfield",
    Reason("it reads the bytes of elements as others", "use .view(dtype)"): "getfield byteswap",
    Reason("arrays stay where they are"): "to_device",
    Reason("it is an object of Python's", "pass the array itself: `np.frombuffer(x)`"): "data",
}

#: keywords, by function (all, where there is none), that are taken with NumPy's defaults only
_KEYWORDS: dict[str, str] = {
    "like": "arrays are NumPy's own",
    "device": "arrays are in the memory of the computer",
    "subok": "there are no subclasses of arrays",
    "order": "there are no structured arrays",
    "signature": "`dtype=` says the same",
    "axes": "np.moveaxis says where the vectors are",
    "axis": "np.moveaxis says where the vectors are",
    "casting": "astype converts the operands",
    "dtype": "astype converts the operands",
    "keepdims": "the result is reshaped with [..., None]",
    "ndmax": "arrays have as many dimensions as their lists are deep",
    "numpy.matmul.order": "results are in C order",
    "numpy.matvec.order": "results are in C order",
    "numpy.vecdot.order": "results are in C order",
    "numpy.vecmat.order": "results are in C order",
    "max_work": "what is not known when the function is compiled is refused",
}

#: keywords that functions do not have, by the end of their names
_ADVICE = {
    ("mean", "weights"): "np.average takes weights",
    ("sort", "reverse"): "reverse what is sorted: np.sort(a)[::-1]",
    ("sort", "key"): "sort positions by the key: a[np.argsort(np.abs(a))]",
}


_MASKED = Reason(
    "a masked array is an object of Python's: each of its operations is Python code of NumPy's",
    "keep the mask as an array of its own: `x[~mask].mean()`, `np.where(mask, 0.0, x)`",
)


@functools.cache
def _refusals() -> dict[Any, Reason]:
    found = {}
    for refused, names in (*_FUNCTIONS.items(), *_CLASSES.items()):
        for name in names.split():
            owner: Any = np
            for part in name.split("."):
                owner = getattr(owner, part, None)
            found[owner] = refused
    for refused, names in _METHODS.items():
        for name in names.split():
            found[getattr(np.ndarray, name, None)] = refused
    found.pop(None, None)  # names that this NumPy does not have
    return found


def refusal(function: Any) -> Reason | None:
    """Return why a function or method of NumPy is not compiled; None if it may be."""
    if f"{getattr(function, '__module__', None)}.".startswith("numpy.ma."):
        return _MASKED
    if getattr(function, "__module__", None) == "dcpy.distributed":
        return _DISTRIBUTED
    try:
        return _refusals().get(function)
    except TypeError:  # not hashable
        return None


def keyword_advice(function: str, unknown: Sequence[str]) -> str:
    """Return what to write instead of keywords that a function does not have; "" without advice."""
    return next((_ADVICE[found] for name in unknown if (found := (function.rpartition(".")[2], name)) in _ADVICE), "")


def keyword_reason(function: str, keyword: str) -> str:
    """Return why a keyword of a function takes its default only; "" without a reason."""
    return _KEYWORDS.get(f"{function}.{keyword}", _KEYWORDS.get(keyword, ""))
