"""The compilation driver, on one page: from a function or an SDFG to machine code in memory.

    frontend.lower → transforms.simplify → the pipeline of a target → its code generator → runtime.loading.load

`dcpy.api` gives these steps their user-facing names, `dcpy.programs` decides what a call is compiled for.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING, Any, NoReturn

from dcpy import plugins
from dcpy.base.errors import DcpyError
from dcpy.base.internal_errors import faults_reported
from dcpy.base.library_environment import Environment
from dcpy.base.options import Options, resolve_options
from dcpy.ir.sdfg import Sdfg
from dcpy.targets.catalog import target_for

if TYPE_CHECKING:
    from dcpy.codegen.artifact import Artifact, Signature
    from dcpy.codegen.c_functions import CPrototype
    from dcpy.runtime.compilers.toolchain import Toolchain
    from dcpy.runtime.loading.load import Loaded
    from dcpy.runtime.storage.cache import Cache
    from dcpy.targets.target import Target
    from dcpy.transforms.api import Transformation
    from dcpy.transforms.pipeline import Pipeline, RunReport

Profile = dict[str, float]  # seconds by stage
PBLAS = "PBLAS"  # what scripts of the paper call the expansion of products to a grid of ranks


# -- compiling -------------------------------------------------------------------------------------------------------


@faults_reported
def compile_sdfg(
    sdfg: Sdfg,
    signature: Signature,
    options: Options,
    *,
    profile: Profile | None = None,
    program_key: str = "",
    extra: Mapping[str, Any] | None = None,
    codes: Sequence[CodeType] = (),
) -> Loaded:
    """Machine code for an SDFG, in memory. The SDFG is not changed; `profile` gets the seconds by stage.

    `codes`: the functions that it was made of, if it was.
    """
    from dcpy.runtime.loading.load import load

    seconds = {} if profile is None else profile
    with timed(seconds, "lower"):
        lowered, _ = lower(sdfg, options)
    with timed(seconds, "codegen"):
        artifact = _print(lowered, signature, options)
    with timed(seconds, "load"):
        loaded = load(artifact, options, program_key=program_key, extra=extra, codes=codes)
    seconds["compiler"] = loaded.seconds_compiling
    seconds["load"] -= loaded.seconds_compiling
    return loaded


@faults_reported
def compile_c_function(sdfg: Sdfg, signature: Signature, prototype: CPrototype, options: Options) -> Loaded:
    """Machine code for an SDFG, with a C function beside it. Raises `DcpyError` where it calls Python."""
    from dcpy.codegen.artifact import Unit
    from dcpy.codegen.c_functions import c_function_text
    from dcpy.runtime.loading.load import load

    lowered, _ = lower(sdfg, options)
    _require_no_callbacks(lowered)
    artifact = _print(lowered, signature, options)
    text = c_function_text(artifact.signature, prototype)
    unit = Unit(f"{prototype.name}.cpp", text, "C++", ("-std=c++17",))
    return load(replace(artifact, units=(*artifact.units, unit)), options)


@faults_reported
def artifact_of(sdfg: Sdfg, signature: Signature, options: Options) -> Artifact:
    """The generated program."""
    return _print(lower(sdfg, options)[0], signature, options)


@dataclass(frozen=True, slots=True)
class BuiltLibrary:
    """A library for use without Python: the files written, and those that it loads from where they are."""

    written: tuple[Path, ...]
    needs: tuple[Path, ...] = ()


def build_library(
    sdfg: Sdfg,
    signature: Signature,
    library: Path,
    *,
    keep_source: bool = False,
    bundle: bool = False,
    options: Options | None = None,
    archs: Sequence[str] = (),
) -> BuiltLibrary:
    """A shared library with a C header beside it; with `bundle`, the foreign libraries that it calls, too.

    For a GPU, `archs` are the chips that its kernels are compiled for; default: the one that is there.
    """
    from dcpy.codegen.annotated_source import listings
    from dcpy.codegen.generate import c_header, with_messages
    from dcpy.runtime.compilers.build import build
    from dcpy.runtime.loading import bundling
    from dcpy.runtime.loading.load import toolchains_of

    chosen = options or resolve_options()
    lowered, _ = lower(sdfg, chosen)
    _require_no_callbacks(lowered)
    artifact = with_messages(_print(lowered, signature, chosen))
    made = target_for(chosen.device).standalone(artifact, c_header(lowered, artifact.signature), chosen, archs)
    tools = toolchains_of(made.artifact, chosen, toolchain(chosen))
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run_path = bundling.BESIDE if bundle else ""
        built = build(made.artifact, Path(folder), tools, chosen.cpu, kept_at=Path(folder), run_path=run_path)
        shutil.copyfile(built, library)
    header = library.parent / f"{sdfg.name}.h"
    header.write_text(made.header, encoding="utf-8")
    written = [library, header]
    for name, text in listings(artifact) if keep_source else ():
        written.append(library.parent / name)
        written[-1].write_text(text, encoding="utf-8")
    for name, code in made.binaries.items() if keep_source else ():
        written.append(library.parent / f"{sdfg.name}.{name}")
        written[-1].write_bytes(code)
    if bundle:
        return BuiltLibrary((*written, *bundling.bundle(library, artifact.environments)))
    return BuiltLibrary(tuple(written), tuple(bundling.needed_libraries(library, artifact.environments).values()))


def build_executable(
    sdfg: Sdfg,
    signature: Signature,
    path: Path,
    main: str,
    *,
    environments: Sequence[Environment] = (),
    keep_source: bool = False,
) -> BuiltLibrary:
    """A program that needs no Python. `main` is the C++ text of its main function, which needs `environments`, too."""
    from dcpy.codegen.artifact import Unit
    from dcpy.codegen.generate import with_messages
    from dcpy.runtime.compilers.build import build
    from dcpy.runtime.loading import bundling
    from dcpy.runtime.loading.load import toolchains_of

    chosen = resolve_options()
    lowered, _ = lower(sdfg, chosen)
    _require_no_callbacks(lowered)
    artifact = with_messages(_print(lowered, signature, chosen))
    needed = tuple(dict.fromkeys((*artifact.environments, *environments)))
    units = (*artifact.units, Unit(f"{sdfg.name}_main.cpp", main, "C++", ("-std=c++17",)))
    artifact = replace(artifact, units=units, environments=needed)
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        tools = toolchains_of(artifact, chosen, toolchain(chosen))
        built = build(artifact, Path(folder), tools, chosen.cpu, kept_at=Path(folder), executable=True)
        shutil.copy(built, path)
    written = [path]
    for name, text in artifact.files if keep_source else ():
        written.append(path.parent / name)
        written[-1].write_text(text, encoding="utf-8")
    return BuiltLibrary(tuple(written), tuple(bundling.needed_libraries(path, artifact.environments).values()))


def _require_no_callbacks(sdfg: Sdfg) -> None:
    from dcpy.ir.library.callback_table import callbacks_in

    for node in callbacks_in(sdfg):
        raise DcpyError(
            f"{sdfg.name!r} calls the Python function {node.function!r}: a library for C cannot",
            span=node.span,
            help="call it from Python, before or after the program",
        )


@faults_reported
def lower(
    sdfg: Sdfg, options: Options, *, target: Target | None = None, until: str = "", explain: bool = False
) -> tuple[Sdfg, RunReport]:
    """A copy on which the pipeline of a target (default: the options' device's) was run, and what each pass did.

    It is in codegen form, unless `until` names an earlier pass to stop after; with `explain` the report has remarks.
    """
    from dcpy.ir.editing.copying import copy_sdfg

    machine = target or target_for(options.device)
    if sdfg.grids:
        from dcpy.codegen.signature import require_one_rank

        require_one_rank(sdfg)
    lowered = copy_sdfg(sdfg)
    report = run_passes(lowered, machine.passes(options), options, until=until, explain=explain)
    if not until:
        machine.require_printable(lowered)
    return lowered, report


def run_passes(
    sdfg: Sdfg, pipeline: Pipeline, options: Options, *, until: str = "", explain: bool = False
) -> RunReport:
    """Run a pipeline in place; where `options.dump` names a folder, each step's text is written there."""
    from dcpy.transforms.pass_manager import run_pipeline

    plugins.load()
    observer = None
    if options.dump:
        from dcpy.transforms.dump import dumping

        observer = dumping(Path(options.dump), sdfg, pipeline)
    return run_pipeline(sdfg, pipeline, check=options.check, explain=explain, until=until, observer=observer)


