"""AssignStorages: small things in registers and on the stack, the rest on the heap."""

from __future__ import annotations

import math
from dataclasses import replace

from dcpy.ir.data import Array, Scalar, Storage
from dcpy.ir.rewriter import rewriting
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.uses import Uses

STACK_BYTES = 8192  #: a larger array goes to the heap: threads have small stacks
ALL_STACK_BYTES = 128 * 1024  #: of all arrays of an SDFG together


def assign_storages(sdfg: Sdfg, uses: Uses | None = None) -> None:
    """Gives a storage to each transient that has none.

    A 0-d container becomes a variable, unless a view shows it. An array of constant size up to `STACK_BYTES` is on the
    stack, as long as there is room.
    """
    room = ALL_STACK_BYTES
    with rewriting(sdfg, "assign-storages", uses=uses) as rw:
        for region in list(sdfg.body.walk_regions()):
            for name, desc in list(region.containers.items()):
                if isinstance(desc, Scalar | Array) and desc.transient and desc.storage is Storage.DEFAULT:
                    storage = _storage(name, desc, rw.uses, room)
                    room -= _bytes(desc) if storage is Storage.STACK else 0
                    rw.redeclare(name, replace(desc, storage=storage))


def _storage(name: str, desc: Scalar | Array, uses: Uses, room: int) -> Storage:
    if not desc.shape and not uses.views_of(name):
        return Storage.REGISTER
    packed = isinstance(desc, Scalar) or desc.is_packed
    constant = all(size.constant is not None for size in desc.shape)
    return Storage.STACK if packed and constant and _bytes(desc) <= min(STACK_BYTES, room) else Storage.HEAP


def _bytes(desc: Scalar | Array) -> int:
    """Of an array of constant size."""
    return math.prod((size.constant or 0 for size in desc.shape), start=desc.dtype.itemsize)
