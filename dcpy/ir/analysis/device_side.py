"""Device side: on the host or on a device, where each element runs and where each container lives.

Derived, never stored: a kernel is a map with the schedule `Grid`, and all that is in no kernel is done by the host. The
twin of a container holds the same elements on a device (``gpu_A`` those of ``A``); passes keep both valid where
they are needed (`ir.analysis.gpu.data_validity`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import Flag
from typing import TypeGuard, cast

from dcpy.ir.data import Array, Data, Scalar, Space
from dcpy.ir.nodes import ForeignCall, Map
from dcpy.ir.region import Region
from dcpy.ir.schedules import Grid
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.tree import Element, children

PREFIX = "gpu_"  #: of the names of twins
HOST_PREFIX = "host_"  #: of those that the host has of arrays of the device
ON_DEVICE = "gpu."  #: begins the names of environments whose functions work on the memory of a device
_TWIN = re.compile(rf"{PREFIX}(\w+?)(_\d+)?")


class Side(Flag):
    """Side that runs an element, or on which the elements of a container are valid."""

    NEITHER = 0
    HOST = 1
    DEVICE = 2
    BOTH = 3


def is_kernel(element: object) -> bool:
    """Return whether it is a map over the blocks of a device."""
    return isinstance(getattr(element, "schedule", None), Grid)


def is_library_call(element: object) -> TypeGuard[ForeignCall]:
    """Return whether it is a call of a function of a device's library: the host queues it, as it queues a kernel."""
    return str(getattr(element, "environment", "")).startswith(ON_DEVICE)


def on_device(element: object) -> bool:
    """Return whether the device does it: a kernel, or a library's function."""
    return is_kernel(element) or is_library_call(element)


def places_of(call: ForeignCall) -> list[str]:
    """Return the containers in device memory whose addresses a library's function gets; it gets values of others."""
    operands = {**call.inputs, **call.outputs}
    return list(dict.fromkeys(operands[arg].container for arg in call.args if isinstance(arg, str)))


def run_by_host(region: Region) -> Iterator[Element]:
    """Yield the elements that the host runs, in program order, parents first; kernels are yielded as a whole."""
    pending: list[Element] = list(reversed(region.blocks))
    while pending:
        element = pending.pop()
        yield element
        if not is_kernel(element):
            pending += reversed(children(element))


def kernels(sdfg: Sdfg) -> list[Map]:
    """All kernels, in program order."""
    return [cast(Map, element) for element in run_by_host(sdfg.body) if is_kernel(element)]


def side_of(desc: Data) -> Side:
    """Return the side that holds a container's elements; memory beside the device's own is the host's."""
    on_device = isinstance(desc, Scalar | Array) and desc.space in (Space.GLOBAL, Space.SHARED)
    return Side.DEVICE if on_device else Side.HOST


def twins(sdfg: Sdfg) -> dict[str, str]:
    """The container of the host with the same elements, for each one in global memory that has such a twin."""
    known = {name: desc for region in sdfg.body.walk_regions() for name, desc in region.containers.items()}
    found: dict[str, str] = {}
    for name, desc in known.items():
        if isinstance(desc, Array) and desc.space is Space.GLOBAL:
            host = _host_name(name, known) if desc.transient else _mirror(name, known)
            if host and known[host].shape == desc.shape and getattr(known[host], "dtype", None) == desc.dtype:
                found[name] = host
    return found


def homes(sdfg: Sdfg) -> dict[str, Side]:
    """The side on which callers have arguments and results, by the host's names: they are valid there at the end."""
    passed = dict.fromkeys((*sdfg.arguments, *(result.container for result in sdfg.results)))
    found = {name: Side.HOST for name in passed}
    return found | {host: Side.DEVICE for device, host in twins(sdfg).items() if device in passed}


def _mirror(name: str, known: dict[str, Data]) -> str:
    """The twin that the host has of an array that callers have on a device; "" where there is none."""
    found = HOST_PREFIX + name
    return found if found in known and side_of(known[found]) is Side.HOST else ""


def _host_name(name: str, known: dict[str, Data]) -> str:
    """The name of what a container is the twin of, going by its own; "" where there is none."""
    direct = name.removeprefix(PREFIX)
    if direct != name and direct in known and side_of(known[direct]) is Side.HOST:
        return direct
    match = _TWIN.fullmatch(name)
    stem = match.group(1) if match else ""
    return stem if stem in known and side_of(known[stem]) is Side.HOST else ""
