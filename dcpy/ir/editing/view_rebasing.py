"""View rebasing: what changes in a view when its base is replaced."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace

from dcpy.ir.data import Array, Data, View, packed_strides, strides_of
from dcpy.ir.region import Region
from dcpy.ir.symbolic import ONE, ZERO, Expr
from dcpy.ir.tree import regions_around


def rebased(view: View, base: Data, before: Data) -> View | None:
    """The same elements, by index, of a base that has the descriptor `base` now, and had `before`.

    Offset and strides of a slice follow from it. A view that is no slice keeps its strides, and its distance from the
    base's first element; where the bases lie differently in memory, it follows if it was given in strides that only
    symbols name, as those of arguments are. None where it may show other elements.
    """
    if view.window is not None:
        sizes = {position: view.shape[position] for position, axis in enumerate(view.axes) if axis < 0}
        fresh = View.slice(view.of, base, view.window, axes=view.axes, sizes=sizes)
        return View(view.of, view.dtype, view.shape, fresh.strides, fresh.offset, view.window, view.axes, view.span)
    same_layout = strides_of(base) == strides_of(before) or (_fills(base) and _fills(before))
    per_element, rest = divmod(base.dtype.itemsize, view.dtype.itemsize)  # offsets count elements of the view's dtype
    if base.dtype != before.dtype or rest:
        return None
    if not same_layout:
        return _in_other_strides(view, base, before)
    return replace(view, offset=view.offset + (_offset(base) - _offset(before)) * per_element)


def _in_other_strides(view: View, base: Data, before: Data) -> View | None:
    """The view with strides of `base` for the symbols that were strides of `before`.

    What is linear in them says, by its factors, which element of the base it shows, wherever that lies.
    """
    pairs = list(zip(strides_of(before), strides_of(base), strict=True))
    sizes = {name for size in before.shape for name in size.symbols}
    known: dict[str, Expr] = {}
    for old, new in pairs:
        name = next((name for name in old.symbols if name not in sizes), None)
        factor = None if name is None else old.linear_in(name)
        if name is not None and factor is not None and factor[1] is ZERO and new % factor[0] is ZERO:
            known.setdefault(name, new // factor[0])
    pairs.append((_offset(before), _offset(base)))
    told = (view.offset, *view.strides)
    if any(old.subs(known) is not new for old, new in pairs) or not all(_is_linear(one, known.keys()) for one in told):
        return None
    offset, *strides = (one.subs(known) for one in told)
    return replace(view, offset=offset, strides=tuple(strides))


def _is_linear(expr: Expr, names: AbstractSet[str]) -> bool:
    """Return whether no two of the names, nor one twice, are factors of a term."""
    forms = [expr.linear_in(name) for name in names]
    return all(form is not None and names.isdisjoint(form[0].symbols) for form in forms)


def _offset(desc: Data) -> Expr:
    return desc.offset if isinstance(desc, View) else ZERO


def is_packed(desc: Data) -> bool:
    """Return whether the elements lie in C order without gaps."""
    return isinstance(desc, Array | View) and desc.strides == packed_strides(desc.shape)


def _fills(desc: Data) -> bool:
    """Return whether it is packed, but for axes of one element, whose steps are never taken."""
    if not isinstance(desc, Array | View):
        return False
    steps = zip(desc.shape, desc.strides, packed_strides(desc.shape), strict=True)
    return all(size == ONE or stride == packed for size, stride, packed in steps)


def rebase_views(body: Region, outside: Callable[[str], Data]) -> None:
    """Derive offsets and strides of all views in a region anew; `outside` finds what it does not declare."""
    settled: dict[str, Data] = {}
    originals = {name: desc for region in body.walk_regions() for name, desc in region.containers.items()}

    def settle(name: str, region: Region | None) -> Data:
        around = () if region is None else regions_around(region)
        region = next((outer for outer in around if name in outer.containers), None)
        if region is None:
            return outside(name)
        desc = region.containers[name]
        if isinstance(desc, View) and name not in settled:
            base = settle(desc.of, region)
            before = originals.get(desc.of, Array.packed(base.dtype, base.shape))  # arguments were arrays
            desc = region.containers[name] = rebased(desc, base, before) or desc
        settled[name] = desc
        return settled[name]

    for region in body.walk_regions():
        for name, desc in region.containers.items():
            if isinstance(desc, View):
                settle(name, region)
