"""User interface: `program`, `Program`, `load`, and from `dcpy.programs.sdfgs` `SDFG`, `parse`.

Thin spellings of functions that live below; `dcpy.driver` shows the way of the data.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import TYPE_CHECKING, Any, overload

from dcpy import driver
from dcpy.base.errors import ArgumentError, ArgumentShapeError, DcpyError
from dcpy.base.options import DeviceType, Options, resolve_options
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.frontend.annotations import annotated, as_type
from dcpy.frontend.introspection.generator_steps import is_generator
from dcpy.frontend.introspection.synthesized_functions import takes_keywords, with_keywords
from dcpy.programs.callables import callable_of
from dcpy.programs.pickling import PickleFunctions, reduction
from dcpy.programs.resumable_generators import GeneratorCall, GeneratorPrograms
from dcpy.programs.sdfgs import SDFG, Builder, CompiledSdfg, parse
from dcpy.programs.specialization.specializer import Specializer
from dcpy.runtime.calls.parameters import parameters_of
from dcpy.runtime.dispatch import Dispatcher
from dcpy.runtime.loading.devices import runtime_of
from dcpy.targets.catalog import require_device

if TYPE_CHECKING:
    from pathlib import Path

    from dcpy.ir.sdfg import Sdfg
    from dcpy.programs.autotuning.local_search import Tuning
    from dcpy.programs.explanation.roofline import Roofline
    from dcpy.programs.ranks.collective_calls import RankCalls
    from dcpy.programs.signatures import Convention
    from dcpy.runtime.distributed.array_placement import Placement
    from dcpy.runtime.distributed.distributed_arrays import DistArray

__all__ = ["SDFG", "Builder", "CompiledSdfg", "Program", "load", "method", "parse", "program"]


class Program(Dispatcher):
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

    def __copy__(self) -> Program:
        """A program is what it is, as a function is."""
        return self

    def __deepcopy__(self, memo: object) -> Program:
        return self

    def __set_name__(self, owner: type, name: str) -> None:
        """Called where a class body ends: the class says what `self` is."""
        self.belong_to(owner)

    def belong_to(self, owner: type | None) -> None:
        """Say of which class the function is a method, if of any."""
        self._specializer.owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Program | BoundProgram:
        """Return the program bound to an instance: in a class body it is a method, as a Python function is."""
        return self if instance is None else BoundProgram(self, instance)


class SymbolicCalls(Dispatcher):
    """Calls of a program with symbols by keyword, always the same ones: specializations of their own."""

    def __init__(self, program: Program, symbols: tuple[str, ...]) -> None:
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


class VariadicProgram(Program):
    """A program with ``*args``: it is compiled for each number of arguments, which are passed as a tuple."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call machine code, compiled for arguments like these."""
        values = self._bound(args, kwargs)
        keywords = {name: values.pop(name) for name in self._keyword_only}
        return super().__call__(*values.values(), **keywords)

    @functools.cached_property
    def _keyword_only(self) -> tuple[str, ...]:
        return tuple(p.name for p in self._python_signature.parameters.values() if p.kind is p.KEYWORD_ONLY)


class KeywordProgram(Program):
    """A program with ``**kwargs``: it is compiled for the names that are given, each an argument of its own."""

    def __init__(self, function: FunctionType, options: Options, *, use_annotations: bool = True) -> None:
        super().__init__(with_keywords(function, ()), options, use_annotations=use_annotations)
        self.__wrapped__ = function  # what programs call that call this one
        self._by_names: dict[tuple[str, ...], Program] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the program for these keywords."""
        return self._given(kwargs)(*args, **kwargs)

    def to_sdfg(self, *arguments: Any, simplify: bool | None = None, as_called: bool = False, **named: Any) -> SDFG:
        """The SDFG for these keywords."""
        return self._given(named).to_sdfg(*arguments, simplify=simplify, as_called=as_called, **named)

    def _given(self, kwargs: Mapping[str, Any]) -> Program:
        known = {p.name for p in self._python_signature.parameters.values() if p.kind is not p.POSITIONAL_ONLY}
        names = tuple(name for name in kwargs if name not in known and name not in self._specializer.symbols)
        if names not in self._by_names:
            made = _program_of(with_keywords(self.__wrapped__, names), self.options, self.uses_annotations)
            made.belong_to(self._specializer.owner)
            self._by_names[names] = made
        return self._by_names[names]


class GeneratorProgram(Program):
    """A generator: a call gives an iterator that keeps its state (`dcpy.programs.resumable_generators`)."""

    def __call__(self, *args: Any, **kwargs: Any) -> GeneratorCall:
        """The iterator. Nothing runs before its first item is asked for."""
        self._bound(args, kwargs)
        if not self._stepping.is_current():
            del self.__dict__["_stepping"]
        return GeneratorCall(self._stepping, args, kwargs)

    @functools.cached_property
    def _stepping(self) -> GeneratorPrograms:
        return GeneratorPrograms(self.function, self._step)

    def _step(self, function: FunctionType) -> Program:
        made = _program_of(function, self.options, self._specializer.use_annotations)
        made.belong_to(self._specializer.owner)
        return made


class CheckedProgram(Program):
    """A program that looks for races between the iterations of `dcpy.map`: the interpreter runs it as it is written."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Interpret; raise `DataRace` where two iterations depend on each other."""
        values = self._bound(args, kwargs)
        made, *others = self._specializer.as_written(values)
        try:
            return self._interpreted(*made, values)
        except (ArgumentError, ArgumentShapeError):  # sizes that the first one relates differ
            if not others:
                raise
        return self._interpreted(*others[0], values)

    def _interpreted(
        self, sdfg: Sdfg, convention: Convention, arrays: Mapping[str, Any], values: Mapping[str, Any]
    ) -> Any:
        """Return what the program gives; strings and the like are part of it, and no arguments."""
        called, given = SDFG.of(sdfg).called_as(convention), {**values, **arrays}
        names = called.arguments if called.convention is None else called.convention.parameters
        return called.interpret(**{name: given[name] for name in names})


