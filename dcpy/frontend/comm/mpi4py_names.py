"""mpi4py's names in programs: its constants, and the refusals of what programs do not take."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from dcpy.frontend.comm.constants import ANY_SOURCE, ANY_TAG, PROC_NULL, InPlace, ReduceOperation
from dcpy.frontend.numpy.unsupported_functions import Reason

MODULE = "mpi4py.MPI"
_METHODS = (
    "Send", "Recv", "Sendrecv", "Isend", "Irecv", "Wait", "Waitall", "Barrier", "Bcast", "Reduce", "Allreduce", "Scan",
    "Exscan", "Scatter", "Gather", "Allgather", "Alltoall",
)  # fmt: skip
_BY_LOWER_CASE = {name.lower(): name for name in _METHODS}

#: By name: the numbers of MPI differ from one library to another.
CONSTANTS: dict[str, object] = {
    "PROC_NULL": PROC_NULL, "ANY_SOURCE": ANY_SOURCE, "ANY_TAG": ANY_TAG, "IN_PLACE": InPlace.IN_PLACE,
    **{operation.name: operation for operation in ReduceOperation},
}  # fmt: skip


def constant_of_mpi4py(owner: Any, name: str) -> object | None:
    """Return the value of ``MPI.SUM`` or ``MPI.PROC_NULL`` in programs; None for other names."""
    is_mpi = isinstance(owner, ModuleType) and owner.__name__ == MODULE
    return CONSTANTS.get(name) if is_mpi else None


def refusal_of_mpi4py(name: str) -> Reason | None:
    """Return why a method of mpi4py is refused, and what to write instead; None for names that are no such method."""
    if not name.startswith("mpi4py."):
        return None
    method = name.rpartition(".")[2]
    if method in _BY_LOWER_CASE:
        known = _BY_LOWER_CASE[method]
        return Reason(
            f"it sends any object of Python's, as a pickle; {known} sends arrays",
            f"put what is sent into arrays, and write {known}(...)",
        )
    return Reason("programs take messages, collectives and grids of all ranks", "docs/how-to/local-view.md lists them")


def refusal_of_number(owner: Any, name: str, found: Any) -> Reason | None:
    """Return why a number of mpi4py is refused; None for names that are no such number, or one of its sizes."""
    if isinstance(owner, ModuleType) and owner.__name__ == MODULE and isinstance(found, int):
        return Reason("constants of MPI are those of one library", f"write dcpy.comm.{name}, if there is one")
    return None
