"""``@dcpy.callback``: a Python function that compiled programs call as it is, and the types of its results."""

from __future__ import annotations

import inspect
import types as python_types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.callback_sites import described
from dcpy.base.errors import CallbackError, FrontendError
from dcpy.frontend.annotations import as_type, return_annotation, types_from_annotations
from dcpy.frontend.specialize.argument_types import ArgType, ArrayType, ScalarType
from dcpy.ir import types
from dcpy.ir.symbolic import as_expr

UNKNOWN = object()  #: the types of the results are not declared


class Callback:
    """A Python function that a program calls in Python, with declared types of its results.

    Called from Python, it is the function itself.

    Attributes
    ----------
    function
        The Python callable.
    writes
        Names of the parameters whose arrays it may write into; None: all of them.
    """

    def __init__(
        self, function: Callable[..., Any], returns: Any = UNKNOWN, writes: Sequence[str] | None = None
    ) -> None:
        self.function = function
        self.writes = None if writes is None else tuple(writes)
        self._returns = returns
        self._learned: Any = UNKNOWN  # the type that the first call has told
        self.infers_types = False  #: whether calls in Python tell the type
        self.first = ""  #: what the first one returned, in words
        self.__doc__ = getattr(function, "__doc__", None)
        self.__name__ = getattr(function, "__name__", type(function).__name__)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function; without a declared result, the first call decides its type."""
        result = self.function(*args, **kwargs)
        if self.infers_types and self._learned is UNKNOWN:
            self._learned, self.first = type_of_result(result), kind_of_result(result)
        return result

    def __repr__(self) -> str:
        return f"<dcpy.callback {self.name}>"

    @property
    def name(self) -> str:
        """``module:qualname``: how an SDFG calls it."""
        module = getattr(self.function, "__module__", None) or type(self.function).__module__
        return f"{module}:{getattr(self.function, '__qualname__', self.__name__)}"

    def result_type(self) -> Any:
        """An `ArgType`, None, a tuple of these, or `UNKNOWN` where nothing is declared."""
        declared = self._returns
        if declared is UNKNOWN and isinstance(self.function, python_types.FunctionType):
            declared = return_annotation(self.function)
            if declared is inspect.Signature.empty:
                return UNKNOWN
        return UNKNOWN if declared is UNKNOWN else self.read(declared)

    def learned(self) -> Any:
        """The type of the first result in Python; `UNKNOWN` where there was none."""
        return self._learned

    def argument_types(self) -> dict[str, ArgType]:
        """The types of annotated parameters: their sizes have the names that results use."""
        return types_from_annotations(self.function) if isinstance(self.function, python_types.FunctionType) else {}

    def bound_names(self, count: int, keywords: Sequence[str]) -> list[str]:
        """The parameter of each argument: `count` by position, then those by keyword; "" where it has no name."""
        positional = [p.name for p in self._parameters() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        return [*positional[:count], *[""] * (count - len(positional)), *keywords]

    def require_parameters(self, names: Sequence[str]) -> None:
        """`FrontendError` where a Python function has no parameter of that name (one that takes one argument)."""
        known = [p.name for p in self._parameters() if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        unknown = [name for name in names if name not in known]
        if unknown and isinstance(self.function, python_types.FunctionType):
            raise FrontendError(f"{self.__name__}() has no parameter {unknown[0]!r} to write to")

    def _parameters(self) -> list[inspect.Parameter]:
        """None for what does not tell: some functions in C."""
        try:
            return list(inspect.signature(self.function).parameters.values())
        except (TypeError, ValueError):
            return []

    def read(self, declared: Any) -> Any:
        """The type that an annotation declares."""
        if declared is None or declared is type(None):
            return None
        if isinstance(declared, tuple | list):
            return tuple(map(self.read, declared))
        if isinstance(declared, python_types.GenericAlias) and declared.__origin__ is tuple:
            return tuple(map(self.read, declared.__args__))
        if declared is bool:
            return ScalarType(types.bool_, weak=True)
        found = as_type(declared)
        if isinstance(found, ArrayType | ScalarType):
            return found
        raise FrontendError(
            f"{declared!r} is no type of a callback's result",
            notes=(f"it is declared for {self.name}",),
            help="write dcpy.float64[N], dcpy.float64, float, int, bool, None, or a tuple of these",
        )


@dataclass(frozen=True)
class ConvertedFunction:
    """A function whose result is assigned to a name that is declared a NumPy number: ``t: dcpy.float64 = time()``."""

    function: Callable[..., Any]
    dtype: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, as a number of the dtype."""
        return np.dtype(self.dtype).type(self.function(*args, **kwargs))

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))


