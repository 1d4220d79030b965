"""Programs as C functions: an address that scipy, ctypes, cffi and any C code call without Python.

The text of such a function is `dcpy.codegen.c_functions`; here are the types that it gets, the library that it is in,
and what Python does with it.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

import numpy as np

from dcpy import driver
from dcpy.base.errors import ArgumentError, CodegenError
from dcpy.base.options import DeviceType
from dcpy.base.source import SrcSpan
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.codegen.artifact import ArrayArg
from dcpy.codegen.c_functions import FREE, KEPT, NO_FIT, CPrototype, c_prototype
from dcpy.frontend.annotations import annotated, annotation_of_parameter, as_type, return_annotation
from dcpy.frontend.specialize.argument_types import ArrayType, ScalarType
from dcpy.programs.signatures import signature_of
from dcpy.runtime.dispatch.encoding import failure_of
from dcpy.runtime.loading.unloading import address_of

if TYPE_CHECKING:
    from dcpy.runtime.loading.load import Loaded

P = ParamSpec("P")
R = TypeVar("R")


class CFunction(Generic[P, R]):
    """A program as a C function. A call from Python runs the program as ever; C code calls `address`.

    Attributes
    ----------
    address
        Where the function is, as long as this object lives.
    signature
        Its type in C: ``double (int, double *)``.
    function
        The Python function.
    """

    def __init__(
        self, function: FunctionType, program: Callable[P, R], loaded: Loaded, prototype: CPrototype
    ) -> None:
        self._program, self._loaded, self._prototype = program, loaded, prototype
        self.function = function
        self.address = address_of(loaded.library, prototype.name)
        self.signature = str(prototype)
        self._kept = (ctypes.c_int64 * 6).from_address(address_of(loaded.library, prototype.failure))
        functools.update_wrapper(self, function)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the program, with Python's values."""
        return self._program(*args, **kwargs)

    @functools.cached_property
    def ctypes(self) -> Any:
        """The function for `ctypes`, which can be called, and passed to C functions."""
        return self._as_ctypes(user_data=False)

    def low_level_callable(self, user_data: np.ndarray[Any, Any] | None = None) -> Any:
        """Return a `scipy.LowLevelCallable`, for `scipy.integrate`, `scipy.ndimage` and others.

        `user_data` is what the last parameter gets in each call, an array of its type and size, in place: C order,
        dtype as declared. Raises `ArgumentError` for another one, and `ModuleNotFoundError` without SciPy.
        """
        from scipy import LowLevelCallable

        if user_data is None:
            return LowLevelCallable(self.ctypes)
        self._require_user_data(user_data)
        return LowLevelCallable(self._as_ctypes(user_data=True), user_data.ctypes.data_as(ctypes.c_void_p))

    @property
    def failed(self) -> bool:
        """Return whether a call from C has failed since the last failure was raised; it gave NaN, or 0."""
        return bool(self._kept[0] != FREE)

    @own_frames_hidden
    def raise_failure(self) -> None:
        """Raise the first exception of calls from C, as a call from Python would have; forget it."""
        if self._kept[0] != KEPT:
            return
        check, numbers = self._kept[1], tuple(self._kept[2:6])
        self._kept[0] = FREE
        if check == NO_FIT:
            name = self.function.__name__
            message = f"C code called {name}() with a size that does not fit it, or its result does not fit its type"
            raise ArgumentError(message, notes=(f"it is {self.signature}",))
        failure_of(self._loaded.signature.checks)(check - 1, *numbers)

    def _as_ctypes(self, *, user_data: bool) -> Any:
        listed = [_ctype(parameter.dtype, parameter.is_array) for parameter in self._prototype.parameters]
        if user_data:
            listed[-1] = ctypes.c_void_p
        returns = _ctype(self._prototype.returns, False) if self._prototype.returns else None
        made = ctypes.CFUNCTYPE(returns, *listed)(self.address)
        made.made_of = self  # type: ignore[attr-defined]  # the code stays in memory
        return made

    def _require_user_data(self, found: Any) -> None:
        last = self._loaded.signature.args[-1] if self._loaded.signature.args else None
        if not isinstance(last, ArrayArg):
            raise ArgumentError(
                f"{self.function.__name__}() has no array as its last parameter, which user data would be",
                help="add one: c: dcpy.float64[2]",
            )
        dims = last.dims
        wanted = f"{last.dtype}[{', '.join(map(str, dims))}]"
        sizes = zip(dims, np.shape(found), strict=False)
        if (
            not isinstance(found, np.ndarray)
            or (found.dtype, found.ndim) != (last.dtype, len(dims))
            or not all(dim.symbol or dim.constant == size for dim, size in sizes)
            or not (found.flags.c_contiguous and found.flags.aligned and found.flags.writeable >= last.written)
        ):
            raise ArgumentError(f"the user data of {self.function.__name__}() is no {wanted} array in C order")

    def __repr__(self) -> str:
        return f"<dcpy.cfunc {self.function.__qualname__}: {self.signature}>"


