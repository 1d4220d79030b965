"""Compilation for ranks: from a function and the placement of its arguments to an SDFG in local form, and machine code.

What a call needs to know of it besides the signature is a `SymbolSources`, which is remembered with the library.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from dcpy import driver, plugins
from dcpy.base.errors import FrontendError, warn_of_cost
from dcpy.codegen.artifact import ArrayArg, IntegerArg
from dcpy.codegen.signature import default_signature
from dcpy.ir.analysis.accesses.exposed_reads import exposed_arguments
from dcpy.ir.communication import CommNode
from dcpy.ir.data import Array
from dcpy.ir.distribution import Blocked, Distribution, coordinate_names
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import Expr, sym
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.programs.ranks import sdfg_distribution
from dcpy.programs.ranks.fallback import Fallback, distribute_with_fallback
from dcpy.targets.ranks.dynamic_message_shapes import warn_of_dynamic_shapes

if TYPE_CHECKING:
    from dcpy.base.options import Options
    from dcpy.runtime.distributed.array_placement import Grid, Placement

Sizes = Mapping[str, tuple[tuple[str, int, int], ...]]
Blocks = tuple[tuple[str, str, int, int, int], ...]
Extents = tuple[int, ...]
Symbols = Mapping[str, tuple[str, ...]]  # of the sizes of each grid


@dataclass(frozen=True)
class SymbolSources:
    """Sources of symbols' values: sizes of whole arrays (symbol, constant, offset), of grids; and coordinates.

    `numbers` are integer arguments that are symbols. `grids` has the symbols of each grid's sizes, `places` those of a
    rank's coordinates, both in the order of the call's grids. `blocks` are the sizes of balanced blocks: the symbol,
    the array and its dimension, the grid and its axis. As numbers that are given, they are no divisions in loops.
    `fixed` are the sizes of grids that the program itself names: of each of the first grids, or () for one that it
    does not name. `reads` are the arrays whose elements count when the program begins.
    """

    sizes: Sizes
    numbers: tuple[str, ...]
    grids: tuple[tuple[str, ...], ...]
    places: tuple[tuple[str, ...], ...]
    communicates: bool
    blocks: Blocks = ()
    fixed: tuple[Extents, ...] = ()
    reads: tuple[str, ...] = ()

    def serves(self, grids: Sequence[Extents]) -> bool:
        """Return whether it is a program for arguments on grids of these sizes."""
        return all(not sizes or sizes == given for sizes, given in zip(self.fixed, grids, strict=False))

    def as_json(self) -> dict[str, Any]:
        """The facts for the record of the program."""
        return {"ranks": asdict(self)}

    @classmethod
    def from_json(cls, extra: Mapping[str, Any]) -> SymbolSources:
        """The inverse of `as_json`."""
        found = extra["ranks"]
        sizes = {name: tuple((str(s), int(c), int(o)) for s, c, o in dims) for name, dims in found["sizes"].items()}
        grids, places = (tuple(tuple(each) for each in found[field]) for field in ("grids", "places"))
        blocks = tuple((str(s), str(n), int(d), int(g), int(a)) for s, n, d, g, a in found["blocks"])
        fixed = tuple(tuple(map(int, each)) for each in found["fixed"])
        numbers, reads = tuple(map(str, found["numbers"])), tuple(map(str, found["reads"]))
        return cls(sizes, numbers, grids, places, bool(found["communicates"]), blocks, fixed, reads)


def for_ranks(
    sdfg: Sdfg,
    plan: Mapping[str, str],
    extents: Sequence[Extents],
    ranks: int,
    shapes: Mapping[str, Sequence[int]],
    figures: Mapping[str, int] | None = None,
    steps: int = 0,
    overlap: bool = False,
) -> SymbolSources:
    """Make an SDFG that of one rank, in place. `extents` are sizes of the arguments' grids, in plans g0, ...

    It serves grids of any sizes, but for those that the program itself names (`dcpy.distribute`). Where no argument has
    a grid, nor the program one, a plan is chosen for so many `ranks`, and arguments of these `shapes`, by the
    `figures` of the network that were measured. `steps` and `overlap` are the options `halo_steps` and
    `halo_overlap`. For one rank there is no MPI. Raises `TransformationRefused` for what cannot be distributed.
    """
    plugins.load()
    whole = default_signature(sdfg)
    sizes = {
        arg.name: tuple((dim.symbol, dim.constant, dim.offset) for dim in arg.dims)
        for arg in whole.args
        if isinstance(arg, ArrayArg)
    }
    numbers = tuple(arg.name for arg in whole.args if isinstance(arg, IntegerArg))
    exposed = exposed_arguments(sdfg)
    reads = tuple(name for name in sizes if name in exposed)
    names = [_free_name(sdfg, f"g{number}") for number in range(len(extents))]
    renamed = {f"g{number}": name for number, name in enumerate(names)}
    requested = sdfg_distribution.take_requested(sdfg, dict(zip(names, extents, strict=True)))
    used = {where.grid for where in requested.plan.values()}
    fixed = tuple(sizes if name in used else () for name, sizes in zip(names, extents, strict=True))
    names += requested.grids
    grids = {
        name: tuple(_free_name(sdfg, f"{name}_p{axis}") for axis in range(len(sizes)))
        for name, sizes in zip(names, (*extents, *requested.grids.values()), strict=True)
    }
    placed = {name: parse_distribution(_on(where, renamed)) for name, where in plan.items()} | requested.plan
    if grids:
        on_grids = partial(_on_grids, sdfg, placed, grids, list(sizes), ranks, steps)
        named, found = distribute_with_fallback(sdfg, on_grids, overlap)
    else:
        by_costs = partial(_by_costs, sdfg, sizes, shapes, figures, ranks, steps)
        named, found = distribute_with_fallback(sdfg, by_costs, overlap)
    messages = [node for node in sdfg.body.walk_nodes() if isinstance(node, CommNode)]
    expand_messages(sdfg, alone=ranks == 1)
    places = tuple(coordinate_names(name, len(extents)) for name, extents in found.items())
    return SymbolSources(
        sizes, numbers, tuple(found.values()), places, bool(messages), named,
        (*fixed, *requested.grids.values()), reads,
    )  # fmt: skip


def _on_grids(
    sdfg: Sdfg, plan: Mapping[str, Distribution], grids: Symbols, arguments: list[str], ranks: int, steps: int,
    way: Fallback,
) -> tuple[Blocks, Symbols]:  # fmt: skip
    """Distribute as a plan says: what blocks are, and the symbols of grids."""
    where, named = _with_blocks(sdfg, plan, list(grids), [name for name in plan if name in arguments])
    if way is Fallback.GATHERED:
        sdfg_distribution.gather(sdfg, where, grids)
    else:
        halos = steps if way is Fallback.NOT else -1
        sdfg_distribution.distribute(sdfg, where, grids, temporaries=True, alone=ranks == 1, steps=halos)
    return named, {**grids, **{name: grid.symbols for name, grid in sdfg.grids.items() if name not in grids}}


def _by_costs(
    sdfg: Sdfg, sizes: Sizes, shapes: Mapping[str, Sequence[int]], figures: Mapping[str, int] | None, ranks: int,
    steps: int, way: Fallback,
) -> tuple[Blocks, Symbols]:  # fmt: skip
    """Distribute by the cheapest plan: what blocks are, and the symbols of grids."""
    if ranks == 1 or way is Fallback.GATHERED:
        return (), {}
    blocks: list[Blocks] = []
    naming = partial(_name_blocks, list(sizes), blocks)
    halos = steps if way is Fallback.NOT else -1
    sdfg_distribution.choose_distributions(sdfg, ranks, _of_symbols(sizes, shapes), 0, naming, figures, halos)
    return sum(blocks, ()), {name: grid.symbols for name, grid in sdfg.grids.items()}


def _with_blocks(
    sdfg: Sdfg, plan: Mapping[str, Distribution], grids: Sequence[str], arguments: Sequence[str]
) -> tuple[dict[str, Distribution], Blocks]:
    """The plan with a symbol for the size of each balanced block that follows from one of the `arguments`.

    Dimensions of one size along one axis share it.
    """
    tells = {size: (name, dim) for name in reversed(arguments) for dim, size in enumerate(sdfg.desc(name).shape)}
    known: dict[tuple[str, int, Expr], str] = {}
    blocks: list[tuple[str, str, int, int, int]] = []
    found: dict[str, Distribution] = {}
    for name, where in plan.items():
        axes = list(where.axes)
        for dim, (axis, size) in enumerate(zip(where.axes, sdfg.desc(name).shape, strict=True)):
            if not isinstance(axis, Blocked) or axis.block is not None or size not in tells:
                continue
            key = (where.grid, axis.axis, size)
            if key not in known:
                known[key] = _free_name(sdfg, f"{where.grid}_b{len(known)}")
                sdfg.add_symbol(known[key])
                blocks.append((known[key], *tells[size], grids.index(where.grid), axis.axis))
            axes[dim] = replace(axis, block=sym(known[key]))
        found[name] = replace(where, axes=tuple(axes))
    return found, tuple(blocks)


def _name_blocks(arguments: Sequence[str], named: list[Blocks], sdfg: Sdfg) -> None:
    """Give the blocks of a plan that was chosen symbols, in place; add to `named` what they are."""
    descs = ((name, sdfg.desc(name)) for name in sdfg.containers)
    plan = {name: desc.distribution for name, desc in descs if isinstance(desc, Array) and desc.distribution}
    found, blocks = _with_blocks(sdfg, plan, list(sdfg.grids), arguments)
    for name, where in found.items():
        desc = sdfg.desc(name)
        assert isinstance(desc, Array)
        sdfg.redeclare(name, replace(desc, distribution=where))
    named.append(blocks)


def text_of(where: Placement, grid: str) -> str:
    """A placement as distributions are written: ``g0(block 0, whole)``."""
    axes = ", ".join("whole" if axis is None else str(axis) for axis in where.axes)
    return f"{grid}({axes})" + ("" if where.root is None else f" root 0 at {where.root}")


def as_plan(plan: Mapping[str, Any], taken: Container[str]) -> tuple[dict[str, Any], dict[str, tuple[int, ...]]]:
    """A plan in which placements on grids that are there became text, and these grids by name."""
    grids: list[Grid] = []
    names: list[str] = []
    found: dict[str, Any] = {}
    for name, where in plan.items():
        if not hasattr(where, "grid") or not hasattr(where.grid, "sizes"):
            found[name] = where
            continue
        if where.grid not in grids:
            grids.append(where.grid)
            names.append(next(stem for number in itertools.count() if (stem := f"g{number}") not in names
                              and stem not in taken))  # fmt: skip
        found[name] = text_of(where, names[grids.index(where.grid)])
    return found, {name: grid.sizes for name, grid in zip(names, grids, strict=True)}


def _of_symbols(sizes: Sizes, shapes: Mapping[str, Sequence[int]]) -> dict[str, int]:
    """Return the values of symbols that the shapes of arguments imply."""
    return {
        symbol: shapes[name][axis] - offset
        for name, dims in sizes.items()
        for axis, (symbol, _, offset) in enumerate(dims)
        if symbol
    }


def _free_name(sdfg: Sdfg, stem: str) -> str:
    """A name that nothing has yet; it is not taken by asking."""
    while not sdfg.is_free(stem):
        stem += "_"
    return stem


def _on(where: str, renamed: Mapping[str, str]) -> str:
    grid, _, rest = where.partition("(")
    return f"{renamed[grid]}({rest}"


def expand_messages(sdfg: Sdfg, *, alone: bool) -> None:
    """Expand messages between ranks into calls of MPI, or into copies for one rank."""
    from dcpy.transforms.expand import ExpandLibraryNode

    plugins.load()
    step = ExpandLibraryNode(prefer=("alone", "summa", "gathered") if alone else ("mpi",))
    for node in [] if alone else list(sdfg.body.walk_nodes()):
        if isinstance(node, CommNode):
            warn_of_dynamic_shapes(node)
    while nodes := [node for node in sdfg.body.walk_nodes() if isinstance(node, CommNode)]:
        for node in nodes:  # a product on a grid becomes broadcasts, which are next
            if node.kind.startswith("pblas.") and not alone:
                choice, _ = step.choose(node)
                if choice.expansion == "gathered":
                    warn_of_cost(f"{choice}: matrices are gathered, and each rank computes all of it", node.span)
            driver.apply(sdfg, step, {"node": node})


def expand_local_view(sdfg: Sdfg) -> bool:
    """Turn the messages of a plain program into calls of MPI, or drop them; return whether there are any.

    Raises `InvalidSdfg` for collectives that not all ranks reach (`comm.divergent`), and for messages in maps.
    """
    speaking = [each for each in sdfg.with_callees() if any(isinstance(n, CommNode) for n in each.body.walk_nodes())]
    if not speaking:
        return False
    from dcpy.ir.verify import WELL_FORMED, verify
    from dcpy.runtime.distributed.world import current_world

    for each in speaking:
        verify(each, WELL_FORMED)
        expand_messages(each, alone=current_world().size == 1)
    return True


def with_messages(sdfg: Sdfg) -> Sdfg:
    """A copy in which messages are calls of this process's MPI, or are dropped where there is none."""
    from dcpy.ir.editing.copying import copy_sdfg
    from dcpy.runtime.distributed.world import current_world

    made = copy_sdfg(sdfg)
    expand_messages(made, alone=current_world().size == 1)
    return made


