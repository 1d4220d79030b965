"""Names of mpi4py's in programs: what constants stand for, and what to write in place of what is not taken."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from dcpy.frontend.comm.words import ANY_SOURCE, ANY_TAG, PROC_NULL, InPlace, Operation
from dcpy.frontend.numpy.refused import Refusal

MODULE = "mpi4py.MPI"
_METHODS = (
    "Send", "Recv", "Sendrecv", "Isend", "Irecv", "Wait", "Waitall", "Barrier", "Bcast", "Reduce", "Allreduce", "Scan",
    "Exscan", "Scatter", "Gather", "Allgather", "Alltoall",
)  # fmt: skip
_BY_LOWER_CASE = {name.lower(): name for name in _METHODS}

#: By name: the numbers of MPI differ from one library to another.
CONSTANTS: dict[str, object] = {
    "PROC_NULL": PROC_NULL, "ANY_SOURCE": ANY_SOURCE, "ANY_TAG": ANY_TAG, "IN_PLACE": InPlace.IN_PLACE,
    **{operation.name: operation for operation in Operation},
}  # fmt: skip


def constant_of_mpi4py(owner: Any, name: str) -> object | None:
    """What ``MPI.SUM`` or ``MPI.PROC_NULL`` is in programs; None for what is no such constant."""
    is_mpi = isinstance(owner, ModuleType) and owner.__name__ == MODULE
    return CONSTANTS.get(name) if is_mpi else None


def refusal_of_mpi4py(name: str) -> Refusal | None:
    """Why a method of mpi4py's, by its full name, is not taken, and what to write; None for what is no method of it."""
    if not name.startswith("mpi4py."):
        return None
    method = name.rpartition(".")[2]
    if method in _BY_LOWER_CASE:
        known = _BY_LOWER_CASE[method]
        return Refusal(
            f"it sends any object of Python's, as a pickle; {known} sends arrays",
            f"put what is sent into arrays, and write {known}(...)",
        )
    return Refusal("programs take messages, collectives and grids of all ranks", "docs/how-to/local-view.md lists them")


def refusal_of_number(owner: Any, name: str, found: Any) -> Refusal | None:
    """Why a number that mpi4py has is not taken; None for what is no such number, or one of its sizes."""
    if isinstance(owner, ModuleType) and owner.__name__ == MODULE and isinstance(found, int):
        return Refusal("constants of MPI are those of one library", f"write dcpy.comm.{name}, if there is one")
    return None