def _print(lowered: Sdfg, signature: Signature, options: Options) -> Artifact:
    from dcpy.ir.library.expansions import environment_of as find
    from dcpy.ir.library.foreign_functions import environments_in

    names = dict.fromkeys(name for sdfg in lowered.with_callees() for name in environments_in(sdfg))
    machine = target_for(options.device)
    known = {name: find(name) for name in names if name}
    artifact = machine.generate(lowered, signature, known, options, machine.costs_for(options))
    if options.dump:
        _dump_units(artifact, lowered.name, Path(options.dump))
    return artifact


def _dump_units(artifact: Artifact, program: str, folder: Path) -> None:
    """Write what was generated to ``folder/PROGRAM/generated``."""
    from dcpy.codegen.annotated_source import listings
    from dcpy.transforms.dump import emptied

    target = emptied(folder, program, "generated")
    for name, text in listings(artifact):
        (target / name).write_text(text, encoding="utf-8")


@contextmanager
def timed(profile: Profile, stage: str) -> Iterator[None]:
    """Add the seconds spent inside to a stage."""
    start = time.perf_counter()
    try:
        yield
    finally:
        profile[stage] = profile.get(stage, 0.0) + time.perf_counter() - start


# -- transforming ----------------------------------------------------------------------------------------------------