def attach(library: Any, communicator: int | None = None, options: Options | None = None) -> None:
    """Pass its ranks to a library, if it sends anything. Default: all of the job.

    A program of the local view, which has `options`, watches by itself where it waits.
    """
    from dcpy.runtime.distributed.world import current_world

    tell = getattr(library, "dcpy_ranks_attach", None)
    if tell is not None:
        tell(current_world().handle if communicator is None else communicator)
        if options is not None and (options.ranks_timeout or options.check_messages):
            library.dcpy_ranks_watch(options.ranks_timeout, int(options.check_messages))


def require_plain(sdfg: Sdfg, records: Iterable[str], parameters: Container[str]) -> None:
    """`FrontendError` for parameters that are no arrays and numbers (`records`), for global arrays and messages."""
    for name in records:
        raise FrontendError(
            f"{sdfg.name}() takes objects or tuples ({name!r}), whose parts are not distributed",
            span=sdfg.span,
            help="pass arrays and numbers",
        )
    for name in sdfg.arguments:
        if name not in parameters:
            raise FrontendError(
                f"{sdfg.name}() uses the global array {name!r}",
                span=sdfg.span,
                help="pass it as an argument: then it is known where it is",
            )
    spoken = next((node for node in sdfg.body.walk_nodes() if isinstance(node, CommNode)), None)
    if spoken is not None:
        raise FrontendError(
            f"{sdfg.name}() is distributed, and sends by itself ({spoken.kind})",
            span=spoken.span,
            help="distributed programs are written as for one rank; programs with dcpy.comm are not distributed=True",
        )
    if sdfg.callbacks:
        raise FrontendError(
            f"{sdfg.name}() calls Python, which each rank would do for itself",
            span=sdfg.span,
            help="call it before or after the program",
        )
