"""What users touch: `program`, `Program`, `SDFG`, `parse`, `load`.

Thin spellings of functions that live below; `dcpy.driver` shows the way of the data.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from dcpy import driver, plugins
from dcpy.base.errors import ArgumentError, FrontendError, InvalidSdfg
from dcpy.base.options import DeviceType, Options, resolve_options
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.codegen.artifact import IntegerArg
from dcpy.frontend.annotations import annotated, as_type
from dcpy.frontend.dataflow.symbols import require_told, without_symbols
from dcpy.ir import builder
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.words import GraphWords
from dcpy.runtime.dispatch import Dispatcher, encode
from dcpy.runtime.function import call_converted
from dcpy.runtime.parameters import parameters_of
from dcpy.signatures import Convention, signature_of, signature_of_call
from dcpy.specializations import Specializer

if TYPE_CHECKING:
    from dcpy.transforms.api import Transformation

TransformationLike = Union[str, type["Transformation"], "Transformation"]


class SDFG(GraphWords):
    """A stateful dataflow multigraph, as users hold it: printable, transformable, runnable.

    Made by ``program.to_sdfg()``, `parse`, `load` and `dcpy.Builder`. One that was made from a function whose arguments
    are objects or tuples (`convention`) is called with these; one that was read, with their parts.
    """

    convention: Convention | None = None

    @classmethod
    def of(cls, sdfg: Sdfg) -> SDFG:
        """`sdfg` with this class' methods. It shares everything with the one given, which is not to be used further."""
        made = cls.__new__(cls)
        made.__dict__.update(sdfg.__dict__)
        made.body.owner = made
        return made

    @staticmethod
    @own_frames_hidden
    def load(path: str | Path, *, callbacks: Mapping[str, Callable[..., Any]] | None = None) -> SDFG:
        """Reads a ``.sdfg`` file (JSON). Nothing in it is run. Raises `ParseError`.

        `callbacks` are the Python functions that the program calls, by the names that it has for them
        (``"module:function"``): a file names them, and brings none along.
        """
        from dcpy.ir.json import load

        plugins.load()  # library nodes are found by name
        return SDFG.of(load(path)).bind(callbacks or {})

    def bind(self, callbacks: Mapping[str, Callable[..., Any]]) -> SDFG:
        """Gives the callbacks of this SDFG their Python functions, by name; returns itself."""
        from dcpy.ir.callbacks import bind

        bind(self, callbacks)
        return self

    @own_frames_hidden
    def save(self, path: str | Path) -> None:
        """Writes a ``.sdfg`` file (JSON), atomically."""
        from dcpy.ir.json import save

        save(self, path)

    def __str__(self) -> str:
        """The textual form, which `dcpy.parse` reads."""
        from dcpy.ir.text.printer import print_sdfg

        return print_sdfg(self)

    def __repr__(self) -> str:
        return f"<SDFG {self.name}({', '.join(self.arguments)})>"

    @own_frames_hidden
    def validate(self) -> None:
        """Raises `InvalidSdfg` with everything that is wrong."""
        from dcpy.ir.verify import verify

        verify(self)

    @own_frames_hidden
    def simplify(self) -> SDFG:
        """Coarsens the dataflow without changing results; returns itself."""
        driver.simplify(self)
        return self

    @own_frames_hidden
    def auto_optimize(self, device: DeviceType = DeviceType.CPU) -> SDFG:
        """Reshapes the data movement for a device: idioms to library calls, loops to maps, maps fused; returns itself.

        Works on the simple form. The order of floating-point sums may change, within the documented tolerance.
        """
        driver.require_device(device)
        driver.simplify(self)
        driver.auto_optimize(self)
        return self

    @own_frames_hidden
    def apply(self, transformation: TransformationLike, *places: object, **captures: Node | Block | str) -> SDFG:
        """Applies a transformation at its first match, or at the one whose captures are named; returns itself.

        ``sdfg.apply(dcpy.MapFusion, first=node)``. Raises `TransformationRefused` with the reasons if nothing fits.
        """
        if places:
            driver.refuse_unnamed(transformation)
        driver.apply(self, transformation, captures)
        return self

    @own_frames_hidden
    def apply_repeated(self, transformation: TransformationLike) -> int:
        """Applies a transformation as long as it fits somewhere; returns how often it did."""
        return driver.apply_repeated(self, transformation)

    @own_frames_hidden
    def explain(self, transformation: TransformationLike | None = None) -> str:
        """Every match of a transformation (default: of all) with the verdict and its reason."""
        return driver.explain(self, transformation)

    def applied(self) -> dict[str, int]:
        """Which transformations have run on this SDFG, and how often."""
        counts: dict[str, int] = {}
        for entry in self.history:
            name = str(entry).split("{", maxsplit=1)[0].split(" ", maxsplit=1)[0]
            counts[name] = counts.get(name, 0) + 1
        return counts

    @own_frames_hidden
    def expand_library_nodes(self, *prefer: str) -> SDFG:
        """Replaces each library node by the first expansion of `prefer` that fits, else by the target's own choice."""
        driver.expand(self, prefer)
        return self

    @own_frames_hidden
    def interpret(self, *arguments: Any, **named: Any) -> Any:
        """Runs the SDFG in the reference interpreter: slow, and what it computes is what the SDFG means."""
        named, symbols = without_symbols(self, named)
        if self.convention is None or (not arguments and all(name in self.arguments for name in named)):
            bound = self._bind(arguments, named)
            require_told(self, bound, symbols)
            return driver.interpret(self, bound)
        bound = self._bind(arguments, named, self.convention.parameters)
        results = driver.interpret(self, self.convention.taken_apart(bound))
        return self.convention.delivered(bound, results)

    @own_frames_hidden
    def compile(self, **options: object) -> CompiledSdfg:
        """Machine code for this SDFG as it is now, with options by dotted name (``**{"cpu.openmp": False}``)."""
        return CompiledSdfg(self, resolve_options(options))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Compiles (or finds in the cache) and calls."""
        return self.compile()(*arguments, **named)

    @own_frames_hidden
    def view(self, path: str | Path = "") -> Path:
        """Writes a self-contained HTML page (default: ``NAME.html``, here); returns where it is.

        Raises `InvalidSdfg` where the name is none: a page never lands in another folder than it should.
        """
        from dcpy.ir.verify import verify_readable
        from dcpy.viewer import view_html

        verify_readable(self, InvalidSdfg)
        target = Path(path or f"{self.name}.html")
        target.write_text(view_html(self), encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        from dcpy.viewer import notebook_html

        return notebook_html(self)

    def _bind(
        self, arguments: tuple[Any, ...], named: Mapping[str, Any], parameters: Sequence[str] = ()
    ) -> dict[str, Any]:
        parameters = parameters or self.arguments
        if len(arguments) > len(parameters):
            raise ArgumentError(f"{self.name}() takes {len(parameters)} arguments but {len(arguments)} were given")
        bound = dict(zip(parameters, arguments, strict=False))
        for name, value in named.items():
            if name in bound:
                raise ArgumentError(f"{self.name}() got multiple values for argument {name!r}")
            bound[name] = value
        return bound


class Builder(builder.Builder):
    """Builds an `SDFG` by hand; see `dcpy.ir.builder.Builder` for how. The result is ``b.sdfg``."""

    sdfg_type = SDFG


class CompiledSdfg(Dispatcher):
    """An SDFG as machine code: called with its arguments in order, or by name. Sizes are found in the arrays.

    It is validated first: machine code trusts what a file or a hand has written.

    Attributes
    ----------
    profile
        Seconds by stage: ``lower``, ``codegen``, ``compiler``, ``load``.
    path
        The shared library.
    """

    def __init__(self, sdfg: Sdfg, options: Options) -> None:
        from dcpy.ir.verify import verify

        verify(sdfg)
        self._sdfg = sdfg
        self.profile: driver.Profile = {}
        convention = self._convention = getattr(sdfg, "convention", None)
        self._sources: tuple[tuple[Any, ...], ...] = ()
        names = tuple(sdfg.arguments)
        if convention is None:
            self.signature = signature_of(sdfg)
        else:
            self.signature, self._sources = signature_of_call(sdfg, convention)
            names = convention.parameters
        loaded = driver.compile_sdfg(sdfg, self.signature, options, profile=self.profile)
        self.signature = loaded.signature
        self.path = loaded.path
        super().__init__(sdfg.name, tuple((name,) for name in names), self._call_with_other_values)
        callbacks = sdfg.callbacks
        self.add(
            encode(
                loaded.signature, loaded.entry, loaded.results, closure=self._sources, keepalive=loaded.library,
                callbacks=callbacks,
            )
        )  # fmt: skip

    def call_with_symbols(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A call that gives sizes by keyword, too: ``compiled(A=a, N=5)``. `NotImplemented` where it gives none."""
        arguments, symbols = without_symbols(self._sdfg, named)
        if not symbols:
            return NotImplemented
        require_told(self._sdfg, dict(zip(self._sdfg.arguments, args, strict=False)) | arguments, symbols)
        return self(*args, **arguments)

    def _call_with_other_values(self, values: tuple[Any, ...]) -> Any:
        """What the dispatcher does where the values do not fit: converts what is safe to convert, or explains."""
        numbers = tuple(
            value.item() if isinstance(arg, IntegerArg) and isinstance(value, np.integer) else value
            for arg, value in zip(self.signature.args, values, strict=False)
        )
        shown = self.signature if self._convention is None else self._convention.described(self.signature)
        return call_converted(self, shown, numbers, self._sources)


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
        functools.update_wrapper(self, function)

    def _specialize(self, values: tuple[Any, ...]) -> Any:
        """What the dispatcher does when no specialization fits."""
        return self._specializer.run(self, values, self.profile)

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
    def to_sdfg(self, *arguments: Any, simplify: bool | None = None, **named: Any) -> SDFG:
        """The SDFG for the annotated types, or for those of sample arguments. `simplify` overrides the option."""
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
        sdfg, convention = self._specializer.to_sdfg(bound, simplify=wanted, symbols=names)
        made = SDFG.of(sdfg)
        if convention.passing.records or convention.passing.outcome.returned != sdfg.structure:
            made.convention = convention.with_global_arrays_passed()
        return made

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
        """Ahead of time: machine code for the annotated types, or for those of sample arguments."""
        return CompiledSdfg(self.to_sdfg(*arguments, **named), self.options)

    def __repr__(self) -> str:
        return f"<dcpy.program {self.function.__qualname__}>"

    def __reduce__(self) -> str:
        """Copied and sent to other processes as Python's functions are: by name."""
        return str(self.function.__qualname__)

    def __set_name__(self, owner: type, name: str) -> None:
        """Called where a class body ends: the class says what `self` is."""
        self._specializer.owner = owner

    def __get__(self, instance: object, owner: type | None = None) -> Program | BoundMethod:
        """In a class body, a program is a method, as a Python function is."""
        return self if instance is None else BoundMethod(self, instance)


