"""Collective calls of programs: ``@dcpy.program(distributed=True)``.

A call goes through four steps: what its arguments are and where (`describe`), that all ranks call the same
(`agreement.agree`), the program of one rank, compiled once for all (`sharing.load_everywhere`), and the native call on
the parts that this rank has.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from dcpy import driver
from dcpy.base.deferred_interrupts import Interrupts, interrupts_deferred
from dcpy.base.errors import ArgumentError, ArgumentShapeError, GridError
from dcpy.base.options import Options
from dcpy.base.rank_grids import balanced
from dcpy.codegen.artifact import ArrayArg, IntegerArg
from dcpy.frontend.annotations import placements_from_annotations
from dcpy.frontend.introspection.fingerprint import fingerprint
from dcpy.programs.ranks.call_results import apart, delivered, signature_of_rank
from dcpy.programs.ranks.compilation import SymbolSources, attach, for_ranks, require_plain, text_of
from dcpy.programs.ranks.nested_arguments import require_no_arrays
from dcpy.programs.specialization.guards import Guards, guards_on
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.distributed.agreement import agree, settle
from dcpy.runtime.distributed.array_placement import Grid, Placement
from dcpy.runtime.distributed.distributed_arrays import DistArray, OnRoot
from dcpy.runtime.distributed.network_calibration import kept, scope_of
from dcpy.runtime.distributed.replica_digests import digests
from dcpy.runtime.distributed.shared_compilation import load_everywhere
from dcpy.runtime.distributed.world import World, current_world
from dcpy.runtime.loading.load import Loaded, recall
from dcpy.targets.ranks.target import LEFT_OUT

PLAIN = (bool, int, float, complex, str)


@dataclass
class CallDescription:
    """The arguments of one call: where each is (`plan`), what it is to the compiler (`types`), and what must agree."""

    world: World
    grids: list[Grid] = field(default_factory=list)
    plan: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """Key for compilation: the types, which sizes are 1, and sizes where a plan is chosen."""
        ones = tuple((name, tuple(size == 1 for size in shape)) for name, shape in self.shapes.items())
        expected = () if self.grids else (self.world.size, *self.expected.items())
        return (*self.types.items(), *self.plan.items(), *(len(grid.sizes) for grid in self.grids), ones, expected)

    @property
    def expected(self) -> dict[str, tuple[int, ...]]:
        """Shapes for which a plan is chosen: a power of two, less one, that is no smaller, so that few are."""
        return {name: tuple((1 << size.bit_length()) - 1 for size in shape) for name, shape in self.shapes.items()}

    def items(self, program: str) -> dict[str, str]:
        """Return the items that all ranks must agree on."""
        found = {"the program": program}
        for name, kind in self.types.items():
            found[f"the type of {name!r}"] = kind
            if name in self.shapes:
                found[f"the shape of {name!r}"] = " x ".join(map(str, self.shapes[name]))
            if name in self.plan:
                found[f"the distribution of {name!r}"] = self.plan[name]
            if name in self.values:
                found[f"the value of {name!r}"] = self.values[name]
        for number, grid in enumerate(self.grids):
            found[f"the grid g{number}"] = " x ".join(map(str, grid.sizes))
        return found


def worlds_of(values: Iterable[Any]) -> list[World]:
    """The worlds whose ranks have these arguments, each once."""
    found = (value.grid.world if isinstance(value, DistArray) else value.world
             for value in values if isinstance(value, DistArray | OnRoot))  # fmt: skip
    return list(dict.fromkeys(found))


def describe(bound: Mapping[str, Any]) -> CallDescription:
    """Return a description of a call's arguments; `ask_roots` adds those on one rank, which takes messages.

    `ArgumentError` where arrays are on ranks of different worlds.
    """
    worlds = worlds_of(bound.values())
    if len(worlds) > 1:
        names = [next(name for name, value in bound.items() if worlds_of([value]) == [world]) for world in worlds]
        raise ArgumentError(f"{' and '.join(map(repr, names))} are on ranks of different communicators")
    found = CallDescription(worlds[0] if worlds else current_world())
    for name, value in bound.items():
        _describe(name, value, found)
    return found


def ask_roots(bound: Mapping[str, Any], found: CallDescription) -> None:
    """Have all ranks know what arguments are that one rank has. They agree on which these are."""
    for name, value in bound.items():
        if not isinstance(value, OnRoot):
            continue
        mine = None if value.array is None else [value.array.shape, value.array.dtype.str]
        said = found.world.tell(mine, value.root)
        everyone = Grid((found.world.size,), found.world)
        where = Placement(everyone, (None,) * len(said[0]), value.root)
        found.plan[name] = text_of(where, f"g{_grid_number(everyone, found)}")
        found.types[name], found.shapes[name] = f"{said[1]}[{len(said[0])}]", tuple(said[0])


def _describe(name: str, value: Any, found: CallDescription) -> None:
    if isinstance(value, DistArray):
        found.plan[name] = text_of(value.placement, f"g{_grid_number(value.grid, found)}")
        found.types[name], found.shapes[name] = f"{value.dtype.str}[{value.ndim}]", value.shape
    elif isinstance(value, OnRoot):
        found.types[name] = f"an array on rank {value.root}"
    elif isinstance(value, np.ndarray):
        found.types[name], found.shapes[name] = f"{value.dtype.str}[{value.ndim}]", value.shape
    elif isinstance(value, bool | int | float | complex | np.generic):
        found.types[name], found.values[name] = type(value).__name__, repr(value)
    else:
        require_no_arrays(name, value)
        found.types[name] = f"{type(value).__name__} {value!r}"


def _grid_number(grid: Grid, found: CallDescription) -> int:
    if grid not in found.grids:
        found.grids.append(grid)
    return found.grids.index(grid)


def _require_places(bound: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    """`GridError` for an array that is not where its annotation says."""
    for name, where in wanted.items():
        value = bound[name]
        if not isinstance(value, DistArray):
            raise GridError(
                f"argument {name!r} is no DistArray, and its annotation says that it is {where}",
                help=f"pass dcpy.distribute({name}, on), with the distribution of the annotation",
            )
        if value.placement != where:
            raise GridError(
                f"argument {name!r} is {value.placement}, and its annotation says {where}",
                help=f"pass {name}.redistribute(on), with the distribution of the annotation",
            )


def _still(source: tuple[Any, ...], value: object) -> bool:
    """Return whether a global or enclosing name stands for what it stood for."""
    match source:
        case ("dict", namespace, name):
            found = namespace.get(name)
        case ("cell", cell):
            found = cell.cell_contents
        case (_, owner, name):
            found = getattr(owner, name, None)
    return found is value or (type(found) is type(value) and bool(found == value))


class RankCalls:
    """The programs of one function for all ranks, by what they are compiled for."""

    def __init__(
        self, function: FunctionType, options: Options, bind: Callable[..., Mapping[str, Any]],
        to_sdfg: Callable[..., Any],
    ) -> None:  # fmt: skip
        self.function, self.options, self._bound, self._to_sdfg = function, options, bind, to_sdfg
        self._programs: dict[tuple[object, ...], RankProgram] = {}

    @functools.cached_property
    def _wanted(self) -> dict[str, Any]:
        return placements_from_annotations(self.function)

    def __call__(self, args: tuple[Any, ...], named: Mapping[str, Any], profile: driver.Profile) -> Any:
        """Runs on all ranks; each gets its own results."""
        seconds = self.options.ranks_timeout
        with interrupts_deferred() as interrupts:
            if not seconds:
                return self._run(args, named, profile, interrupts)
            with current_world().limited(f"{self.function.__name__}(), which all ranks call", seconds):
                return self._run(args, named, profile, interrupts)

    def _run(
        self, args: tuple[Any, ...], named: Mapping[str, Any], profile: driver.Profile, interrupts: Interrupts
    ) -> Any:
        """All ranks come to each message, also where some have failed, or are interrupted."""
        bound: Mapping[str, Any] = {}
        described, failed = None, None
        try:
            bound = self._bound(args, named)
            described = describe(bound)
            _require_places(bound, self._wanted)
        except Exception as error:
            described, failed = None, error
        worlds = [described.world] if described is not None else worlds_of((*args, *named.values()))
        world = worlds[0] if worlds else current_world()
        if described is not None and any(isinstance(value, OnRoot) for value in bound.values()):
            agree(world, described.items(self.function.__qualname__))
            ask_roots(bound, described)
        if described is not None:
            try:
                self._check(bound, described)
            except Exception as error:
                failed = error
        items = described.items(self.function.__qualname__) if described is not None else {}
        asks = agree(world, items, failed, described is not None and not self._knows(described))
        assert described is not None  # it did not fail
        if asks:
            self._programs[described.key] = self._compiled(bound, described, profile, interrupts)
        return self._programs[described.key].run(bound, described, interrupts)

    def _check(self, bound: Mapping[str, Any], described: CallDescription) -> None:
        """Raise what a program that is known says about the arguments; add what stands for their elements."""
        if self._knows(described):
            known = self._programs[described.key]
            known.check(bound, described)
            described.values |= self._digests(bound, described, known.recipe)

    def _digests(self, bound: Mapping[str, Any], described: CallDescription, recipe: SymbolSources) -> dict[str, str]:
        return digests(bound, recipe.reads, self.options.check_replicas) if described.world.size > 1 else {}

    def _knows(self, described: CallDescription) -> bool:
        """Return whether there is a program for such a call, and what it was compiled with is what it was."""
        known = self._programs.get(described.key)
        if known is None or not known.recipe.serves([grid.sizes for grid in described.grids]):
            return False
        return all(_still(source, value) for source, value in known.guards)

    def _compiled(
        self, bound: Mapping[str, Any], described: CallDescription, profile: driver.Profile, interrupts: Interrupts
    ) -> RankProgram:
        world, failed = described.world, None
        used: dict[str, str] = {}
        try:
            known = fingerprint(self.function)
            guards = guards_on(known)
            used = {
                f"the constant {source[-1] if isinstance(source[-1], str) else number}": repr(value)
                for number, (source, value) in enumerate(guards)
                if isinstance(value, PLAIN)
            }
            used["the functions that it calls"] = known.key
        except Exception as error:
            failed = error
        agree(world, used, failed)
        codes: tuple[CodeType, ...] = tuple(known.codes) or (self.function.__code__,)
        figures = self._figures(described)
        key = self._remembered_as(f"{known.key} {sorted(figures.items())}" if known.key else "", described)

        def compiles() -> Loaded:
            profile.clear()
            with interrupts.open():
                loaded = recall(key, self.options, codes) if key else None
                sizes = [grid.sizes for grid in described.grids]
                if loaded and not SymbolSources.from_json(loaded.extra).serves(sizes):
                    loaded = None
                return loaded or self._compile(bound, described, key, codes, figures, profile)

        loaded = load_everywhere(world, self.options, compiles, codes)
        if world.calls_comm is None:
            world.renew()
        values: dict[str, str] = {}
        try:
            made = RankProgram(loaded, world, guards)
            made.check(bound, described)
            values = self._digests(bound, described, made.recipe)
        except Exception as error:
            failed = error
        agree(world, {f"the value of {name!r}": value for name, value in values.items()}, failed)
        return made

    def _compile(
        self, bound: Mapping[str, Any], described: CallDescription, key: str, codes: tuple[CodeType, ...],
        figures: Mapping[str, int], profile: driver.Profile,
    ) -> Loaded:  # fmt: skip
        with driver.timed(profile, "frontend"):
            sdfg = self._to_sdfg(**_samples(bound, described))
            convention = sdfg.convention
            require_plain(sdfg, () if convention is None else convention.passing.records, bound)
        if self.options.auto_optimize:
            with driver.timed(profile, "optimize"):
                driver.auto_optimize(sdfg, self.options, left_out=LEFT_OUT)
        plan = {name: where for name, where in described.plan.items() if name in sdfg.containers}
        with driver.timed(profile, "distribute"):
            extents = [grid.sizes for grid in described.grids]
            halos = self.options.halo_steps, self.options.halo_overlap
            recipe = for_ranks(sdfg, plan, extents, described.world.size, described.expected, figures, *halos)
        return driver.compile_sdfg(
            sdfg, signature_of_rank(sdfg, convention), self.options, profile=profile, program_key=key,
            extra=recipe.as_json(), codes=codes,
        )  # fmt: skip

    def _figures(self, described: CallDescription) -> dict[str, int]:
        """Return the figures of the network as measured by rank 0, where a plan is chosen; all ranks call this."""
        world = described.world
        if described.grids or world.size == 1:
            return {}
        cache, scope = driver.program_cache(self.options), scope_of(world)
        return dict(world.tell(kept(cache, scope, world.library_version) if world.rank == 0 else None))

    def _remembered_as(self, source: str, described: CallDescription) -> str:
        """Return a key for the program of one rank, from source to artifact; "" where there is none."""
        from dcpy.programs.specialization.compiled_calls import compiler_identity

        options = self.options
        mpi = described.world.library_version
        libraries = f"{mpi} {options.scalapack} {driver.scalapack_state(mpi)}"
        halos = f"{options.halo_steps} {options.halo_overlap} {' '.join(options.overrides)}"
        passes = f"{options.simplify} {options.auto_optimize} {options.int_overflow} {halos}"
        alone = described.world.size == 1
        return f"ranks {compiler_identity()} {passes} {libraries} {alone} {source} {described.key}" if source else ""


def _samples(bound: Mapping[str, Any], described: CallDescription) -> dict[str, Any]:
    """Arrays of the whole shapes, for arguments that are dealt out: their elements are not read."""
    made: dict[int, Any] = {}
    for name, value in bound.items():
        if name in described.plan:
            dtype = np.dtype(described.types[name].partition("[")[0])
            made.setdefault(id(value), np.empty(described.shapes[name], dtype))
    return {name: made.get(id(value), value) for name, value in bound.items()}


class RankProgram:
    """A compiled program of one rank, with how its symbols get their values."""

    def __init__(self, loaded: Loaded, world: World, guards: Guards) -> None:
        self.loaded, self.world, self.guards = loaded, world, guards
        self.recipe = SymbolSources.from_json(loaded.extra)
        self._call = compiled_function(replace(loaded, signature=apart(loaded.signature)))
        if world.calls_comm is None:
            world.renew()
        self._attach()

    def _attach(self) -> None:
        self._communicator = self.world.calls_comm
        attach(self.loaded.library, 0 if self._communicator is None else int(self._communicator.py2f()))

    def check(self, bound: Mapping[str, Any], described: CallDescription) -> None:
        """`ArgumentShapeError` where sizes of one name differ."""
        self._symbols(bound, described)

    def run(self, bound: Mapping[str, Any], described: CallDescription, interrupts: Interrupts) -> Any:
        """The native call. What one rank raises, all do, or the job ends."""
        symbols = self._symbols(bound, described)
        values = [self._value(arg.name, isinstance(arg, IntegerArg), bound, symbols, arg)
                  for arg in self.loaded.signature.args]  # fmt: skip
        failed: BaseException | None = None
        results: tuple[Any, ...] = ()
        if self._communicator is not self.world.calls_comm:  # a call has failed since
            self._attach()
        if not self.loaded.signature.checks:
            return delivered(self.loaded.signature, self._call(*values), bound)
        try:
            with interrupts.open():
                results = self._call(*values)
        except (Exception, KeyboardInterrupt) as error:
            failed = error
        settle(self.world, failed)
        return delivered(self.loaded.signature, results, bound)

    def _symbols(self, bound: Mapping[str, Any], described: CallDescription) -> dict[str, int]:
        found: dict[str, int] = {name: int(bound[name]) for name in self.recipe.numbers}
        told = {name: f"argument {name!r}" for name in found}
        for name, dims in self.recipe.sizes.items():
            for axis, (symbol, constant, offset) in enumerate(dims):
                size = described.shapes[name][axis]
                known, place = (found.setdefault(symbol, size - offset) + offset, "") if symbol else (constant, "")
                if known != size:
                    place = told.get(symbol, "the program")
                    raise ArgumentShapeError(
                        f"argument {name!r} has the shape {described.shapes[name]}",
                        notes=(f"its size along axis {axis} is {size}, and {known} by {place}",),
                        help="dimensions with the same name need the same size",
                    )
                told.setdefault(symbol, f"dimension {axis} of {name!r}")
        rank, grids = self.world.rank, self._grids(described)
        for symbol, name, dim, number, axis in self.recipe.blocks:
            found[symbol] = max(1, -(-described.shapes[name][dim] // grids[number].sizes[axis]))
        for grid, sizes, places in zip(grids, self.recipe.grids, self.recipe.places, strict=True):
            found |= zip(sizes, grid.sizes, strict=True)
            found |= zip(places, grid.coordinates(rank), strict=True)
        return found

    def _grids(self, described: CallDescription) -> list[Grid]:
        """The grids of the arguments, those that the program names, then all ranks as a plan or a solver has them."""
        world, recipe = self.world, self.recipe
        named = [Grid(sizes, world) for sizes in recipe.fixed[len(described.grids) :]]
        more = recipe.grids[len(described.grids) + len(named) :]
        return [*described.grids, *named, *(Grid(balanced(world.size, len(sizes)), world) for sizes in more)]

    def _value(
        self, name: str, is_symbol: bool, bound: Mapping[str, Any], symbols: Mapping[str, int], arg: object
    ) -> Any:
        if is_symbol:
            return symbols[name]
        value = bound[name]
        if isinstance(value, DistArray):
            return value.local
        if isinstance(value, OnRoot):
            assert isinstance(arg, ArrayArg)  # as its sample was
            return value.array if value.array is not None else np.empty((0,) * len(arg.dims), arg.dtype)
        return value