@faults_reported
def simplify(sdfg: Sdfg, options: Options | None = None, *, keeps_functions: bool = False) -> dict[str, int]:
    """Run the simplify pass in place; return how often each transformation was applied.

    With `keeps_functions`, those that are called from many places stay functions (`outline-repeated-calls`).
    """
    from dcpy.transforms.overrides import without
    from dcpy.transforms.pipeline import Pipeline
    from dcpy.transforms.simplify.pipeline import KEEP_FUNCTIONS, SIMPLIFY

    chosen = options or resolve_options()
    before = (without(KEEP_FUNCTIONS, chosen.overrides),) if keeps_functions else ()
    pipeline = Pipeline(SIMPLIFY.name, *before, SIMPLIFY, ensures=SIMPLIFY.ensures)  # one index of uses serves both
    return run_passes(sdfg, pipeline, chosen).counts()


@faults_reported
def auto_optimize(sdfg: Sdfg, options: Options | None = None, *, left_out: Sequence[str] = ()) -> dict[str, int]:
    """Idioms to library calls, loops to maps, maps fused; in place, on the simple form. Returns what was applied.

    Passes that are `left_out`, by the caller or the target, do not run.
    """
    from dcpy.transforms.auto.pipeline import AUTO_OPTIMIZE
    from dcpy.transforms.overrides import without

    chosen = options or resolve_options()
    target = target_for(chosen.device)
    overrides = (*chosen.overrides, *(f"{name}=off" for name in (*target.left_out, *left_out)))
    return run_passes(sdfg, without(AUTO_OPTIMIZE.priced(target.costs_for(chosen)), overrides), chosen).counts()


def place_on_device(sdfg: Sdfg, names: Sequence[str]) -> None:
    """Say that callers have arguments in the memory of a device, in place; new arrays will be there, too."""
    from dataclasses import replace

    from dcpy.codegen.artifact import FreshArray
    from dcpy.codegen.signature import default_signature
    from dcpy.ir.data import Array, Space

    def place(name: str) -> None:
        desc = sdfg.containers[name]
        assert isinstance(desc, Array)
        sdfg.redeclare(name, replace(desc, space=Space.GLOBAL))

    for name in names:
        place(name)
    for result, described in zip(sdfg.results, default_signature(sdfg).results, strict=True):
        if isinstance(described, FreshArray):
            place(result.container)


def scalapack_state(mpi: str) -> str:
    """Return the ScaLAPACK that programs of several ranks would call with such an MPI, as part of their cache key."""
    from dcpy.libraries.pblas.environments import scalapack_state as state

    return state(is_open_mpi="Open MPI" in mpi)


@faults_reported
def expand(sdfg: Sdfg, prefer: tuple[str, ...] = (), pes: int = 0) -> None:
    """Replace library nodes in place by the first expansion that fits; "PBLAS" puts products on a grid of ranks.

    What is for another target than CPUs alone is expanded for that: "systolic", with so many processing elements (0: as
    are of use).
    """
    from dcpy.ir.machine_model import COSTS
    from dcpy.transforms.expand import expand_library_nodes, target_of

    plugins.load()
    target, tried = target_of(prefer)
    if target != "cpu":
        expand_library_nodes(sdfg, tried, target, replace(COSTS, pes=pes))
        return
    if PBLAS in prefer:
        _put_on_grids(sdfg)
    if prefer != (PBLAS,):
        by_hand = replace(COSTS, few_rows=0)  # a user who chooses a library gets all calls of it
        expand_library_nodes(sdfg, tuple(name for name in prefer if name != PBLAS), costs=by_hand)


