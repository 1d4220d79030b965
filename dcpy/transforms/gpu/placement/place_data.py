"""PlaceData: what kernels touch is in the memory of the device; what the host touches too has a twin there."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.analysis.accesses.layout_injectivity import elements_are_apart
from dcpy.ir.analysis.device_side import (
    HOST_PREFIX,
    PREFIX,
    Side,
    is_kernel,
    is_library_call,
    on_device,
    places_of,
    run_by_host,
    side_of,
)
from dcpy.ir.data import Allocation, Array, Data, Scalar, Space, View, is_scalar, packed_strides, strides_of
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.editing.substitution import Substitution
from dcpy.ir.editing.view_rebasing import rebased
from dcpy.ir.nodes import ForeignCall, Map
from dcpy.ir.symbolic import Ranges
from dcpy.ir.tree import Element, is_inside, owners_around, subtree
from dcpy.transforms.passes import GraphPass


@dataclass(frozen=True)
class PlaceData(GraphPass):
    """Gives containers that kernels touch a place in global memory.

    before   A: f64[N]                              after   A: f64[N];  data gpu_A: f64[N] transient @global @heap
             data t: f64[N] transient                       data t: f64[N] transient @global @heap
             map i = 0:N @grid { t[i] = A[i] + s }          map i = 0:N @grid { t[i] = gpu_A[i] + s }

    Arguments, results, constants, and all that the host touches too have twins, which the next pass keeps valid; twins
    of arrays with gaps have none. Numbers that only the host computes are passed by value. What callers have on the
    device is used in place, and has a twin on the host where that needs one. Memory spaces that users asked for are
    wishes: what only the host touches is the host's.
    """

    name: ClassVar[str] = "place-data"

    def decide(self, rw: Rewriter) -> None:
        """Kernel by kernel, after users' wishes, which the host may have touched, are forgotten."""
        for region in list(rw.sdfg.body.walk_regions()):
            if any(map(is_kernel, owners_around(region))):
                continue
            for name, desc in list(region.containers.items()):
                if isinstance(desc, Scalar | Array) and desc.transient and desc.space is not Space.HOST:
                    rw.redeclare(name, replace(desc, space=Space.HOST))
        made = _DataPlacement(rw)
        for element in list(run_by_host(rw.sdfg.body)):
            if not on_device(element):
                made.mirror(element)
        for element in list(run_by_host(rw.sdfg.body)):
            if isinstance(element, Map) and is_kernel(element):
                made.kernel(element)
            elif is_library_call(element):
                made.library_call(element)


