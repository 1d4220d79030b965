"""Programs: functions that compile at their first calls with new types, and what binds some of their arguments.

`dcpy.api` decorates functions; `dcpy.programs.program_kinds` has programs that are called in another way.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Mapping
from dataclasses import replace
from inspect import isgeneratorfunction
from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from dcpy import driver
from dcpy.base.errors import DcpyError
from dcpy.base.options import Options
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.programs.pickling import PickleFunctions, reduction
from dcpy.programs.plain_python import compiled_kind, register
from dcpy.programs.sdfgs import SDFG, CompiledSdfg
from dcpy.programs.specialization.specializer import Specializer
from dcpy.runtime.calls.parameters import parameters_of
from dcpy.runtime.dispatch import Dispatcher
from dcpy.runtime.loading.devices import runtime_of

if TYPE_CHECKING:
    from pathlib import Path

    from dcpy.programs.autotuning.local_search import Tuning
    from dcpy.programs.c_functions import CFunction
    from dcpy.programs.checking.program_check import ProgramCheck
    from dcpy.programs.explanation.roofline import Roofline


P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")


class Program(Generic[P, R], Dispatcher):
    """A NumPy function that compiles at its first call with new types, and then calls machine code.

    Attributes
    ----------
    function
        The Python function itself.
    options
        Resolved options of this program.
    profile
        Seconds by stage of the latest compilation: ``frontend``, ``simplify``, ``optimize``, ``lower``, ``codegen``,
        ``compiler``, ``load``.
    """

    def __init__(self, function: FunctionType, options: Options, *, use_annotations: bool = True) -> None:
        self.function = function
        self.options = options
        self.profile: driver.Profile = {}
        self._specializer = Specializer(function, options, use_annotations=use_annotations)
        parameters, positional_only, keyword_only = parameters_of(function)
        super().__init__(function.__name__, parameters, self._specialize, positional_only, keyword_only)
        if runtime_of(options).device_arrays:
            self.accept_devices(self._open_home)
        functools.update_wrapper(self, function)
        register(self)

    if TYPE_CHECKING:  # a call is the dispatcher's, which is native

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    @property
    def uses_annotations(self) -> bool:
        """Return whether arguments have to agree with the function's annotations."""
        return self._specializer.use_annotations

    def _specialize(self, values: tuple[Any, ...]) -> Any:
        """Specialize the program for `values`; the dispatcher calls this when no specialization fits."""
        return self._specializer.run(self, values, self.profile)

    def _open_home(self) -> Any:
        """The device that arrays of other libraries are on."""
        return runtime_of(self.options).arrays.home(self.options)

    def call_with_symbols(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A call whose keywords are symbols, too: ``program(A, N=5)``. `NotImplemented` where none of them is one."""
        arguments, symbols = self._split(named)
        if not symbols:
            return NotImplemented
        given = self._specializer.undetermined(self._bound(args, arguments), symbols)
        if not given:
            return self(*args, **arguments)
        names = tuple(name for name in self._specializer.symbols if name in given)
        if names not in self._symbolic:
            self._symbolic[names] = SymbolicCalls(self, names)
        return self._symbolic[names](*args, **arguments, **given)

    def _split(self, named: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """Keywords for parameters, and those that are symbols."""
        known = self._specializer.symbols if named else ()
        symbols = {name: value for name, value in named.items() if name in known}
        return {name: value for name, value in named.items() if name not in symbols}, symbols

    @functools.cached_property
    def _symbolic(self) -> dict[tuple[str, ...], SymbolicCalls]:
        return {}

    @own_frames_hidden
    def to_sdfg(self, *arguments: Any, simplify: bool | None = None, as_called: bool = False, **named: Any) -> SDFG:
        """The SDFG for the annotated types, or for those of sample arguments. `simplify` overrides the option.

        It is for any sizes. With `as_called` it is the version that a call with these arguments runs, in which sizes
        are related as theirs are, and what holds for them is assumed (``assumes(N >= 4)``).
        """
        bound: dict[str, Any] | None = None
        named, symbols = self._split(named)
        names: tuple[str, ...] = ()
        if arguments or named:
            bound = self._python_signature.bind_partial(*arguments, **named).arguments
            bound |= {p.name: p.default for p in self._python_signature.parameters.values()
                      if p.default is not p.empty and p.name not in bound}  # fmt: skip
            bound |= self._specializer.undetermined(bound, symbols)
            names = tuple(name for name in symbols if name in bound)
        wanted = self.options.simplify if simplify is None else simplify
        if as_called:
            bound = bound or dict(self._bound(arguments, named))
            sdfg, convention = self._specializer.as_called(bound, simplify=wanted, symbols=names)
            return SDFG.of(sdfg).called_as(convention)
        found = self._specializer.to_sdfg(bound, simplify=wanted, symbols=names)
        made, *general = [SDFG.of(sdfg).called_as(convention) for sdfg, convention in found]
        made.general = general[0] if general else None
        return made

    def kernel_times(self) -> str:
        """A table of the kernels that calls have run on a GPU, slowest first; with the option ``gpu_profile``.

        Raises `DeviceError` where no times are taken.
        """
        options = self._specializer.options
        return runtime_of(options).kernel_times(options, self._specializer.devices)

    def _bound(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all parameters, defaults included."""
        call = self._python_signature.bind(*arguments, **named)
        call.apply_defaults()
        return call.arguments

    @functools.cached_property
    def _python_signature(self) -> inspect.Signature:
        return inspect.signature(self.function)

    @own_frames_hidden
    def compile(self, *arguments: Any, **named: Any) -> CompiledSdfg:
        """Ahead of time: machine code for the annotated types, or for those of sample arguments.

        For these it is the version that a call with them runs. One for all sizes is compiled when a call needs it.
        """
        general = self.to_sdfg(*arguments, **named)
        if not (arguments or named):
            return CompiledSdfg(general, self.options)
        made = self.to_sdfg(*arguments, as_called=True, **named)
        made.general = general
        return CompiledSdfg(made, self.options)

    @own_frames_hidden
    def explain(self, *arguments: Any, **named: Any) -> str:
        """Return the compiler's decisions about this program, and the reasons, with its options; see `SDFG.explain`.

        For the annotated types, or for the version that a call with these arguments runs, in numbers for its sizes.
        Hardware runs once, in a simulation, on copies of these.
        """
        from dcpy.programs.explanation.explain import (  # late: loads the catalog of passes
            explain,
            sizes_of,
        )

        sdfg = self.to_sdfg(*arguments, as_called=bool(arguments or named), **named)
        sizes = sizes_of(sdfg, sdfg.convention, self._bound(arguments, named)) if arguments or named else {}
        if self.options.auto_optimize:
            sdfg.auto_optimize()
        simulated = None
        if (arguments or named) and runtime_of(self.options).counts_cycles(self.options):
            simulated = CompiledSdfg(sdfg, self.options).simulated(**self._bound(arguments, named))
        return explain(sdfg, None, self.options, sizes, simulated)

    @own_frames_hidden
    def roofline(self, *arguments: Any, path: str | Path | None = None, **named: Any) -> Roofline:
        """Return the predicted speed of each loop nest below the limits of the processor (roofline); for CPUs.

        For the sizes of sample arguments; nothing is run. With `path` also a picture: ``.svg``, or ``.png`` with
        matplotlib. `ArgumentError` for other files; `DeviceError` where the program is for another device.
        """
        from dcpy.programs.explanation.explain import require_roofline, roofline, sizes_of  # as above

        require_roofline(self.options)
        sdfg = self.to_sdfg(*arguments, **named)
        sizes = sizes_of(sdfg, sdfg.convention, self._bound(arguments, named))
        if self.options.auto_optimize:
            sdfg.auto_optimize()
        found = roofline(sdfg, self.options, sizes)
        if path is not None:
            found.save(path)
        return found

    @own_frames_hidden
    def tune(self, *arguments: Any, seconds: float = 30.0, **named: Any) -> Tuning:
        """Search, for about so many `seconds`, a quicker version for calls with arguments of these sizes.

        Versions that differ from the compiler's choice in one decision each are compiled and called, on copies of the
        arguments; from the best one the search goes on. What gives other results in any bit is not taken. Calls of the
        same sizes run the quickest version from now on, in later processes, too; others run what they ran before.
        The result says what was measured, and what was chosen. Raises what a call raises, `DeviceError` for programs
        of other devices than CPUs, and `DcpyError` where a call does more than to compute.
        """
        from dcpy.programs.autotuning.local_search import tune  # late: loads the tuner

        if self.options.distributed or self.options.check_races:
            raise DcpyError("only compiled programs of one process can be tuned")
        named, symbols = self._split(named)
        bound = self._bound(arguments, named)
        given = self._specializer.undetermined(bound, symbols)
        names = tuple(name for name in self._specializer.symbols if name in given)
        if names and names not in self._symbolic:
            self._symbolic[names] = SymbolicCalls(self, names)
        values = (*bound.values(), *(given[name] for name in names))
        return tune(self._specializer, self._symbolic[names] if names else self, values, names, seconds)

    @own_frames_hidden
    def check(self, *arguments: P.args, **named: P.kwargs) -> ProgramCheck:
        """Compare the program with its function in Python, for copies of these arguments.

        The result is true where results and changed arguments agree, floats up to rounding. Else, printed, it says the
        first statement behind which a variable differs, the iteration of loops, the element and both values, and the
        option without which they agree. Functions that are called are one statement. Programs that stop at statements
        are compiled, some ten of them. Raises what compiling the program raises, and `DcpyError` for generators,
        programs with ``*args`` or ``**kwargs``, and programs of several ranks.
        """
        from dcpy.programs.checking.program_check import check_program  # late: for checks only

        parameters = self._python_signature.parameters.values()
        if self.options.distributed or isgeneratorfunction(self.function) or any(
            p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD, p.POSITIONAL_ONLY) for p in parameters
        ):
            raise DcpyError(
                f"{self.function.__name__}() cannot be checked: it has no fixed parameters, or is no plain function",
                help="compare its results with those of program.function",
            )
        owner, kind, uses_annotations = self._specializer.owner, compiled_kind(self), self.uses_annotations

        def make(function: FunctionType, options: Options) -> Any:
            made = kind(function, replace(options, disable=False), use_annotations=uses_annotations)
            made.belong_to(owner)
            made.__class__ = kind  # also while programs are disabled
            return made

        return check_program(self.function, self.options, make, self._bound(arguments, named))

    @own_frames_hidden
    def address(self, *types: Any, returns: Any = None) -> int:
        """The address of a C function with parameters of these types (default: the annotated ones), for C code.

        It is there as long as the program is. `dcpy.cfunc` says what C passes and gets; raises what that raises.
        """
        from dcpy.programs.c_functions import c_function  # late: for C code only

        key = (*types, returns)
        made = next((made for known, made in self._c_functions if known == key), None)
        if made is None:
            made = c_function(self, types, returns)
            self._c_functions.append((key, made))
        return made.address

    @functools.cached_property
    def _c_functions(self) -> list[tuple[tuple[Any, ...], CFunction[..., Any]]]:
        return []

    def __repr__(self) -> str:
        return f"<dcpy.program {self.function.__qualname__}>"

    def _repr_html_(self) -> str:
        from dcpy.viewer.notebook import program_html

        return program_html(self.function, self._specializer.compiled_for)

    def __reduce_ex__(self, protocol: Any) -> Any:
        """Sent to other processes as Python's functions are: by name, by value where functions are sent so."""
        return reduction(self, protocol)

    @functools.cached_property
    def _sent(self) -> PickleFunctions:
        """The object that is pickled in place of the program."""
        return PickleFunctions.of(self.function)

    def __copy__(self) -> Program[P, R]:
        """A program is what it is, as a function is."""
        return self

    def __deepcopy__(self, memo: object) -> Program[P, R]:
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        """Called where a class body ends: the class says what `self` is."""
        self.belong_to(owner)

    def belong_to(self, owner: type | None) -> None:
        """Say of which class the function is a method, if of any."""
        self._specializer.owner = owner

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> Program[P, R]: ...

    @overload
    def __get__(
        self: Program[Concatenate[Any, Q], R], instance: object, owner: type | None = None
    ) -> BoundProgram[Q, R]: ...

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        """Return the program bound to an instance: in a class body it is a method, as a Python function is."""
        return self if instance is None else BoundProgram(self, instance)