class DistributedProgram(Program):
    """A program that all ranks of a job call together, each with its parts of distributed arrays."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call machine code on every rank; raise on all of them where they do not call the same."""
        return self._ranks(args, kwargs, self.profile)

    @functools.cached_property
    def _ranks(self) -> RankCalls:
        from dcpy.programs.ranks.collective_calls import RankCalls  # late: for several ranks only

        return RankCalls(self.function, self.options, self._bound, self.to_sdfg)


class BoundProgram(functools.partial[Any]):
    """A program with some of its arguments given, ``grid.relax``: a `partial`, because that calls without Python code.

    So are the programs of methods, of objects that can be called, and of partial calls.
    """

    def to_sdfg(self, *arguments: Any, simplify: bool | None = None, as_called: bool = False, **named: Any) -> SDFG:
        """The SDFG for what was given and sample arguments."""
        given = {**self.keywords, **named}
        return self.program.to_sdfg(*self.args, *arguments, simplify=simplify, as_called=as_called, **given)

    def compile(self, *arguments: Any, **named: Any) -> CompiledSdfg:
        """Ahead of time: machine code for what was given, and arguments like these. It is called with all of them."""
        return self.program.compile(*self.args, *arguments, **{**self.keywords, **named})

    def tune(self, *arguments: Any, seconds: float = 30.0, **named: Any) -> Tuning:
        """Search a quicker version for what was given, and arguments of these sizes."""
        return self.program.tune(*self.args, *arguments, seconds=seconds, **{**self.keywords, **named})

    @property
    def program(self) -> Program:
        """The program, which takes all arguments."""
        assert isinstance(self.func, Program)
        return self.func


@own_frames_hidden
def program(
    function: Callable[..., Any] | None = None,
    *types: Any,
    auto_optimize: bool = False,
    allow_callbacks: bool = False,
    device: DeviceType | None = None,
    ignore_type_hints: bool = False,
    **options: Any,
) -> Any:
    """Compile a NumPy function: ``@dcpy.program``, or with options ``@dcpy.program(simplify=False)``.

    Partial calls (`functools.partial`), methods of objects and objects with ``__call__`` are taken as well.

    With `allow_callbacks`, functions that dcpy does not take are called in Python, as if they were `dcpy.callback`.
    `device` is what it is compiled for (default: the option's, CPUs).
    `ignore_type_hints` takes types from the calls even where there are annotations. Further options by their dotted
    names with ``_`` for the dot: ``cpu_openmp=False``, ``cache_dir="..."``; docs/reference/options.md lists them.
    The types of parameters may stand here instead of behind them: ``@dcpy.program(dcpy.float64[N], dcpy.int32)``.
    Raises `FrontendError` for what is no Python function, `UnknownName` for unknown options.
    """
    if function is not None and as_type(function) is not None:
        function, types = None, (function, *types)
    if function is None:
        if types:
            return lambda found: program(
                annotated(found, types), auto_optimize=auto_optimize, allow_callbacks=allow_callbacks, device=device,
                ignore_type_hints=ignore_type_hints, **options,
            )  # fmt: skip
        return functools.partial(
            program,
            auto_optimize=auto_optimize,
            allow_callbacks=allow_callbacks,
            device=device,
            ignore_type_hints=ignore_type_hints,
            **options,
        )
    if isinstance(function, Program):
        function = function.function
    entry = callable_of(function)
    named = {} if device is None else {"device": device}
    resolved = resolve_options({"auto_optimize": auto_optimize, "allow_callbacks": allow_callbacks, **options, **named})
    require_device(resolved.device)
    made = _program_of(entry.function, resolved, not ignore_type_hints)
    made.belong_to(entry.owner)
    return entry.close(made, BoundProgram)


def _program_of(function: FunctionType, options: Options, use_annotations: bool) -> Program:
    variadic = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values())
    if takes_keywords(function):
        return KeywordProgram(function, options, use_annotations=use_annotations)
    if is_generator(function):
        return GeneratorProgram(function, options, use_annotations=use_annotations)
    kind = CheckedProgram if options.check_races else VariadicProgram if variadic else Program
    if options.distributed and kind is Program:
        kind = DistributedProgram
    return kind(function, options, use_annotations=use_annotations)


def method(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A method of a dataclass that is compiled: ``@dcpy.method``, or with the options of `program`.

    `self` is an argument like others: its fields are passed at each call, and those that the method assigns are the
    object's afterwards. Subclasses are compiled anew. Raises as `program` does.
    """
    return program(function, **options)


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
