"""Communication cost model: the bytes and messages of a copy between two distributions, and its time.

A message of m bytes takes ``latency + m * byte`` (Hockney); collectives of p ranks take log2(p) such steps (Thakur,
Rabenseifner and Gropp, Optimization of Collective Communication Operations in MPICH, 2005). Estimates, for decisions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, log2, prod

from dcpy.ir.distribution import Axis, Blocked, Distribution, Partial, Root
from dcpy.ir.machine_model import Network

PICO = 1e-12
Extents = Mapping[str, Sequence[int]]  # how many ranks each axis of a grid has


@dataclass(frozen=True, slots=True)
class CopyTraffic:
    """Upper bound of one rank's traffic: its class, messages, bytes; and the seconds until all have what they need."""

    kind: str
    messages: int
    bytes: int
    seconds: float


NOTHING = CopyTraffic("nothing", 0, 0, 0.0)


def ranks_of(placed: Distribution | None, extents: Extents) -> int:
    """Among how many ranks the elements of an array are divided."""
    if placed is None:
        return 1
    return prod(extents[placed.grid][axis.axis] for axis in placed.axes if axis is not None)


def traffic_of_copy(
    source: Distribution | None,
    target: Distribution | None,
    shape: Sequence[int],
    itemsize: int,
    extents: Extents,
    network: Network,
) -> CopyTraffic:
    """The traffic of a copy of an array, or of a box of this shape of one; None stands for copies on all ranks."""
    bytes_ = prod(shape) * itemsize
    if bytes_ <= 0:
        return NOTHING
    pending = [part for part in _rest(source) if isinstance(part, Partial)]
    if source is not None and pending:
        return _combining(source, target, pending[0].axis, bytes_, extents, network)
    if any(isinstance(part, Root) for part in (*_rest(source), *_rest(target))) and _rest(source) != _rest(target):
        kind = "gather" if any(isinstance(part, Root) for part in _rest(target)) else "scatter"
        grid = target.grid if target is not None else source.grid if source is not None else ""
        return _steps(kind, prod(extents[grid]), bytes_, network)
    if source is None:
        return CopyTraffic("local", 0, 0, bytes_ / ranks_of(target, extents) * network.local_byte * PICO)
    if target is None:
        return _steps("allgather", ranks_of(source, extents), bytes_, network)
    return _between(source, target, shape, itemsize, extents, network)


def _rest(placed: Distribution | None) -> tuple[object, ...]:
    return () if placed is None else placed.rest


def _steps(kind: str, ranks: int, bytes_: int, network: Network, rounds: int = 1) -> CopyTraffic:
    """A collective: each rank sends about all bytes once, in as many messages as doubling takes."""
    if ranks <= 1:
        return NOTHING
    messages = rounds * ceil(log2(ranks))
    sent = rounds * bytes_ * (ranks - 1) // ranks
    return CopyTraffic(kind, messages, sent, _seconds(messages, sent, network))


def _combining(
    source: Distribution, target: Distribution | None, axis: int, bytes_: int, extents: Extents, network: Network
) -> CopyTraffic:
    """Sums that are still to be taken along an axis of the grid: of the block that a rank has."""
    own, ranks = bytes_ // ranks_of(source, extents), extents[source.grid][axis]
    if target is not None and target.rest:
        return _steps("reduce", ranks, own, network)
    if target is not None and any(each is not None and each.axis == axis for each in target.axes):
        return _steps("reduce-scatter", ranks, own, network)
    return _steps("allreduce", ranks, own, network, rounds=2)


def _between(
    source: Distribution,
    target: Distribution,
    shape: Sequence[int],
    itemsize: int,
    extents: Extents,
    network: Network,
) -> CopyTraffic:
    ranks, bytes_ = max(ranks_of(source, extents), ranks_of(target, extents)), prod(shape) * itemsize
    if source.grid != target.grid:
        return _messages("general", ranks - 1, 2 * bytes_ // ranks, network)
    pairs = list(zip(source.axes, target.axes, strict=True))
    shifts = [_shift(one, other) for one, other in pairs]
    changed = [pair for pair, shift in zip(pairs, shifts, strict=True) if shift is None]
    if not changed:
        widths = [
            (low + max(shift or 0, 0), high + max(-(shift or 0), 0))
            for shift, (low, high) in zip(shifts, map(target.halo_of, range(len(shape))), strict=True)
        ]
        return _halo(target, widths, shape, itemsize, extents, network)
    if all(one is None for one, _ in changed):
        return CopyTraffic("local", 0, 0, bytes_ / ranks * network.local_byte * PICO)
    if all(other is None for _, other in changed):
        gathered = prod(extents[source.grid][one.axis] for one, _ in changed if one is not None)
        return _steps("allgather", gathered, bytes_ // ranks_of(target, extents), network)
    return _messages("alltoall", ranks - 1, bytes_ // ranks, network)


def _seconds(messages: int, bytes_: int, network: Network) -> float:
    return (messages * network.latency + bytes_ * network.byte) * PICO


def _messages(kind: str, count: int, bytes_: int, network: Network) -> CopyTraffic:
    if count <= 0:
        return NOTHING
    return CopyTraffic(kind, count, bytes_, _seconds(count, bytes_, network))


def _shift(one: Axis, other: Axis) -> int | None:
    """Elements by which blocks of one size begin later; None where the blocks are others."""
    if one == other:
        return 0
    if isinstance(one, Blocked) and isinstance(other, Blocked) and (one.axis, one.block) == (other.axis, other.block):
        return (other.offset - one.offset).constant
    return None


def _halo(
    placed: Distribution,
    widths: Sequence[tuple[int, int]],
    shape: Sequence[int],
    itemsize: int,
    extents: Extents,
    network: Network,
) -> CopyTraffic:
    """Return the traffic of a halo exchange: the elements of neighbours beyond the edges of a block."""
    ranks = [1 if axis is None else extents[placed.grid][axis.axis] for axis in placed.axes]
    local = [ceil(size / count) for size, count in zip(shape, ranks, strict=True)]
    messages = elements = 0
    for dim, (both, count) in enumerate(zip(widths, ranks, strict=True)):
        if count > 1 and any(both):
            messages += sum(1 for width in both if width)
            elements += sum(both) * prod(local[:dim] + local[dim + 1 :])
    return _messages("halo", messages, elements * itemsize, network)