class SymbolicCalls(Dispatcher):
    """Calls of a program with symbols by keyword, always the same ones: specializations of their own."""

    def __init__(self, program: Program[..., Any], symbols: tuple[str, ...]) -> None:
        self._program, self._symbols = program, symbols
        parameters, positional_only, keyword_only = parameters_of(program.function)
        more = tuple((name,) for name in symbols)
        count = keyword_only + len(symbols)
        super().__init__(program.function.__name__, (*parameters, *more), self._specialize, positional_only, count)
        if runtime_of(program.options).device_arrays:
            self.accept_devices(program._open_home)

    def _specialize(self, values: tuple[Any, ...]) -> Any:
        """Specialize the program for `values`; the dispatcher calls this when no specialization fits."""
        program = self._program
        return program._specializer.run(self, values, program.profile, self._symbols)


class BoundDocstring:
    """The docstring of a class, and of its objects that of the function that they call."""

    def __init__(self, of_class: str | None) -> None:
        self._of_class = of_class

    def __get__(self, instance: BoundProgram[..., Any] | None, owner: type | None = None) -> str | None:
        return self._of_class if instance is None else instance.program.__doc__


class BoundProgram(functools.partial[R], Generic[P, R]):
    """A program with some of its arguments given, ``grid.relax``: a `partial`, because that calls without Python code.

    So are the programs of methods, of objects that can be called, and of partial calls.
    """

    __doc__ = BoundDocstring(__doc__)  # help(grid.relax) is about `relax`

    if TYPE_CHECKING:

        def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R: ...

    def __getattr__(self, name: str) -> Any:
        """The function's name and annotations, as of a method, and the signature that is left."""
        if name == "__signature__":
            return inspect.signature(functools.partial(self.program.function, *self.args, **self.keywords))
        if name in ("__name__", "__qualname__", "__annotations__"):
            return getattr(self.program, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __get__(self, instance: object, owner: type | None = None) -> BoundProgram[P, R]:
        """Itself: it is bound already, as the method of an object is."""
        return self

    def to_sdfg(self, *arguments: Any, simplify: bool | None = None, as_called: bool = False, **named: Any) -> SDFG:
        """The SDFG for what was given and sample arguments."""
        given = {**self.keywords, **named}
        return self.program.to_sdfg(*self.args, *arguments, simplify=simplify, as_called=as_called, **given)

    def compile(self, *arguments: Any, **named: Any) -> CompiledSdfg:
        """Ahead of time: machine code for what was given, and arguments like these. It is called with all of them."""
        return self.program.compile(*self.args, *arguments, **{**self.keywords, **named})

    def check(self, *arguments: P.args, **named: P.kwargs) -> ProgramCheck:
        """Compare the program with its function in Python, for what was given and these arguments."""
        return self.program.check(*self.args, *arguments, **{**self.keywords, **named})

    def tune(self, *arguments: Any, seconds: float = 30.0, **named: Any) -> Tuning:
        """Search a quicker version for what was given, and arguments of these sizes."""
        return self.program.tune(*self.args, *arguments, seconds=seconds, **{**self.keywords, **named})

    @property
    def program(self) -> Program[..., R]:
        """The program, which takes all arguments."""
        assert isinstance(self.func, Program)
        return self.func
