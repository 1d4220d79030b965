"""Pointwise independence: each element that the maps of a loop write belongs to one point of the maps.

A point owns an element if every access of the loop to written containers has, for each parameter, a dimension in which
the index is that parameter plus the same number everywhere. Then two points never access the same element.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body, names_in
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.effect_analysis import effects_of
from dcpy.ir.analysis.device_side import is_kernel
from dcpy.ir.analysis.parallelism.thread_parameters import free_params
from dcpy.ir.data import Array, is_scalar
from dcpy.ir.editing.remarks import described
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import loads_of
from dcpy.ir.field_roles import Role
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.refusal import Refusal
from dcpy.ir.region import Block, Branch, Check, Loop, Region, State
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, Expr, sym
from dcpy.ir.tree import is_inside, subtree


@dataclass(frozen=True, slots=True)
class Met(Refusal):
    """A conflict: points share elements of a container, or kernels have different points. Removing it would help."""

    containers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CommonPoints:
    """The common points of all kernels of a loop, or of adjacent blocks, and the elements that each point owns.

    `shifts`: the difference of each kernel's parameters to those of the first one. `owned`: for each written container,
    the dimension of each parameter.
    """

    kernels: tuple[Map, ...]
    shifts: tuple[tuple[Expr, ...], ...]
    owned: dict[str, tuple[int, ...]]

    @property
    def params(self) -> tuple[str, ...]:
        return self.kernels[0].params

    @property
    def domain(self) -> tuple[Range, ...]:
        return tuple(self.kernels[0].domain)


def points_of(
    loop: Loop,
    uses: Uses,
    settled: Collection[Block] = (),
    counts: Callable[[object], bool] = is_kernel,
    gone: Collection[Map] = (),
) -> CommonPoints | Refusal:
    """The points of the kernels in a loop, if each can run all iterations alone; or the reason that it cannot.

    `settled`: checks that hold, and branches that take their first side. `counts`: a predicate, which maps are kernels.
    `gone`: maps to ignore, because readers compute their results.
    """
    found = kernels_in(loop.body, uses, settled, counts)
    return found if isinstance(found, Refusal) else _common([k for k in found if k not in gone], (loop,), uses)


def points_of_row(
    blocks: Sequence[Block], uses: Uses, counts: Callable[[object], bool] = is_kernel, gone: Collection[Map] = ()
) -> CommonPoints | Refusal:
    """The points of the kernels in adjacent blocks, if each can run all the blocks alone."""
    found: list[Map] = []
    for block in blocks:
        more = _kernels_of(block, uses, (), counts)
        if isinstance(more, Refusal):
            return more
        found += (kernel for kernel in more if kernel not in gone)
    return _common(found, blocks, uses)


def _common(found: Sequence[Map], blocks: Sequence[Block], uses: Uses) -> CommonPoints | Refusal:
    if not found:
        return Refusal("there is no kernel inside")
    elements = (element for block in blocks for element in subtree(block))
    defined = frozenset(name for element in elements for name in element.all_of(Role.DEFINED))
    shifts: list[tuple[Expr, ...]] = []
    for kernel in found:
        shift = _shift(kernel, found[0], defined, uses)
        if isinstance(shift, Refusal):
            return shift
        shifts.append(shift)
    owned = _owned(tuple(found), shifts, blocks, defined, uses)
    return owned if isinstance(owned, Refusal) else CommonPoints(tuple(found), tuple(shifts), owned)


def kernels_in(
    region: Region, uses: Uses, settled: Collection[Block] = (), counts: Callable[[object], bool] = is_kernel
) -> list[Map] | Refusal:
    """The kernels of a region in which the host only counts, branches, and computes scalars of its own."""
    found: list[Map] = []
    for block in region.blocks:
        more = _kernels_of(block, uses, settled, counts)
        if isinstance(more, Refusal):
            return more
        found += more
    return found


def _kernels_of(
    block: Block, uses: Uses, settled: Collection[Block], counts: Callable[[object], bool]
) -> list[Map] | Refusal:
    is_settled = block in settled
    match block:
        case State():
            other = next((node for node in block.nodes if not counts(node) and not _is_number(node, uses)), None)
            if other is not None:
                return Refusal(f"the host runs {described(other)}", (other,))
            return [node for node in block.nodes if isinstance(node, Map)]
        case Check() if is_settled:
            return []
        case Loop() | Branch():
            if not is_settled and any(True for expr in block.exprs() for _ in loads_of(expr)):
                return Refusal(f"a {block.kind} depends on elements of arrays", (block,))
            found: list[Map] = []
            for inner in block.regions()[: 1 if is_settled else None]:
                more = kernels_in(inner, uses, settled, counts)
                if isinstance(more, Refusal):
                    return more
                found += more
            return found
    return Refusal(f"not only kernels are inside: {described(block)}", (block,))


def _is_number(node: Node, uses: Uses) -> bool:
    """Return whether a node computes scalars of an iteration from others, or from read-only data: points can repeat it.
    """
    if not isinstance(node, Tasklet) or effects_of(node) & Effect.MAY_RAISE:
        return False
    accessed = uses.accesses(node)
    private = all(uses.is_private(name) and uses.desc(name).transient for name in accessed.writes)
    known = all(
        is_scalar(uses.desc(name)) or not any(uses.writers(other) for other in uses.overlapping(name))
        for name in accessed.reads
    )
    return private and known and all(is_scalar(uses.desc(name)) for name in accessed.writes)


def _shift(kernel: Map, first: Map, defined: frozenset[str], uses: Uses) -> tuple[Expr, ...] | Refusal:
    """The difference of a kernel's parameters to those of another kernel over equally many points."""
    if effects_of(kernel) & Effect.MAY_RAISE:
        return Refusal(f"something in {described(kernel)} may raise an exception", (kernel,))
    if set(free_params(kernel, uses)) != set(kernel.params):
        return Refusal(f"iterations of {described(kernel)} add to the same element", (kernel,))
    if len(kernel.params) != len(first.params):
        written = (name for node in (kernel, first) for name in names_in(node, uses)[1])
        reason = f"{described(kernel)} has {len(kernel.params)} parameters, not {len(first.params)}"
        return Met(reason, (kernel,), tuple(dict.fromkeys(written)))
    for dim, other in zip(kernel.domain, first.domain, strict=True):
        if not defined.isdisjoint(dim.symbols):
            return Refusal(f"the range {dim} differs between iterations", (kernel,))
        if dim.step is not ONE or other.step is not ONE or (dim.stop - dim.start) != (other.stop - other.start):
            written = (name for node in (kernel, first) for name in names_in(node, uses)[1])
            return Met(f"points differ: {dim} and {other}", (kernel,), tuple(dict.fromkeys(written)))
    return tuple(dim.start - other.start for dim, other in zip(kernel.domain, first.domain, strict=True))


