"""Memory that programs allocate: it has room for every element, each in a place of its own.

Machine code trusts descriptors. Where one came from a file, its strides may be anything, and its sizes, too.
"""

from __future__ import annotations

from collections.abc import Sequence

from dcpy.ir.analysis.accesses.layout_injectivity import elements_are_apart
from dcpy.ir.data import Allocation, Array, Data, Lifetime, Scalar, Space, View, packed_strides
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.symbolic import ZERO, Expr, product_of
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Declaration, Scope

MOST_BYTES = 2**62  # of one container; machines have less
MOST_STACK = 2**20  # bytes of all containers on the stack of one program: threads have a few times that


@rule("memory.size", Declaration)
def sizes_can_be_addressed(subject: Declaration, scope: Scope) -> Findings:
    """The sizes, strides and offsets of a container that are numbers can be counted in bytes by 64 bits."""
    desc = subject.desc
    if isinstance(desc, Scalar | Array | View):
        numbers = [*desc.shape, *desc.strides, *([desc.offset] if isinstance(desc, View) else [])]
        known = [abs(number.constant) for number in numbers if number.constant is not None]
        total = product_of(*desc.shape).constant
        if any(number * desc.dtype.itemsize > MOST_BYTES for number in (*known, total or 0)):
            yield f"{subject.name!r} has more bytes than can be addressed"


@rule("memory.strides", Declaration)
def allocated_elements_are_apart(subject: Declaration, scope: Scope) -> Findings:
    """No two elements of an array that the program allocates share a place, and none is before the first one."""
    desc = subject.desc
    if not isinstance(desc, Array) or not desc.transient or len(desc.shape) != len(desc.strides):
        return
    if not elements_are_apart(desc.shape, desc.strides, scope.ranges):
        sizes, strides = (", ".join(map(str, values)) for values in (desc.shape, desc.strides))
        yield f"{subject.name!r} is allocated, but elements may meet: sizes [{sizes}], strides ({strides})"


@rule("memory.order", Sdfg)
def results_and_constants_are_packed(sdfg: Sdfg, scope: Scope) -> Findings:
    """Arrays that Python gets as results lie without gaps, in any order of their axes; constants are in C order."""
    names = [*(result.container for result in sdfg.results if result.kind == "array"), *sdfg.constants]
    for name in dict.fromkeys(names):
        desc = sdfg.containers.get(name)
        if not isinstance(desc, Array) or name in sdfg.arguments:
            continue
        if desc.axes is None or (name in sdfg.constants and not desc.is_packed):
            said = "of C order" if name in sdfg.constants else "without gaps"
            yield f"{name!r} has the strides ({', '.join(map(str, desc.strides))}), which are not those {said}"


@rule("memory.space", Declaration)
def scalar_arguments_are_passed_by_value(subject: Declaration, scope: Scope) -> Findings:
    """A scalar argument is passed by value: it is in no device's memory."""
    desc = subject.desc
    if isinstance(desc, Scalar) and not desc.transient and desc.space is not Space.HOST:
        yield f"{subject.name!r} is passed by value, but is in @{desc.space.value}", "make it an array of one element"


@rule("memory.storage", Sdfg)
def storages_have_room(sdfg: Sdfg, scope: Scope) -> Findings:
    """A register holds one element; what is on the stack has a known size, and all of it a megabyte at most."""
    total = 0
    for region in sdfg.body.walk_regions():
        for name, desc in region.containers.items():
            if not isinstance(desc, Array) or not desc.transient:
                continue
            count = product_of(*desc.shape).constant
            if desc.allocation is Allocation.REGISTER and count != 1:
                yield f"{name!r} has the storage 'register', but is not one element", "use the storage 'stack'"
            elif desc.allocation is Allocation.STACK and count is None:
                yield f"{name!r} is on the stack, but its size is not a number", "use the storage 'heap'"
            elif desc.allocation is Allocation.STACK:
                total += max(count or 0, 1) * desc.dtype.itemsize
            if desc.lifetime is Lifetime.PERSISTENT and desc.allocation in (Allocation.REGISTER, Allocation.STACK):
                yield f"{name!r} persists, but is not on the heap", "use the storage 'heap'"
    if total > MOST_STACK:
        yield f"{total} bytes are on the stack; {MOST_STACK} are the most", "use the storage 'heap'"


@rule("memory.views", Declaration)
def views_show_memory_of_their_base(subject: Declaration, scope: Scope) -> Findings:
    """A view without a window, as far as sizes are numbers, shows elements within the memory of its base."""
    view = subject.desc
    base = scope.desc(view.of) if isinstance(view, View) else None
    if not isinstance(view, View) or view.window is not None or not isinstance(base, Scalar | Array | View):
        return
    if len(view.shape) != len(view.strides) or len(base.shape) != len(base.strides):
        return
    if any(size.constant == 0 for size in view.shape):
        return
    first, last = _reach(view.shape, view.strides)
    start = view.offset - (base.offset if isinstance(base, View) else 0)
    _, end = _reach(base.shape, base.strides)
    below, above = (start + first).constant, (start + last + 1).constant
    room = (end + 1).constant
    if below is not None and below < 0 and not isinstance(base, View):
        yield f"{subject.name!r} begins {-below} elements before {view.of!r}"
    if above is not None and room is not None and above * view.dtype.itemsize > room * base.dtype.itemsize:
        yield f"{subject.name!r} ends behind the memory of {view.of!r}"


def _reach(shape: Sequence[Expr], strides: Sequence[Expr]) -> tuple[Expr, Expr]:
    """The places of the lowest and the highest element; strides of unknown sign count up."""
    low, high = ZERO, ZERO
    for size, stride in zip(shape, strides, strict=True):
        if stride.constant is not None and stride.constant < 0:
            low = low + (size - 1) * stride
        else:
            high = high + (size - 1) * stride
    return low, high


def _is_packed(desc: Data) -> bool:
    return isinstance(desc, Array) and desc.strides == packed_strides(desc.shape)