class _DataPlacement:
    def __init__(self, rw: Rewriter) -> None:
        self.rw = rw
        self.written: dict[str, None] = {}  # by kernels
        self.by_host: dict[str, None] = {}
        self.names: dict[str, str] = {}  # of what kernels touch there
        self.mirrors: dict[str, str] = {}  # of what the host touches here
        for element in run_by_host(rw.sdfg.body):
            inside = subtree(element) if is_kernel(element) else (element,)
            for part in inside:
                accessed = rw.uses.accesses(part)
                for name in accessed.writes if on_device(element) else ():
                    self.written[rw.uses.root(name)] = None
                if not on_device(element):
                    self.by_host.update(dict.fromkeys(map(rw.uses.root, (*accessed.reads, *accessed.writes))))
        self.by_host.update(dict.fromkeys(rw.uses.root(result.container) for result in rw.sdfg.results))

    def kernel(self, kernel: Map) -> None:
        """Let a kernel touch what is on the device."""
        rw = self.rw
        renamed: dict[str, str] = {}
        for name in dict.fromkeys(_accessed(kernel, rw)):
            place = self.place_of(name)
            if place != name:
                renamed[name] = place
        if not renamed:
            return
        values = Substitution(containers=renamed)
        for element in subtree(kernel):
            accessed = rw.uses.accesses(element)
            if not renamed.keys().isdisjoint((*accessed.reads, *accessed.writes)):
                rw.substitute(element, values)
        for region in list(kernel.body.walk_regions()):
            for name, desc in list(region.containers.items()):
                if isinstance(desc, View) and desc.of in renamed:
                    rw.redeclare(name, self.shown(desc, desc.of, renamed[desc.of]))

    def mirror(self, element: Element) -> None:
        """Let the host touch a copy of what callers have on the device."""
        rw = self.rw
        accessed = rw.uses.accesses(element)
        names = dict.fromkeys((*accessed.reads, *accessed.writes))
        there = [name for name in names if side_of(rw.uses.desc(rw.uses.root(name))) is Side.DEVICE]
        renamed = {name: self.mirror_of(name) for name in there}
        if renamed:
            rw.substitute(element, Substitution(containers=renamed))

    def mirror_of(self, name: str) -> str:
        """The name of a container, or view, on the host; made at the first question."""
        if name not in self.mirrors:
            self.mirrors[name] = self.mirrored(name)
        return self.mirrors[name]

    def mirrored(self, name: str) -> str:
        rw, desc = self.rw, self.rw.uses.desc(name)
        if isinstance(desc, View):
            shown = self.shown(desc, desc.of, self.mirror_of(desc.of))
            return rw.declare_fresh(HOST_PREFIX + name, shown, rw.uses.home(name))
        assert isinstance(desc, Array)
        if desc.alias and any(rw.uses.writers(other) for other in rw.uses.overlapping(name)):
            raise InvalidSdfg(
                f"the host needs {name!r}, which is on the device and may overlap another argument that is written",
                span=desc.span,
                help=f"pass a copy of {name}, or arrays of NumPy's",
            )
        rw.remark(rw.sdfg, True, "has a copy in the memory of the host", about=name)
        strides = packed_strides(desc.shape, desc.axes or "C")
        twin = replace(desc, transient=True, alias="", strides=strides, space=Space.HOST, allocation=Allocation.HEAP)
        return rw.declare(HOST_PREFIX + name, twin)

    def library_call(self, call: ForeignCall) -> None:
        """Let a function of a library have places on the device, with the strides that it was compiled for."""
        places = {name: self.place_of(name) for name in places_of(call)}
        for name, place in places.items():
            if strides_of(self.rw.uses.desc(name)) != strides_of(self.rw.uses.desc(place)):
                message = f"{call.title} was compiled for other strides of {name!r} than those of {place!r}"
                raise InvalidSdfg(message, span=call.span)
        self.rw.substitute(call, Substitution(containers={a: b for a, b in places.items() if a != b}))

    def place_of(self, name: str) -> str:
        """The name of a container, or view, on the device; made at the first question."""
        if name not in self.names:
            self.names[name] = self.make(name)
        return self.names[name]

    def make(self, name: str) -> str:
        rw, desc = self.rw, self.rw.uses.desc(name)
        root = rw.uses.root(name)
        if side_of(rw.uses.desc(root)) is Side.DEVICE:
            return name
        if root not in self.written and is_scalar(rw.uses.desc(root)) and not rw.uses.views_of(root):
            return name
        if isinstance(desc, View):
            base = self.place_of(desc.of)
            if base == desc.of:
                return name
            return rw.declare_fresh(PREFIX + name, self.shown(desc, desc.of, base), rw.uses.home(name))
        assert isinstance(desc, Scalar | Array)
        ranges = rw.uses.ranges_at(rw.uses.home(name))
        if desc.transient and name not in self.by_host and name not in rw.sdfg.constants:
            rw.redeclare(name, _on_device(desc, ranges, keep=True))
            rw.remark(rw.sdfg, True, "in the memory of the device", about=name)
            return name
        rw.remark(rw.sdfg, True, "has a copy in the memory of the device", about=name)
        return rw.declare_fresh(PREFIX + name, _on_device(desc, ranges, keep=False), rw.uses.home(name))

    def shown(self, view: View, before: str, base: str) -> View:
        """A view of a container's twin, which may lie differently in memory."""
        fresh = rebased(replace(view, of=base), self.rw.uses.desc(base), self.rw.uses.desc(before))
        if fresh is None:
            raise InvalidSdfg(
                f"a view of {view.of!r} reshapes an array that may have gaps between its elements; its twin has none",
                span=view.span,
                help="inline the call (sdfg.simplify()), or copy the argument first",
            )
        return fresh


def _accessed(kernel: Map, rw: Rewriter) -> Iterator[str]:
    """Yield the containers that a kernel touches and does not declare; and those that views in it show."""
    for element in subtree(kernel):
        accessed = rw.uses.accesses(element)
        for name in (*accessed.reads, *accessed.writes):
            while is_inside(rw.uses.home(name), kernel) and isinstance(desc := rw.uses.desc(name), View):
                name = desc.of
            if not is_inside(rw.uses.home(name), kernel):
                yield name


def _on_device(desc: Scalar | Array, ranges: Ranges, *, keep: bool) -> Data:
    """The same elements in global memory: in the same order where they fill it, else in C order."""
    if isinstance(desc, Scalar):
        return replace(
            Array.packed(desc.dtype, (), transient=True, span=desc.span), space=Space.GLOBAL, allocation=Allocation.HEAP
        )
    in_order = packed_strides(desc.shape)
    filled = keep or desc.axes is not None
    strides = desc.strides if filled and elements_are_apart(desc.shape, desc.strides, ranges) else in_order
    return replace(
        desc, transient=True, alias="", strides=strides, space=Space.GLOBAL, allocation=Allocation.HEAP
    )
