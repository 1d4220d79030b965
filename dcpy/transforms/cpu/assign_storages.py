"""AssignStorages: small things in registers and on the stack, the rest on the heap."""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.data import Array, Scalar, Storage
from dcpy.ir.rewriter import rewriting
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.uses import Uses

STACK_BYTES = 8192  #: a larger array goes to the heap: threads have small stacks


def assign_storages(sdfg: Sdfg) -> None:
    """Gives a storage to each transient that has none.

    A 0-d container becomes a variable, unless something needs its address: a view of it, a call. An array of constant
    size up to `STACK_BYTES` is on the stack.
    """
    with rewriting(sdfg, "assign-storages") as rw:
        for region in list(sdfg.body.walk_regions()):
            for name, desc in list(region.containers.items()):
                if isinstance(desc, Scalar | Array) and desc.transient and desc.storage is Storage.DEFAULT:
                    rw.redeclare(name, replace(desc, storage=_storage(name, desc, rw.uses)))


def _storage(name: str, desc: Scalar | Array, uses: Uses) -> Storage:
    size = 1
    for extent in desc.shape:
        number = extent.constant
        if number is None:
            return Storage.HEAP
        size *= number
    if not desc.shape and not uses.views_of(name):
        return Storage.REGISTER
    packed = isinstance(desc, Scalar) or desc.is_packed
    return Storage.STACK if packed and size * desc.dtype.itemsize <= STACK_BYTES else Storage.HEAP
