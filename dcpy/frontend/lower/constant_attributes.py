"""Constant attributes: those of modules, and of other objects that are known when a program is compiled."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.errors import FrontendError
from dcpy.base.rank_grids import RankGrid
from dcpy.frontend.abstract_values.values import Static, Value
from dcpy.frontend.comm.mpi4py_names import constant_of_mpi4py, refusal_of_number
from dcpy.frontend.implements import call_entry, find_member
from dcpy.frontend.lower.lowering_signals import CHANGING_SETS
from dcpy.frontend.lower.member_lookup import called, instead_of_member
from dcpy.frontend.lower.name_binding import from_python
from dcpy.frontend.python.sets import CHANGES_OF_SETS, unchanged_set

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import Frame


def attribute_of_constant(frame: Frame, owner: Static, name: str) -> Value:
    """An attribute of a module or another object that is known when the program is compiled."""
    known, found = frame.closure.attribute(owner.value, name)
    if isinstance(owner.value, set | frozenset) and name in CHANGES_OF_SETS:
        raise frame.b.by_path(CHANGING_SETS, unchanged_set(name))
    if not known:
        raise FrontendError(
            f"{called(owner)} has no attribute {name!r}",
            notes=("Python raises AttributeError here",),
            help=instead_of_member(owner.value, name),
        )
    if name in ("coords", "world") and isinstance(owner.value, RankGrid):
        raise FrontendError(
            f"{name!r} of a grid is that of one rank, and a program is the same on all ranks",
            help="write comm.coords(grid), comm.rank() or comm.size(): the program asks when it runs",
        )
    constant = constant_of_mpi4py(owner.value, name)
    if constant is not None:
        return Static(constant)
    entry = None if callable(found) else find_member(owner.value, name)
    if entry is not None:
        return call_entry(frame.b, entry, [owner], {})
    refused = refusal_of_number(owner.value, name, found)
    if refused is not None:
        raise FrontendError(f"mpi4py's {name!r} is not supported", notes=(refused.reason,), help=refused.help)
    return from_python(frame, found, frame.closure.dependences_of(name, owner.value))
