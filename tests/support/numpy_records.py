"""Records of NumPy calls: one line of a table gives many cases, each run by the interpreter and by NumPy itself."""

import copy
import inspect
import itertools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy import plugins
from dcpy.base.errors import FrontendError
from dcpy.frontend.lower.function_to_sdfg import lower_function
from dcpy.frontend.specialize.types_from_call import types_from_call
from dcpy.ir.interp import run
from dcpy.programs.signatures import Convention
from tests.support import tiers
from tests.support.layouts import assert_same_order
from tests.support.oracles import sharing

INTEGERS = ("int8", "int32", "int64", "uint8", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REALS = ("bool", *INTEGERS, *FLOATS)
ALL = (*REALS, *COMPLEX)
SHAPES = ((), (0,), (1,), (5,), (3, 4), (2, 0, 3), (2, 3, 4))
LAYOUTS = ("C", "F", "strided", "reversed")
RELATIVE = {"float16": 3e-3, "float32": 1e-5, "complex64": 1e-5}


def sample(shape: tuple[int, ...], dtype: str, layout: str = "C", seed: int = 0, *, positive: bool = False) -> Any:
    """An array with small numbers of both signs, zeros and repetitions, in a memory layout."""
    rng = np.random.default_rng([seed, len(shape), *shape])
    wide = tuple(2 * size for size in shape) if layout == "strided" else shape
    kind = np.dtype(dtype).kind
    if kind == "b":
        values = rng.integers(0, 2, wide)
    else:
        values = rng.integers(0 if kind == "u" else -4, 6, wide) * (0.75 if kind in "fc" else 1)
    if kind == "c":
        values = values + 1j * rng.integers(-3, 4, wide)
    if positive:
        values = np.abs(values) + (1 if kind in "iu" else 0.25)
    array = np.asarray(values).astype(dtype)
    match layout:
        case "F":
            return np.asfortranarray(array)
        case "strided":
            return array[tuple(slice(None, None, 2) for _ in shape)] if shape else array
        case "reversed":
            return array[tuple(slice(None, None, -1) for _ in shape)] if shape else array
    return array


@dataclass(frozen=True)
class Record:
    """A function, and the arguments it is tried on."""

    function: Callable[..., Any]
    shapes: tuple[Any, ...] = SHAPES
    dtypes: tuple[str, ...] = ("float64",)
    layouts: tuple[str, ...] = ("C",)
    positive: bool = False
    rtol: float = 1e-12
    name: str = ""
    packed: bool = False  # where NumPy gives a part of a larger array of its own: a documented difference
    copies: bool = False  # where NumPy gives a view: a documented difference, whose result takes no writes

    def cases(self) -> Iterator[tuple[Any, ...]]:
        """Arguments: one array per parameter; a shape may be one for all or a tuple of shapes."""
        count = len(inspect.signature(self.function).parameters)
        every = list(itertools.product(self.dtypes, self.shapes, self.layouts))
        for dtype, shape, layout in every if tiers.EXHAUSTIVE else self._each_choice():
            shapes = shape if shape and isinstance(shape[0], tuple) else (shape,) * count
            yield tuple(sample(part, dtype, layout, seed, positive=self.positive) for seed, part in enumerate(shapes))

    def _each_choice(self) -> Iterator[tuple[str, Any, str]]:
        """Each-choice coverage: every dtype, every shape and every layout is in some case, in different company."""
        dtypes, shapes, layouts = self.dtypes, self.shapes, self.layouts
        for n in range(max(len(dtypes), len(shapes), len(layouts))):
            turn = n // len(shapes) if len(shapes) % len(layouts) == 0 else 0
            yield dtypes[n % len(dtypes)], shapes[n % len(shapes)], layouts[(n + turn) % len(layouts)]


def op(function: Callable[..., Any], **options: Any) -> Record:
    """A record; its name is the source of the function."""
    return Record(function, name=options.pop("name", "") or _body(inspect.getsource(function)), **options)


def _body(source: str) -> str:
    """What a lambda in a table computes."""
    text = source[source.index("lambda") :].split(": ", 1)[1]
    depth = 0
    for position, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (depth == 0 and character in ",\n"):
            return text[:position]
    return text


def interpreted(function: Callable[..., Any], *arguments: Any) -> Any:
    """The function through the frontend and the interpreter, which shuffles parallel iterations."""
    plugins.load()
    values = dict(zip(inspect.signature(function).parameters, arguments, strict=True))
    lowered = lower_function(function, types_from_call(values), name="tested")
    convention = Convention.of(lowered, values)
    return convention.delivered(values, run(lowered.sdfg, convention.taken_apart(values), strict=True))


def outcome(function: Callable[[], Any]) -> tuple[Any, Exception | None]:
    """The result or the exception (of NumPy, Python or dcpy)."""
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return function(), None
    except Exception as error:
        return None, error


def check(record: Record, arguments: tuple[Any, ...]) -> None:
    """The same result, dtype, shape, class and exception as NumPy, and the same changes of the arguments."""
    mine, theirs = copy.deepcopy(arguments), copy.deepcopy(arguments)
    expected, raised = outcome(lambda: record.function(*theirs))
    got, error = outcome(lambda: interpreted(record.function, *mine))
    shown = ", ".join(f"{a.dtype}{list(a.shape)}" for a in arguments)
    if raised is not None:
        agreed = isinstance(error, FrontendError) or type(error) in (type(raised), *type(raised).__bases__)
        assert agreed, f"{shown}: NumPy raises {raised!r}, dcpy {error!r} {got!r}"
        return
    if error is not None:
        raise error
    tolerance = max(record.rtol, *(RELATIVE.get(str(a.dtype), 0) for a in arguments)) if arguments else record.rtol
    assert_same(got, packed(expected) if record.packed else expected, tolerance, shown)
    assert_same(mine, theirs, tolerance, f"{shown}, arguments")
    shared = [[] for _ in sharing(expected, theirs)] if record.copies else sharing(expected, theirs)
    assert sharing(got, mine) == shared, f"{shown}: memory is shared with other arguments"


def packed(result: Any) -> Any:
    """The result with its arrays copied, in C's order."""
    if isinstance(result, tuple | list):
        return type(result)(map(packed, result))
    return np.ascontiguousarray(result) if isinstance(result, np.ndarray) else result


def assert_same(got: Any, expected: Any, rtol: float, shown: str) -> None:
    """Class, dtype, shape and values."""
    if isinstance(expected, tuple | list):
        assert len(got) == len(expected), shown
        for mine, theirs in zip(got, expected, strict=True):
            assert_same(mine, theirs, rtol, shown)
        return
    assert type(got) is type(expected), f"{shown}: {got!r} instead of {expected!r}"
    if isinstance(expected, np.ndarray | np.generic):
        assert got.dtype == expected.dtype, f"{shown}: {got.dtype} instead of {expected.dtype}"
        assert got.shape == expected.shape, f"{shown}: {got.shape} instead of {expected.shape}"
        assert_same_order(got, expected, shown)
        rtol = max(rtol, RELATIVE.get(str(expected.dtype), 0))
    if expected is not None:
        np.testing.assert_allclose(got, expected, rtol=rtol, atol=rtol, err_msg=shown)
