"""SDFG calls on all ranks: ``sdfg(A, B)`` under mpirun, after `distribute` or the paper's script.

Each rank passes all arrays, as they are on all of them; grids of symbols get as many ranks as there are, unless the
call says how many (``sdfg(A, B, g_p0=2, g_p1=3)``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from dcpy import driver
from dcpy.base.deferred_interrupts import Interrupts, interrupts_deferred
from dcpy.base.errors import ArgumentError, GridError
from dcpy.base.options import Options
from dcpy.base.rank_grids import fitted
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import ArrayArg, IntegerArg
from dcpy.codegen.signature import default_signature
from dcpy.ir.analysis.accesses.exposed_reads import exposed_arguments
from dcpy.ir.communication import CommNode
from dcpy.ir.data import Array
from dcpy.ir.distribution import coordinate_names
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.editing.distribution_erasure import erased
from dcpy.programs.ranks import sdfg_distribution
from dcpy.programs.ranks.call_results import signature_of_rank
from dcpy.programs.ranks.collective_calls import CallDescription, RankProgram, describe
from dcpy.programs.ranks.compilation import SymbolSources, expand_messages
from dcpy.runtime.distributed.agreement import agree
from dcpy.runtime.distributed.array_placement import Grid
from dcpy.runtime.distributed.distributed_arrays import DistArray, OnRoot
from dcpy.runtime.distributed.replica_digests import digests
from dcpy.runtime.distributed.shared_compilation import load_everywhere
from dcpy.runtime.distributed.world import World, current_world
from dcpy.runtime.loading.load import Loaded

if TYPE_CHECKING:
    from dcpy.ir.sdfg import Sdfg


def call_on_ranks(sdfg: Sdfg, bound: Mapping[str, Any], options: Options) -> Any:
    """Compile for all ranks, and run. `GridError` where there are not so many ranks, `ArgumentError` for blocks."""
    with interrupts_deferred() as interrupts:
        return _call(sdfg, bound, options, interrupts)


def _call(sdfg: Sdfg, bound: Mapping[str, Any], options: Options, interrupts: Interrupts) -> Any:
    world, failed = current_world(), None
    described = CallDescription(world)
    given = {name: value for name, value in bound.items() if not _is_grid_size(sdfg, name)}
    try:
        _require_whole(sdfg, given)
        described = describe(given)
        described.values |= digests(given, exposed_arguments(sdfg), options.check_replicas)
        sizes = {name: int(value) for name, value in bound.items() if name not in given}
        described.grids = [Grid(_extents(sdfg, name, sizes, world), world) for name in sdfg.grids]
    except Exception as error:
        failed = error
    agree(world, described.items(sdfg.name), failed)

    def compiles() -> Loaded:
        with interrupts.open():
            return _without_places(_compiled(sdfg, options, world))

    loaded = load_everywhere(world, options, compiles)
    if world.calls_comm is None:
        world.renew()
    try:
        program = RankProgram(loaded, world, ())
        program.check(given, described)
    except Exception as error:
        failed = error
    agree(world, {}, failed)
    return program.run(given, described, interrupts)


def _is_grid_size(sdfg: Sdfg, name: str) -> bool:
    return any(name in grid.symbols for grid in sdfg.grids.values())


def _require_whole(sdfg: Sdfg, given: Mapping[str, Any]) -> None:
    """`ArgumentError` for arguments of which a rank would pass its part, or passes it."""
    for name, value in given.items():
        desc = sdfg.containers.get(name)
        where = desc.distribution if isinstance(desc, Array) else None
        if where is not None:
            said = f"{sdfg.name}() has its argument {name!r} on {where}"
        elif isinstance(value, DistArray | OnRoot):
            said = f"argument {name!r} is a {type(value).__name__}"
        else:
            continue
        raise ArgumentError(
            f"{said}, and each rank passes all of it",
            help="decorate the function with @dcpy.program(distributed=True), which takes arrays that dcpy.distribute "
            "makes",
        )


def _without_places(loaded: Loaded) -> Loaded:
    """Without lines of source: there is no function by which other ranks would find them."""
    return replace(loaded, signature=_without_spans(loaded.signature))


def _without_spans(value: Any) -> Any:
    if isinstance(value, SrcSpan):
        return None
    if isinstance(value, tuple):
        return tuple(map(_without_spans, value))
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{each.name: _without_spans(getattr(value, each.name)) for each in fields(value)})
    return value


def _extents(sdfg: Sdfg, name: str, known: Mapping[str, int], world: World) -> tuple[int, ...]:
    """Return the lengths of a grid's axes: from the grid, from the call, or what is left for the others."""
    sizes = sdfg.grids[name].sizes
    told = [size.evaluate(known) if all(symbol in known for symbol in size.symbols) else 0 for size in sizes]
    used = math.prod(size for size in told if size)
    if used > world.size:
        raise GridError(f"the grid {name!r} has {used} ranks, and there are {world.size}")
    return fitted(told, world.size)


def _compiled(sdfg: Sdfg, options: Options, world: World) -> Loaded:
    """The program of one rank, as machine code."""
    whole = default_signature(erased(sdfg))
    sizes = {
        arg.name: tuple((dim.symbol, dim.constant, dim.offset) for dim in arg.dims)
        for arg in whole.args
        if isinstance(arg, ArrayArg)
    }
    numbers = tuple(arg.name for arg in whole.args if isinstance(arg, IntegerArg) and arg.name in sdfg.arguments)
    local = copy_sdfg(sdfg)
    sdfg_distribution.localize(local, options.halo_overlap)
    messages = any(isinstance(node, CommNode) for node in local.body.walk_nodes())
    expand_messages(local, alone=world.size == 1)
    grids = tuple(tuple(map(str, grid.sizes)) for grid in sdfg.grids.values())
    places = tuple(coordinate_names(name, len(grid.sizes)) for name, grid in sdfg.grids.items())
    recipe = SymbolSources(sizes, numbers, grids, places, messages)
    signature = signature_of_rank(local, getattr(sdfg, "convention", None))
    return driver.compile_sdfg(local, signature, options, extra=recipe.as_json())
