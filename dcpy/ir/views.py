"""Views of other containers than before: what changes when the base of a view is replaced."""

from __future__ import annotations

from collections.abc import Callable

from dcpy.ir.data import Array, Data, Structure, View, packed_strides
from dcpy.ir.region import Region


def rebased(view: View, base: Data) -> View | None:
    """The same elements, by index, of a base that has the descriptor `base` now.

    Offset and strides follow from it. None where they cannot: a reshape or reinterpretation of what is not packed.
    """
    if view.window is not None:
        sizes = {position: view.shape[position] for position, axis in enumerate(view.axes) if axis < 0}
        fresh = View.slice(view.of, base, view.window, axes=view.axes, sizes=sizes)
    elif is_packed(base) and base.dtype == view.dtype:
        fresh = View.reshape(view.of, base, view.shape)
    else:
        return None
    return View(view.of, view.dtype, view.shape, fresh.strides, fresh.offset, view.window, view.axes, view.span)


def is_packed(desc: Data) -> bool:
    """Whether the elements lie in C order without gaps."""
    return isinstance(desc, Array | View) and desc.strides == packed_strides(desc.shape)


def rebase_views(body: Region, outside: Callable[[str], Data]) -> None:
    """Derives offsets and strides of all views in a region anew; `outside` finds what it does not declare."""
    settled: dict[str, Data] = {}

    def settle(name: str, region: Region | None) -> Data:
        while region is not None and name not in region.containers:
            region = region.parent
        if region is None or isinstance(region.containers[name], Structure):
            return outside(name)
        desc = region.containers[name]
        if isinstance(desc, View) and name not in settled:
            desc = region.containers[name] = rebased(desc, settle(desc.of, region)) or desc
        if not isinstance(desc, Structure):
            settled[name] = desc
        return settled[name]

    for region in body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, View):
                settle(name, region)