class SymbolicCalls(Dispatcher):
    """Calls of a program with symbols by keyword, always the same ones: specializations of their own."""

    def __init__(self, program: Program, symbols: tuple[str, ...]) -> None:
        self._program, self._symbols = program, symbols
        parameters, positional_only, keyword_only = parameters_of(program.function)
        more = tuple((name,) for name in symbols)
        count = keyword_only + len(symbols)
        super().__init__(program.function.__name__, (*parameters, *more), self._specialize, positional_only, count)

    def _specialize(self, values: tuple[Any, ...]) -> Any:
        """What the dispatcher does when no specialization fits."""
        program = self._program
        return program._specializer.run(self, values, program.profile, self._symbols)


class VariadicProgram(Program):
    """A program with ``*args``: it is compiled for each number of arguments, which are passed as a tuple."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls machine code, compiled for arguments like these."""
        values = self._bound(args, kwargs)
        keywords = {name: values.pop(name) for name in self._keyword_only}
        return super().__call__(*values.values(), **keywords)

    @functools.cached_property
    def _keyword_only(self) -> tuple[str, ...]:
        return tuple(p.name for p in self._python_signature.parameters.values() if p.kind is p.KEYWORD_ONLY)


class BoundMethod(functools.partial[Any]):
    """A program as a method of an object: ``grid.relax``. A `partial`, because that calls without Python code."""

    def to_sdfg(self, *arguments: Any, simplify: bool | None = None, **named: Any) -> SDFG:
        """The SDFG for this object and sample arguments."""
        return self.program.to_sdfg(*self.args, *arguments, simplify=simplify, **named)

    def compile(self, *arguments: Any, **named: Any) -> CompiledSdfg:
        """Ahead of time: machine code for objects like this one. It is called with the object first."""
        return self.program.compile(*self.args, *arguments, **named)

    @property
    def program(self) -> Program:
        """The program, which takes the object as its first argument."""
        assert isinstance(self.func, Program)
        return self.func