@dataclass(frozen=True)
class LearnedCallback:
    """A function whose first call has decided the type of its results: others raise `CallbackError`."""

    function: Callable[..., Any]
    kind: Any
    first: str

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The function's result, of the type that it had the first time."""
        result = self.function(*args, **kwargs)
        if type_of_result(result) != self.kind:
            raise CallbackError(
                f"the callback {self.__name__} returned {described(result)}, but {self.first} the first time",
                notes=("its result type is not declared, so the first result determined it",),
                help="return the same type in all calls, or declare it: @dcpy.callback(returns=...)",
            )
        return result

    @property
    def __name__(self) -> str:
        return str(getattr(self.function, "__name__", type(self.function).__name__))


def type_of_result(value: Any) -> Any:
    """The type of a result: what `returns` would declare, with the sizes of this one; `UNKNOWN` for other objects."""
    match value:
        case None:
            return None
        case np.generic() | np.ndarray() if isinstance(value, np.generic) or type(value) is np.ndarray:
            try:
                dtype = types.from_numpy(value.dtype)
            except (KeyError, TypeError):
                return UNKNOWN
            return ArrayType(dtype, tuple(map(as_expr, value.shape))) if value.shape else ScalarType(dtype)
        case tuple() if type(value) is tuple:
            parts = tuple(map(type_of_result, value))
            return UNKNOWN if UNKNOWN in parts else parts
    weak = {bool: types.bool_, int: types.int64, float: types.float64, complex: types.complex128}.get(type(value))
    return UNKNOWN if weak is None else ScalarType(weak, weak=True)


def kind_of_result(value: Any) -> str:
    """The type of a result, in words."""
    if isinstance(value, tuple):
        return f"({', '.join(map(kind_of_result, value))})"
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return f"numpy.{value.dtype}" if isinstance(value, np.generic) else type(value).__name__


def callback(
    function: Callable[..., Any] | None = None, *, returns: Any = UNKNOWN, writes: Sequence[str] | None = None
) -> Any:
    """A Python function that programs call as it is: ``@dcpy.callback``, ``@dcpy.callback(returns=dcpy.float64[N])``.

    `returns` declares the results (default: the return annotation): an array or scalar type of dcpy's, ``float``,
    ``int``, ``bool``, ``complex``, None, or a tuple of these. Where nothing does, the first call of a program runs in
    Python, and tells the type; a result of another type raises `TypeError` later. Sizes are symbols that annotations of
    the parameters determine, or that the calling program knows. `writes` names the parameters into whose arrays it
    writes; the other arrays are read-only then. Raises `FrontendError` for what cannot be called.
    """
    if function is None:
        return lambda found: callback(found, returns=returns, writes=writes)
    if not callable(function):
        raise FrontendError(f"@dcpy.callback takes a function, not {type(function).__name__} {function!r}")
    if isinstance(function, Callback):
        function = function.function
    made = Callback(function, returns, writes)
    made.require_parameters(made.writes or ())
    made.infers_types = returns is UNKNOWN
    if returns is not UNKNOWN:
        made.result_type()  # what cannot be read is said where it is written
    return made
