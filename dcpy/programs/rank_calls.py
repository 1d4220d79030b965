"""Calls of all ranks: ``@dcpy.program(distributed=True)``.

A call goes through four steps: what its arguments are and where (`describe`), that all ranks call the same
(`agreement.agree`), the program of one rank, compiled once for all (`sharing.load_everywhere`), and the native call on
the parts that this rank has.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from dcpy import driver
from dcpy.base.errors import ArgumentError, ArgumentShapeError, GridError
from dcpy.base.foreign import foreign_array
from dcpy.base.grids import balanced
from dcpy.base.options import Options
from dcpy.codegen.artifact import ArrayArg, IntegerArg
from dcpy.codegen.signature import default_signature
from dcpy.frontend.annotations import placements_from_annotations
from dcpy.frontend.fingerprint import fingerprint
from dcpy.programs.guards import Guards, guards_on
from dcpy.programs.rank_programs import Recipe, attach, for_ranks, require_plain, text_of
from dcpy.runtime.distributed.agreement import agree, settle
from dcpy.runtime.distributed.arrays import DistArray, OnRoot
from dcpy.runtime.distributed.calibration import kept, scope_of
from dcpy.runtime.distributed.placement import Grid, Placement
from dcpy.runtime.distributed.replicas import digests
from dcpy.runtime.distributed.sharing import load_everywhere
from dcpy.runtime.distributed.world import World, current_world
from dcpy.runtime.function import compiled_function
from dcpy.runtime.load import Loaded, recall

PLAIN = (bool, int, float, complex, str)


@dataclass
class Description:
    """The arguments of one call: where each is (`plan`), what it is to the compiler (`types`), and what must agree."""

    world: World
    grids: list[Grid] = field(default_factory=list)
    plan: dict[str, str] = field(default_factory=dict)
    types: dict[str, str] = field(default_factory=dict)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)

    @property
    def key(self) -> tuple[object, ...]:
        """What a program is compiled for: of sizes which are 1, and how large they are where a plan is chosen."""
        ones = tuple((name, tuple(size == 1 for size in shape)) for name, shape in self.shapes.items())
        expected = () if self.grids else (self.world.size, *self.expected.items())
        return (*self.types.items(), *self.plan.items(), *(len(grid.sizes) for grid in self.grids), ones, expected)

    @property
    def expected(self) -> dict[str, tuple[int, ...]]:
        """Shapes for which a plan is chosen: a power of two, less one, that is no smaller, so that few are."""
        return {name: tuple((1 << size.bit_length()) - 1 for size in shape) for name, shape in self.shapes.items()}

    def items(self, program: str) -> dict[str, str]:
        """What all ranks must agree on."""
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


def describe(bound: Mapping[str, Any]) -> Description:
    """What the arguments of a call are. `ArgumentError` where arrays are on ranks of different worlds."""
    worlds = {value.grid.world if isinstance(value, DistArray) else value.world: name
              for name, value in bound.items() if isinstance(value, DistArray | OnRoot)}  # fmt: skip
    if len(worlds) > 1:
        names = " and ".join(map(repr, worlds.values()))
        raise ArgumentError(f"{names} are on ranks of different communicators")
    found = Description(next(iter(worlds), None) or current_world())
    for name, value in bound.items():
        _describe(name, value, found)
    return found


def _describe(name: str, value: Any, found: Description) -> None:
    if isinstance(value, DistArray):
        found.plan[name] = text_of(value.placement, f"g{_grid_number(value.grid, found)}")
        found.types[name], found.shapes[name] = f"{value.dtype.str}[{value.ndim}]", value.shape
    elif isinstance(value, OnRoot):
        mine = None if value.array is None else [value.array.shape, value.array.dtype.str]
        said = found.world.tell(mine, value.root)
        everyone = Grid((found.world.size,), found.world)
        where = Placement(everyone, (None,) * len(said[0]), value.root)
        found.plan[name] = text_of(where, f"g{_grid_number(everyone, found)}")
        found.types[name], found.shapes[name] = f"{said[1]}[{len(said[0])}]", tuple(said[0])
    elif isinstance(value, np.ndarray):
        found.types[name], found.shapes[name] = f"{value.dtype.str}[{value.ndim}]", value.shape
    elif isinstance(value, bool | int | float | complex | np.generic):
        found.types[name], found.values[name] = type(value).__name__, repr(value)
    elif (foreign := foreign_array(value)) is not None:
        raise ArgumentError(
            f"argument {name!r} is {foreign.message.removesuffix(': programs run on the CPU')}",
            notes=("a program of all ranks takes arrays of NumPy's, and moves them to a device itself",),
            help=foreign.help(name),
        )
    else:
        found.types[name] = f"{type(value).__name__} {value!r}"


def _grid_number(grid: Grid, found: Description) -> int:
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
    """Whether a global or enclosing name stands for what it stood for."""
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

    def __init__(self, function: FunctionType, options: Options, to_sdfg: Callable[..., Any]) -> None:
        self.function, self.options, self._to_sdfg = function, options, to_sdfg
        self._programs: dict[tuple[object, ...], RankProgram] = {}

    @functools.cached_property
    def _wanted(self) -> dict[str, Any]:
        return placements_from_annotations(self.function)

    def __call__(self, bound: Mapping[str, Any], profile: driver.Profile) -> Any:
        """Runs on all ranks; each gets its own results."""
        seconds = self.options.ranks_timeout
        if not seconds:
            return self._run(bound, profile)
        with current_world().limited(f"{self.function.__name__}(), which all ranks call", seconds):
            return self._run(bound, profile)

    def _run(self, bound: Mapping[str, Any], profile: driver.Profile) -> Any:
        described, failed = None, None
        try:
            described = describe(bound)
            _require_places(bound, self._wanted)
            if self._knows(described):
                known = self._programs[described.key]
                known.check(bound, described)
                described.values |= self._digests(bound, described, known.recipe)
        except Exception as error:
            failed = error
        world = described.world if described is not None else current_world()
        items = described.items(self.function.__qualname__) if described is not None else {}
        asks = agree(world, items, failed, described is not None and not self._knows(described))
        assert described is not None  # it did not fail
        if asks:
            self._programs[described.key] = self._compiled(bound, described, profile)
        return self._programs[described.key].run(bound, described)

    def _digests(self, bound: Mapping[str, Any], described: Description, recipe: Recipe) -> dict[str, str]:
        return digests(bound, recipe.reads, self.options.check_replicas) if described.world.size > 1 else {}

    def _knows(self, described: Description) -> bool:
        """Whether there is a program for such a call, and what it was compiled with is what it was."""
        known = self._programs.get(described.key)
        if known is None or not known.recipe.serves([grid.sizes for grid in described.grids]):
            return False
        return all(_still(source, value) for source, value in known.guards)

    def _compiled(self, bound: Mapping[str, Any], described: Description, profile: driver.Profile) -> RankProgram:
        world, known = described.world, fingerprint(self.function)
        guards = guards_on(known)
        used = {
            f"the constant {source[-1] if isinstance(source[-1], str) else number}": repr(value)
            for number, (source, value) in enumerate(guards)
            if isinstance(value, PLAIN)
        }
        agree(world, {**used, "the functions that it calls": known.key})
        codes: tuple[CodeType, ...] = tuple(known.codes) or (self.function.__code__,)
        figures = self._figures(described)
        key = self._remembered_as(f"{known.key} {sorted(figures.items())}" if known.key else "", described)

        def compiles() -> Loaded:
            profile.clear()
            loaded = recall(key, self.options, codes) if key else None
            if loaded and not Recipe.from_json(loaded.extra).serves([grid.sizes for grid in described.grids]):
                loaded = None
            return loaded or self._compile(bound, described, key, codes, figures, profile)

        loaded = load_everywhere(world, self.options, compiles, codes)
        made = RankProgram(loaded, world, guards)
        failed = None
        values: dict[str, str] = {}
        try:
            made.check(bound, described)
            values = self._digests(bound, described, made.recipe)
        except Exception as error:
            failed = error
        agree(world, {f"the value of {name!r}": value for name, value in values.items()}, failed)
        return made

    def _compile(
        self, bound: Mapping[str, Any], described: Description, key: str, codes: tuple[CodeType, ...],
        figures: Mapping[str, int], profile: driver.Profile,
    ) -> Loaded:  # fmt: skip
        with driver.timed(profile, "frontend"):
            sdfg = self._to_sdfg(**_samples(bound, described))
            records = () if sdfg.convention is None else sdfg.convention.passing.records
            require_plain(sdfg, records, bound)
        if self.options.auto_optimize:
            with driver.timed(profile, "optimize"):
                driver.auto_optimize(sdfg, self.options)
        plan = {name: where for name, where in described.plan.items() if name in sdfg.containers}
        with driver.timed(profile, "distribute"):
            extents = [grid.sizes for grid in described.grids]
            halos = self.options.halo_steps, self.options.halo_overlap
            recipe = for_ranks(sdfg, plan, extents, described.world.size, described.expected, figures, *halos)
        return driver.compile_sdfg(
            sdfg, default_signature(sdfg), self.options, profile=profile, program_key=key, extra=recipe.as_json(),
            codes=codes,
        )  # fmt: skip

    def _figures(self, described: Description) -> dict[str, int]:
        """What was measured of the network, as rank 0 has it, where a plan is chosen; all ranks call this."""
        world = described.world
        if described.grids or world.size == 1:
            return {}
        cache, scope = driver.program_cache(self.options), scope_of(world)
        return dict(world.tell(kept(cache, scope, world.library_version) if world.rank == 0 else None))

    def _remembered_as(self, source: str, described: Description) -> str:
        """What stands for the whole way to the program of one rank; "" where nothing does."""
        from dcpy.programs.compiled import compiler_identity

        options = self.options
        mpi = described.world.library_version
        libraries = f"{mpi} {options.scalapack} {driver.scalapack_state(mpi)}"
        halos = f"{options.halo_steps} {options.halo_overlap} {' '.join(options.overrides)}"
        passes = f"{options.simplify} {options.auto_optimize} {options.int_overflow} {halos}"
        alone = described.world.size == 1
        return f"ranks {compiler_identity()} {passes} {libraries} {alone} {source} {described.key}" if source else ""


def _samples(bound: Mapping[str, Any], described: Description) -> dict[str, Any]:
    """Arrays of the whole shapes, for arguments that are dealt out: nobody looks at their elements."""
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
        self.recipe = Recipe.from_json(loaded.extra)
        self._call = compiled_function(loaded)
        if world.calls is None:
            world.renew()
        self._attach()

    def _attach(self) -> None:
        self._communicator = self.world.calls
        attach(self.loaded.library, 0 if self._communicator is None else int(self._communicator.py2f()))

    def check(self, bound: Mapping[str, Any], described: Description) -> None:
        """`ArgumentShapeError` where sizes of one name differ."""
        self._symbols(bound, described)

    def run(self, bound: Mapping[str, Any], described: Description) -> Any:
        """The native call; an exception of the program has a note with the rank."""
        symbols = self._symbols(bound, described)
        values = [self._value(arg.name, isinstance(arg, IntegerArg), bound, symbols, arg)
                  for arg in self.loaded.signature.args]  # fmt: skip
        failed: BaseException | None = None
        result = None
        if self._communicator is not self.world.calls:  # a call has failed since
            self._attach()
        try:
            result = self._call(*values)
        except Exception as error:
            error.add_note(f"on rank {self.world.rank}")
            failed = error
        if self.loaded.signature.checks:
            settle(self.world, failed)
        elif failed is not None:
            raise failed
        return result

    def _symbols(self, bound: Mapping[str, Any], described: Description) -> dict[str, int]:
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
                        help="sizes of one name are equal",
                    )
                told.setdefault(symbol, f"dimension {axis} of {name!r}")
        rank, grids = self.world.rank, self._grids(described)
        for symbol, name, dim, number, axis in self.recipe.blocks:
            found[symbol] = max(1, -(-described.shapes[name][dim] // grids[number].sizes[axis]))
        for grid, sizes, places in zip(grids, self.recipe.grids, self.recipe.places, strict=True):
            found |= zip(sizes, grid.sizes, strict=True)
            found |= zip(places, grid.coordinates(rank), strict=True)
        return found

    def _grids(self, described: Description) -> list[Grid]:
        """Those of the arguments, those that the program names, then all ranks as a plan or a solver has them."""
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