def _ctype(dtype: str, is_array: bool) -> Any:
    found = np.ctypeslib.as_ctypes_type(np.dtype(dtype))
    return ctypes.POINTER(found) if is_array else found


def c_function(program: Any, types: Sequence[Any] = (), returns: Any = None) -> CFunction[..., Any]:
    """The C function of a `Program` with parameters of these types (default: its annotations).

    An array is the address of its first element, in C order; its sizes are constants or integer parameters of their
    names. `returns` is the type of the result, default: the annotated one, or the one that it has. Raises
    `CodegenError` for programs of other devices than CPUs, and for what C has no type for.
    """
    options, function = program.options, program.function
    _require_plain(program)
    typed = _copy_of(function)
    if types:
        annotated(typed, types)
    narrow = _widen_sizes(typed)
    called = type(program)(typed, options)
    sdfg = called.to_sdfg()
    if options.auto_optimize:
        sdfg.auto_optimize()
    try:
        signature = signature_of(sdfg)
        _require_parameters_only(signature.args, typed)
        prototype = c_prototype(signature, narrow, _dtype_of(return_annotation(typed) if returns is None else returns))
    except CodegenError as error:
        raise error.at(SrcSpan(function.__code__.co_filename, function.__code__.co_firstlineno)) from None
    loaded = driver.compile_c_function(sdfg, signature, prototype, options)
    return CFunction(function, called, loaded, prototype)


def _require_plain(program: Any) -> None:
    options, name = program.options, program.function.__name__
    if options.device is not DeviceType.CPU or options.distributed or options.check_races:
        raise CodegenError(
            f"{name}() is no C function: only programs of one process, for CPUs, can be one",
            help="make a program without these options",
        )
    if inspect.isgeneratorfunction(program.function) or any(
        p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in inspect.signature(program.function).parameters.values()
    ):
        raise CodegenError(
            f"{name}() is no C function: those return one value, and have a fixed number of parameters",
            help="write a function with the parameters that C code passes",
        )


def _copy_of(function: FunctionType) -> FunctionType:
    """The function with annotations of its own."""
    copy = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    functools.update_wrapper(copy, function)
    del copy.__dict__["__wrapped__"]
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__annotations__ = dict(function.__annotations__)
    return copy


def _widen_sizes(function: FunctionType) -> Mapping[str, str]:
    """Let integers that are sizes of arrays have 64 bits in the program; return the dtypes that C has for them."""
    kinds = {name: as_type(annotation_of_parameter(function, name)) for name in inspect.signature(function).parameters}
    arrays = [kind for kind in kinds.values() if isinstance(kind, ArrayType)]
    sizes = {symbol for kind in arrays for dim in kind.dims for symbol in dim.symbols}
    narrow = {}
    for name, kind in kinds.items():
        if name in sizes and isinstance(kind, ScalarType) and kind.dtype.kind in "iu":
            narrow[name] = kind.dtype.numpy_name
            function.__annotations__[name] = int
    return narrow


def _require_parameters_only(args: Sequence[Any], function: FunctionType) -> None:
    parameters = list(inspect.signature(function).parameters)
    for arg in args:
        if arg.name not in parameters:
            raise CodegenError(
                f"{function.__name__!r} uses {arg.name!r}, which C code does not pass",
                help=f"make {arg.name} a parameter, or a constant",
            )


def _dtype_of(kind: Any) -> str:
    """The dtype of the type of a result; "" where there is none, or it is no number's."""
    found = as_type(kind)
    return found.dtype.numpy_name if isinstance(found, ScalarType) else ""
