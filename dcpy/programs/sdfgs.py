"""An SDFG as users hold it (`SDFG`), built by hand (`Builder`), read (`parse`, `load`), and as machine code.

`dcpy.api` has programs, which make them of functions.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import numpy as np

from dcpy import driver, plugins
from dcpy.base.errors import ArgumentError, ArgumentShapeError, CompilerFault, InvalidSdfg
from dcpy.base.options import DeviceType, Options, resolve_options
from dcpy.base.tracebacks import own_frames_hidden
from dcpy.codegen.artifact import IntegerArg
from dcpy.frontend.specialize.free_symbols import require_told, without_symbols
from dcpy.ir.building.builder import SdfgBuilder
from dcpy.ir.building.dace_spellings import GraphWords
from dcpy.ir.nodes import Node
from dcpy.ir.region import Block
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.ranks import sdfg_distribution
from dcpy.programs.signatures import Convention, signature_of, signature_of_call
from dcpy.runtime.calls.array_borrowing import borrowed
from dcpy.runtime.calls.compiled_function import call_converted
from dcpy.runtime.dispatch import Dispatcher, encode
from dcpy.runtime.loading.devices import runtime_of
from dcpy.targets.catalog import require_device

if TYPE_CHECKING:
    from dcpy.ir.distribution import Distribution
    from dcpy.runtime.distributed.array_placement import Placement
    from dcpy.runtime.loading.kernel_cycles import SimulatedKernel
    from dcpy.transforms.api import Transformation
    from dcpy.transforms.passes import Pass

TransformationLike = Union[str, type["Transformation[Any]"], "Transformation[Any]"]


class SDFG(GraphWords):
    """A stateful dataflow multigraph, as users hold it: printable, transformable, runnable.

    Made by ``program.to_sdfg()``, `parse`, `load` and `dcpy.Builder`. One that was made from a function whose arguments
    are objects or tuples (`convention`) is called with these; one that was read, with their parts.
    """

    convention: Convention | None = None
    general: SDFG | None = None  # of one made for samples: for sizes that are not related as those of its slices

    def called_as(self, convention: Convention) -> SDFG:
        """This SDFG, called as the function is that it was made of; returns itself."""
        if convention.passing.records or convention.passing.outcome.returned != self.structure:
            self.convention = convention.with_global_arrays_passed()
        return self

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
        """Read a ``.sdfg`` file (JSON). Nothing in it is run. Raises `ParseError`.

        `callbacks` are the Python functions that the program calls, by the names that it has for them
        (``"module:function"``): a file names them, and brings none along.
        """
        from dcpy.ir.files.json import load

        plugins.load()  # library nodes are found by name
        return SDFG.of(load(path)).bind(callbacks or {})

    def bind(self, callbacks: Mapping[str, Callable[..., Any]]) -> SDFG:
        """Give the callbacks of this SDFG their Python functions, by name; return itself."""
        from dcpy.ir.library.callback_table import bind

        bind(self, callbacks)
        return self

    @own_frames_hidden
    def save(self, path: str | Path) -> None:
        """Write a ``.sdfg`` file (JSON), atomically."""
        from dcpy.ir.files.json import save

        save(self, path)

    def __str__(self) -> str:
        """The textual form, which `dcpy.parse` reads."""
        from dcpy.ir.text.printer import print_sdfg

        with _shown_or_refused(self):
            return print_sdfg(self)

    def __repr__(self) -> str:
        return f"<SDFG {self.name}({', '.join(self.arguments)})>"

    @own_frames_hidden
    def validate(self) -> None:
        """Raise `InvalidSdfg` with everything that is wrong."""
        from dcpy.ir.verify import COMPILABLE, verify

        plugins.load()  # environments are found by name
        verify(self, COMPILABLE)

    @own_frames_hidden
    def simplify(self) -> SDFG:
        """Coarsen the dataflow without changing results; return itself."""
        driver.simplify(self)
        return self

    @own_frames_hidden
    def auto_optimize(self, device: DeviceType = DeviceType.CPU) -> SDFG:
        """Reshape the data movement for a device: idioms to library calls, loops to maps, maps fused; return itself.

        Works on the simple form. The order of floating-point sums may change, within the documented tolerance.
        """
        require_device(device)
        driver.simplify(self)
        driver.auto_optimize(self)
        return self

    @own_frames_hidden
    def apply(self, transformation: TransformationLike, *places: object, **captures: Node | Block | str) -> SDFG:
        """Apply a transformation at its first match, or at the one whose captures are named; return itself.

        ``sdfg.apply(dcpy.MapFusion, first=node)``, ``sdfg.apply("strip-mining", scope="i", size=64)``.
        Raises `TransformationRefused` with the reasons if nothing fits.
        """
        if places:
            driver.refuse_unnamed(transformation)
        driver.apply(self, transformation, captures)
        return self

    @own_frames_hidden
    def transform(self, transformation: TransformationLike, **captures: Node | Block | str | object) -> Any:
        """Apply a transformation as `apply` does; return what it made: for most, maps and loops, outermost first."""
        return driver.apply(self, transformation, captures)

    @own_frames_hidden
    def apply_repeated(self, transformation: TransformationLike) -> int:
        """Apply a transformation as long as it fits somewhere; return how often it did."""
        return driver.apply_repeated(self, transformation)

    @own_frames_hidden
    def explain(
        self,
        step: TransformationLike | Pass | None = None,
        *,
        sizes: Mapping[str, int] | None = None,
        **options: object,
    ) -> str:
        """Return the compiler's decisions about this SDFG, and the reasons, line by line: threads, vectors, fusion, ...

        Of one pass or transformation if it is given; a transformation's answer is every match with its verdict.
        For GPUs also what becomes of each kernel, with bytes and times of a model where `sizes` has values of symbols.
        """
        from dcpy.programs.explanation.explain import explain  # late: loads the catalog of passes

        return explain(self, step, resolve_options(options), sizes or {})

    @own_frames_hidden
    def lower(self, until: str = "", **options: object) -> SDFG:
        """A copy as it is just before code generation, or after the pass called `until` (``"assign-schedules"``).

        `UnknownName` lists the passes where none is called that. Options are those of `compile`.
        """
        return SDFG.of(driver.lower(self, resolve_options(options), until=until)[0])

    @own_frames_hidden
    def code(self, **options: object) -> str:
        """The text that is compiled for this SDFG, with the lines of Python that it comes from; all its files.

        Options are those of `compile`, such as ``cpu_language="c"``.
        """
        from dcpy.codegen.annotated_source import listing  # late: loads the code generator

        return listing(driver.artifact_of(self, signature_of(self), resolve_options(options)))

    @own_frames_hidden
    def gradient(self, wrt: Sequence[str]) -> SDFG:
        """Add the gradients of the only result, a real number, by floating-point arguments; return itself.

        It then returns a pair: the number, and a tuple of gradients in the order of `wrt`. Works on the simple form,
        before `auto_optimize`. Raises `GradientRefused`, with what to write instead; `dcpy.grad` does this to programs.
        """
        from dcpy.autodiff.reverse.mode import reverse_mode  # late: for gradients only

        plugins.load()
        reverse_mode(self, tuple(wrt))
        return self

    def applied(self) -> dict[str, int]:
        """Return how often each transformation has run on this SDFG."""
        counts: dict[str, int] = {}
        for entry in self.history:
            name = str(entry).split("{", maxsplit=1)[0].split(" ", maxsplit=1)[0]
            counts[name] = counts.get(name, 0) + 1
        return counts

    @own_frames_hidden
    def expand_library_nodes(self, *prefer: str, pes: int = 0) -> SDFG:
        """Replace each library node by the first expansion of `prefer` that fits, else by the target's own choice.

        ``expand_library_nodes("PBLAS")`` puts products on a grid of ranks, with copies of their operands to there, and
        leaves all other nodes as they are. Raises `TransformationRefused` where there is no product to put there.
        ``expand_library_nodes("systolic", pes=8)`` makes arrays of processing elements of products, for FPGAs; 0: as
        many as are of use.
        """
        driver.expand(self, prefer, pes)
        return self

    @own_frames_hidden
    def specialize(self, sizes: Mapping[str, int]) -> SDFG:
        """Give symbols of shapes these values, as in ``sdfg.specialize({"N": 512})``; return itself.

        Arrays must have these sizes then. For what needs a size in numbers: windows of stencils and systolic arrays.
        """
        from dcpy.ir.editing.size_specialization import specialize

        specialize(self, sizes)
        return self

    @own_frames_hidden
    def distribute(
        self,
        plan: Mapping[str, Distribution | Placement | str] | None = None,
        grids: Mapping[str, Sequence[int | str]] | None = None,
        *,
        ranks: int = 16,
        sizes: Mapping[str, int] | None = None,
        memory: int = 0,
        steps: int = 0,
    ) -> SDFG:
        """Say where containers live, and find out what runs where and what is sent; return itself.

        ``sdfg.distribute({"A": "g(block 0, whole)"}, {"g": ["P"]})``: distributions as in the textual form, grids with
        their sizes, which are numbers or symbols; or what `dcpy.on` makes, on a grid that is there. Without a plan the
        one is taken that is expected to take least time on `ranks` ranks with these `sizes` of symbols, and no more
        than `memory` bytes on each, if that is not 0; it serves any number of ranks and any sizes. In loops, `steps`
        iterations run between two messages to a neighbour, where that can be; 0: as many as are expected to take least
        time; -1: each map gets what it reads. Results stay the same, up to the order of sums.
        Raises `TransformationRefused` for what cannot be distributed, or does not fit.
        """
        if plan is None:
            sdfg_distribution.choose_distributions(self, ranks, sizes or {}, memory, steps=steps)
            return self
        from dcpy.programs.ranks.compilation import as_plan  # late: for several ranks only

        found, more = as_plan(plan, {*(grids or {}), *self.grids, *self.containers})
        sdfg_distribution.distribute(self, found, {**(grids or {}), **more}, steps=steps)
        return self

    @own_frames_hidden
    def localize(self, *, overlap: bool = False) -> SDFG:
        """Make a distributed program that of one rank, in which communication is explicit; return itself.

        With `overlap`, elements of neighbours arrive while what needs none of them is computed.
        Raises `TransformationRefused` where a rank would touch what it does not have.
        """
        sdfg_distribution.localize(self, overlap)
        return self

    @own_frames_hidden
    def erased(self) -> SDFG:
        """A copy without distributions: the same program for one rank. `InvalidSdfg` for one that sends messages."""
        from dcpy.ir.editing.distribution_erasure import erased

        return erased(self)

    @own_frames_hidden
    def interpret(self, *arguments: Any, **named: Any) -> Any:
        """Run the SDFG in the reference interpreter: slow, and what it computes is what the SDFG means."""
        try:
            return self._interpreted(arguments, named)
        except (ArgumentError, ArgumentShapeError):
            if self.general is None:
                raise
        return self.general.interpret(*arguments, **named)

    def _interpreted(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        named, symbols = without_symbols(self, named)
        if self.convention is None or self._names_parts(arguments, named):
            bound = self._bind(arguments, named)
            require_told(self, bound, symbols)
            return driver.interpret(self, bound)
        bound = self._bind(arguments, named, self.convention.parameters)
        results = driver.interpret(self, self.convention.taken_apart(bound))
        return self.convention.delivered(bound, results)

    def _names_parts(self, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> bool:
        """Return whether the SDFG's own arguments are given, parts of objects, and not the function's parameters."""
        assert self.convention is not None
        return not arguments and any(name not in self.convention.parameters for name in named)

    @own_frames_hidden
    def compile(self, **options: object) -> CompiledSdfg:
        """Machine code for this SDFG as it is now, with options as keywords, such as ``cpu_openmp=False``."""
        return CompiledSdfg(self, resolve_options(options))

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """Compile (or find in the cache) and call; a distributed one on all ranks that there are."""
        if self.grids and any(getattr(node, "home", None) or _is_placed(self) for node in self.body.walk_nodes()):
            # Imported here, so that programs on one rank do not load it.
            from dcpy.programs.ranks.collective_sdfg_calls import call_on_ranks

            names = [*self.arguments, *(name for grid in self.grids.values() for name in grid.symbols)]
            return call_on_ranks(self, self._bind(arguments, named, names), resolve_options({}))
        return self.compile()(*arguments, **named)

    @own_frames_hidden
    def view(self, path: str | Path = "") -> Path:
        """Write a self-contained HTML page (default: ``NAME.html``, here); return where it is.

        Raises `InvalidSdfg` where the name is none: a page never lands in another folder than it should.
        """
        from dcpy.ir.verify import verify_readable
        from dcpy.viewer import view_html

        verify_readable(self, InvalidSdfg)
        target = Path(path or f"{self.name}.html")
        with _shown_or_refused(self):
            page = view_html(self)
        target.write_text(page, encoding="utf-8")
        return target

    def _repr_html_(self) -> str:
        from dcpy.viewer import notebook_html

        with _shown_or_refused(self):
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


def _is_placed(sdfg: Sdfg) -> bool:
    """Return whether containers live somewhere: it is not yet the program of one rank."""
    descs = (desc for region in sdfg.body.walk_regions() for desc in region.containers.values())
    return any(getattr(desc, "distribution", None) is not None for desc in descs)


@contextmanager
def _shown_or_refused(sdfg: Sdfg) -> Iterator[None]:
    """Raise the errors of an SDFG that was not validated, if showing it fails."""
    try:
        yield
    except (CompilerFault, ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError):
        from dcpy.ir.verify import verify

        verify(sdfg)
        raise


class Builder(SdfgBuilder):
    """Builds an `SDFG` by hand; see `dcpy.ir.building.builder.SdfgBuilder` for how. The result is ``b.sdfg``."""

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
        from dcpy.ir.verify import COMPILABLE, verify

        plugins.load()
        if sdfg.grids:
            from dcpy.programs.ranks.compilation import attach, with_messages  # late: for several ranks only

            sdfg = with_messages(sdfg)
        verify(sdfg, COMPILABLE)
        self._sdfg, self._options = sdfg, options
        self._general: Sdfg | None = getattr(sdfg, "general", None)
        self.profile: driver.Profile = {}
        convention = self._convention = getattr(sdfg, "convention", None)
        self._sources: tuple[tuple[Any, ...], ...] = ()
        names = tuple(sdfg.arguments)
        if convention is None:
            self.signature = signature_of(sdfg)
            names = tuple(arg.name for arg in self.signature.args)  # of a rank among others: symbols, too
        else:
            self.signature, self._sources = signature_of_call(sdfg, convention)
            names = convention.parameters
        loaded = driver.compile_sdfg(sdfg, self.signature, options, profile=self.profile)
        self.signature = loaded.signature
        self.path = loaded.path
        if sdfg.grids:
            attach(loaded.library, options=options)
        super().__init__(sdfg.name, tuple((name,) for name in names), self._call_with_other_values)
        callbacks = sdfg.callbacks
        self.add(
            encode(
                loaded.signature, loaded.entry, loaded.results, closure=self._sources, keepalive=loaded.library,
                callbacks=callbacks, device=loaded.device, on_stream=loaded.on_stream, notes=loaded.notes,
            )
        )  # fmt: skip
        if self.signature.on_device:
            self.accept_devices(self._open_home)

    def simulated(self, *arguments: Any, **named: Any) -> Mapping[str, SimulatedKernel]:
        """Call the program with copies of the arguments; return the cycles of each simulated kernel."""
        cycles = runtime_of(self._options).cycles
        cycles(self.path, self.signature.name)  # forgets earlier calls
        self(*copy.deepcopy(arguments), **copy.deepcopy(named))
        return cycles(self.path, self.signature.name)

    def _open_home(self) -> Any:
        """The device that arguments are on."""
        return runtime_of(self._options).arrays.home(self._options)

    def _imported(self, name: str, value: Any) -> Any:
        """Our array for another library's of that device."""
        return runtime_of(self._options).arrays.imported(self._open_home(), name, value)

    def call_with_symbols(self, args: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
        """A call that gives sizes by keyword, too: ``compiled(A=a, N=5)``. `NotImplemented` where it gives none."""
        arguments, symbols = without_symbols(self._sdfg, named)
        if not symbols:
            return NotImplemented
        require_told(self._sdfg, dict(zip(self._sdfg.arguments, args, strict=False)) | arguments, symbols)
        return self(*args, **arguments)

    def _call_with_other_values(self, values: tuple[Any, ...]) -> Any:
        """Convert values that do not fit the program, where it is safe, and call it; or explain the mismatch."""
        mine = borrowed(values, lambda: [arg.name for arg in self.signature.args], convert=self._options.convert)
        if mine is not None:
            return mine.call(self._call_with_other_values)
        numbers = tuple(
            value.item() if isinstance(arg, IntegerArg) and isinstance(value, np.integer) else value
            for arg, value in zip(self.signature.args, values, strict=False)
        )
        result = self.dispatch(numbers)
        if result is not NotImplemented:
            return result
        shown = self.signature if self._convention is None else self._convention.described(self.signature)
        try:
            return call_converted(self, shown, numbers, self._sources, self._imported)
        except ArgumentShapeError:
            if self._general is None:
                raise
        return self._compiled_general(*values)

    @functools.cached_property
    def _compiled_general(self) -> CompiledSdfg:
        """Compile for sizes that are not related as those of the samples were."""
        assert self._general is not None
        return CompiledSdfg(self._general, self._options)


@own_frames_hidden
def parse(text: str, *, callbacks: Mapping[str, Callable[..., Any]] | None = None) -> SDFG:
    """Read the textual form of an SDFG. Raises `ParseError`. `callbacks` as in `SDFG.load`."""
    from dcpy.ir.text.parser import parse_sdfg

    plugins.load()  # library nodes are found by name
    return SDFG.of(parse_sdfg(text)).bind(callbacks or {})