def _owned(
    kernels: tuple[Map, ...],
    shifts: list[tuple[Expr, ...]],
    blocks: Sequence[Block],
    defined: frozenset[str],
    uses: Uses,
) -> dict[str, tuple[int, ...]] | Refusal:
    params = kernels[0].params
    found: dict[str, list[tuple[MemoryAccess, dict[str, Expr]]]] = {}
    written: dict[str, None] = {}
    for kernel, shift in zip(kernels, shifts, strict=True):
        values = {own: sym(name) + by for own, name, by in zip(kernel.params, params, shift, strict=True)}
        for access in accesses_of_body(kernel, uses):
            if is_inside(uses.home(access.root), kernel):
                continue
            found.setdefault(access.memory, []).append((access, values))
            if access.is_write:
                written[access.memory] = None
    owned: dict[str, tuple[int, ...]] = {}
    for memory in written:
        (name, *others) = dict.fromkeys(access.root for access, _ in found[memory])
        if others:
            return Met(f"{name!r} and {others[0]!r} may overlap", containers=(name,))
        dims = tuple(_dimension(param, found[memory], defined, params) for param in params)
        if -1 in dims:
            param = params[dims.index(-1)]
            return Met(f"iterations that differ in {param} use the same element of {name!r}", containers=(name,))
        if any(is_inside(uses.home(name), block) for block in blocks) and not _may_stay(name, defined, uses):
            return Refusal(f"the size of {name!r} differs between iterations, or there are views of it")
        owned[name] = dims
    return owned


def _may_stay(name: str, defined: frozenset[str], uses: Uses) -> bool:
    """Return whether a container of an iteration can be private to a point."""
    desc = uses.desc(name)
    return (
        isinstance(desc, Array)
        and not uses.views_of(name)
        and defined.isdisjoint(symbol for size in desc.shape for symbol in size.symbols)
    )


def _dimension(
    param: str, accesses: list[tuple[MemoryAccess, dict[str, Expr]]], defined: frozenset[str], params: tuple[str, ...]
) -> int:
    """The dimension in which all accesses have the parameter plus the same number as index; -1 if there is none."""
    ranks = {-1 if access.subset is None else len(access.subset.dims) for access, _ in accesses}
    if len(ranks) != 1:
        return -1
    fixed = defined | frozenset(params)
    for axis in range(ranks.pop()):
        distances = set(_distances(param, axis, accesses, fixed))
        if len(distances) == 1 and None not in distances:
            return axis
    return -1


def _distances(
    param: str, axis: int, accesses: list[tuple[MemoryAccess, dict[str, Expr]]], varying: frozenset[str]
) -> Iterator[Expr | None]:
    """The index of each access along a dimension, minus the parameter; None if that differs between points."""
    for access, values in accesses:
        assert access.subset is not None
        index = access.subset.dims[axis]
        if not isinstance(index, Expr):
            yield None
            continue
        distance = index.subs(values) - sym(param)
        yield distance if varying.isdisjoint(distance.symbols) else None