def _put_on_grids(sdfg: Sdfg) -> None:
    """Products and solvers, each on a grid of ranks. `TransformationRefused` where there is neither."""
    from dcpy.base.errors import TransformationRefused

    try:
        apply(sdfg, "distribute-product", {})
    except TransformationRefused as no_product:
        try:
            apply(sdfg, "distribute-solver", {})
        except TransformationRefused as no_solver:
            notes = (*no_product.notes, no_solver.message, *no_solver.notes)
            raise TransformationRefused(no_product.message, notes=notes) from no_solver
        return
    with suppress(TransformationRefused):
        apply(sdfg, "distribute-solver", {})


def transformation(name: object) -> type[Transformation[Any]] | Transformation[Any]:
    """A transformation by name, with parameters perhaps (``map-tiling{sizes=8}``), by class, or as it is."""
    from dcpy.transforms.history import parse_transformation

    plugins.load()
    return parse_transformation(name) if isinstance(name, str) else name  # type: ignore[return-value]


def apply(sdfg: Sdfg, name: object, captures: Mapping[str, Any]) -> Any:
    """Apply a transformation once; return what it made. `TransformationRefused` where it fits nowhere, and why.

    A pass over a whole SDFG runs; it has no captures. What belongs everywhere is applied until it fits nowhere else.
    """
    from dcpy.transforms.api import Transformation, apply_once, apply_repeated
    from dcpy.transforms.history import parse_pass
    from dcpy.transforms.pass_manager import run_pipeline
    from dcpy.transforms.passes import Pass
    from dcpy.transforms.pipeline import Pipeline

    plugins.load()
    chosen = parse_pass(name) if isinstance(name, str) else name
    step = chosen() if isinstance(chosen, type) and issubclass(chosen, Pass) else chosen
    if isinstance(step, Pass) and not isinstance(step, Transformation) and not captures:
        run_pipeline(sdfg, Pipeline(step.name, step))
        return None
    named = transformation(chosen)
    made = apply_once(sdfg, named, **captures)
    if named.everywhere and not any(each.name in captures for each in named.pattern.captures):
        apply_repeated(sdfg, named, **captures)
    return made


def refuse_unnamed(name: object) -> NoReturn:
    """Refuse places that were given without the names of the captures that they are for."""
    from dcpy.base.errors import TransformationRefused

    chosen = transformation(name)
    captures = [f"{part.name}={part.words}" for part in chosen.pattern.captures]
    raise TransformationRefused(
        f"name the place where {chosen.name} is applied",
        notes=(f"it captures {', '.join(captures) or 'nothing'}",),
        help="take a node of the SDFG, or the name of a container: sdfg.apply(name, first=node)",
    )


def apply_repeated(sdfg: Sdfg, name: object) -> int:
    """Apply a transformation as long as it fits somewhere; return how often. A pass over a whole SDFG runs once."""
    from dcpy.transforms.api import Transformation
    from dcpy.transforms.api import apply_repeated as run
    from dcpy.transforms.history import parse_pass
    from dcpy.transforms.pass_manager import run_pipeline
    from dcpy.transforms.passes import Pass
    from dcpy.transforms.pipeline import Pipeline

    plugins.load()
    chosen = parse_pass(name) if isinstance(name, str) else name
    step = chosen() if isinstance(chosen, type) and issubclass(chosen, Pass) else chosen
    if isinstance(step, Pass) and not isinstance(step, Transformation):
        return int(run_pipeline(sdfg, Pipeline(step.name, step)).applied > 0)
    return run(sdfg, transformation(chosen))


def interpret(sdfg: Sdfg, arguments: Mapping[str, Any]) -> Any:
    """Run an SDFG in the reference interpreter."""
    from dcpy.ir.interp import run

    return run(sdfg, arguments)


# -- looking around --------------------------------------------------------------------------------------------------


def toolchain(options: Options | None = None) -> Toolchain:
    """The C++ compiler that would be used; `ToolchainError` says what to install."""
    chosen = options or resolve_options()
    return target_for(chosen.device).toolchain(chosen)


def environment_of(name: str) -> Environment:
    """Return the environment of a foreign library; `ExpansionError` says how to install it."""
    from dcpy.ir.library.expansions import environment_of as find

    plugins.load()
    return find(name)


def program_cache(options: Options | None = None) -> Cache:
    """The folder of compiled programs."""
    from dcpy.runtime.storage.cache import Cache

    return Cache((options or resolve_options()).cache_dir)
