"""User interface: `program`, `Program`, `load`, and from `dcpy.programs.sdfgs` `SDFG`, `parse`.

Thin spellings of functions that live below; `dcpy.driver` shows the way of the data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ParamSpec, Protocol, TypeVar, overload

from dcpy.base.options import DeviceType, resolve_options
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.frontend.annotations import annotated, as_type
from dcpy.programs.callables import callable_of
from dcpy.programs.program import BoundProgram, Program
from dcpy.programs.program_kinds import program_of
from dcpy.programs.sdfgs import SDFG, Builder, CompiledSdfg, parse
from dcpy.targets.catalog import require_device

if TYPE_CHECKING:
    from pathlib import Path
    from typing import Unpack

    from dcpy.base.option_groups.keywords import ProgramKeywords
    from dcpy.frontend.annotations import ArrayAnnotation, CompileTime, ScalarAnnotation
    from dcpy.programs.c_functions import CFunction
    from dcpy.runtime.distributed.array_placement import Placement
    from dcpy.runtime.distributed.distributed_arrays import DistArray

__all__ = ["SDFG", "Builder", "CompiledSdfg", "Program", "cfunc", "load", "method", "parse", "program"]

P = ParamSpec("P")
R = TypeVar("R")


class CFunctionDecorator(Protocol):
    """The decorator ``dcpy.cfunc(dcpy.float64)``, which keeps the signature of the function."""

    def __call__(self, function: Callable[P, R], /) -> CFunction[P, R]: ...


class ProgramDecorator(Protocol):
    """The decorator ``dcpy.program(simplify=False)``, which keeps the signature of the function."""

    def __call__(self, function: Callable[P, R], /) -> Program[P, R]: ...


@overload
def program(**options: Unpack[ProgramKeywords]) -> ProgramDecorator: ...


@overload
def program(  # type: ignore[overload-overlap]
    first: type[Any] | ScalarAnnotation | ArrayAnnotation | CompileTime, /, *types: Any,
    **options: Unpack[ProgramKeywords],
) -> ProgramDecorator: ...  # fmt: skip


@overload
def program(function: Callable[P, R], /, **options: Unpack[ProgramKeywords]) -> Program[P, R]: ...


@own_frames_hidden
def program(
    function: Any = None,
    *types: Any,
    auto_optimize: bool | None = None,
    allow_callbacks: bool | None = None,
    device: DeviceType | str | None = None,
    ignore_type_hints: bool = False,
    **options: Any,
) -> Any:
    """Compile a NumPy function: ``@dcpy.program``, or with options ``@dcpy.program(simplify=False)``.

    The program has the signature, the name and the docstring of the function, also for type checkers. Partial calls
    (`functools.partial`), methods of objects and objects with ``__call__`` are taken as well.

    With `allow_callbacks`, functions that dcpy does not take are called in Python, as if they were `dcpy.callback`.
    `device` is what it is compiled for (default: the option's, CPUs).
    `ignore_type_hints` takes types from the calls even where there are annotations. Further options by their dotted
    names with ``_`` for the dot: ``cpu_openmp=False``, ``cache_dir="..."``; docs/reference/options.md lists them.
    The types of parameters may stand here instead of behind them: ``@dcpy.program(dcpy.float64[N], dcpy.int32)``.
    Raises `FrontendError` for what is no Python function, `UnknownName` for unknown options, `InvalidOption` for values
    that are none.
    """
    named = {"auto_optimize": auto_optimize, "allow_callbacks": allow_callbacks, "device": device}
    options |= {name: value for name, value in named.items() if value is not None}
    if function is not None and as_type(function) is not None:
        function, types = None, (function, *types)
    if function is None:
        resolve_options(options)  # a misspelt name is an error here, and not only where there is a function
        return lambda found: program(
            annotated(found, types) if types else found, ignore_type_hints=ignore_type_hints, **options
        )
    if isinstance(function, Program):
        function = function.function
    entry = callable_of(function)
    resolved = resolve_options(options)
    require_device(resolved.device)
    made = program_of(entry.function, resolved, not ignore_type_hints)
    made.belong_to(entry.owner)
    return entry.close(made, BoundProgram)


@overload
def method(**options: Unpack[ProgramKeywords]) -> ProgramDecorator: ...


@overload
def method(function: Callable[P, R], /, **options: Unpack[ProgramKeywords]) -> Program[P, R]: ...


def method(function: Any = None, **options: Any) -> Any:
    """A method of a dataclass that is compiled: ``@dcpy.method``, or with the options of `program`.

    `self` is an argument like others: its fields are passed at each call, and those that the method assigns are the
    object's afterwards. Subclasses are compiled anew. Raises as `program` does.
    """
    return program(function, **options)


@overload
def cfunc(*, returns: Any = ..., **options: Unpack[ProgramKeywords]) -> CFunctionDecorator: ...


@overload
def cfunc(
    first: type[Any] | ScalarAnnotation | ArrayAnnotation, /, *types: Any, returns: Any = ...,
    **options: Unpack[ProgramKeywords],
) -> CFunctionDecorator: ...  # fmt: skip


@overload
def cfunc(
    function: Callable[P, R], /, *types: Any, returns: Any = ..., **options: Unpack[ProgramKeywords]
) -> CFunction[P, R]: ...


@own_frames_hidden
def cfunc(function: Any = None, *types: Any, returns: Any = None, **options: Any) -> Any:
    """Compile a function that C code calls: ``@dcpy.cfunc``, ``@dcpy.cfunc(dcpy.float64, dcpy.float64[2])``.

    The types of parameters are these, or the annotated ones: numbers, and arrays, which are addresses of their first
    elements in C, in C order; arrays that are written overlap no others. Their sizes are constants, or integer
    parameters of their names. The function returns one number, of the type `returns`, of the annotated one, or of the
    one that it has; or nothing. It is an error for C where Python raises: see `CFunction.raise_failure`. `options` are
    those of `program`. Raises what that raises, and `CodegenError` for what C has no type for, or calls Python.
    """
    if function is not None and as_type(function) is not None:
        function, types = None, (function, *types)
    if function is None:
        resolve_options(options)
        return lambda found: cfunc(found, *types, returns=returns, **options)
    from dcpy.programs.c_functions import c_function  # late: for C code only

    return c_function(function if isinstance(function, Program) else program(function, **options), types, returns)


@overload
def load(path: str | Path, *, callbacks: Mapping[str, Callable[..., Any]] | None = None) -> SDFG: ...


@overload
def load(path: str | Path, *, on: Placement) -> DistArray: ...


def load(
    path: str | Path, *, callbacks: Mapping[str, Callable[..., Any]] | None = None, on: Placement | None = None
) -> SDFG | DistArray:
    """Read a program from a ``.sdfg`` file; with `on`, a distributed array from ``.npy``, as `distributed.load` does.

    `callbacks` are the Python functions that the program names. Raises `ParseError` where the file is no program.
    """
    if on is None:
        return SDFG.load(path, callbacks=callbacks)
    from dcpy import distributed

    return distributed.load(path, on)