@own_frames_hidden
def program(
    function: Callable[..., Any] | None = None,
    *types: Any,
    auto_optimize: bool = False,
    allow_callbacks: bool = False,
    device: DeviceType = DeviceType.CPU,
    ignore_type_hints: bool = False,
    **options: Any,
) -> Any:
    """Compiles a NumPy function: ``@dcpy.program``, or with options ``@dcpy.program(simplify=False)``.

    With `allow_callbacks`, functions that dcpy does not take are called in Python, as if they were `dcpy.callback`.
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
    if not isinstance(function, FunctionType):
        raise _not_a_function(function)
    driver.require_device(device)
    named = {name.replace("cpu_", "cpu.", 1): value for name, value in options.items()}
    resolved = resolve_options({"auto_optimize": auto_optimize, "allow_callbacks": allow_callbacks, **named})
    variadic = any(p.kind is p.VAR_POSITIONAL for p in inspect.signature(function).parameters.values())
    kind = VariadicProgram if variadic else Program
    return kind(function, resolved, use_annotations=not ignore_type_hints)


def method(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """A method of a dataclass that is compiled: ``@dcpy.method``, or with the options of `program`.

    `self` is an argument like others: its fields are passed at each call, and those that the method assigns are the
    object's afterwards. Subclasses are compiled anew. Raises as `program` does.
    """
    return program(function, **options)


def _not_a_function(found: Any) -> FrontendError:
    what = f"the class {found.__name__}" if isinstance(found, type) else f"{type(found).__name__} {found!r}"
    return FrontendError(
        f"@dcpy.program takes a Python function, not {what}",
        notes=("it compiles the source of one function, and of those that it calls",),
        help="decorate its methods with @dcpy.method" if isinstance(found, type)
        else "wrap it in a function, made with `def` in a file",
    )  # fmt: skip


@own_frames_hidden
def parse(text: str, *, callbacks: Mapping[str, Callable[..., Any]] | None = None) -> SDFG:
    """Reads the textual form of an SDFG. Raises `ParseError`. `callbacks` as in `load`."""
    from dcpy.ir.text.parser import parse_sdfg

    plugins.load()  # library nodes are found by name
    return SDFG.of(parse_sdfg(text)).bind(callbacks or {})


def load(path: str | Path, *, callbacks: Mapping[str, Callable[..., Any]] | None = None) -> SDFG:
    """Reads a ``.sdfg`` file. Raises `ParseError`. `callbacks`: the Python functions that it names."""
    return SDFG.load(path, callbacks=callbacks)
