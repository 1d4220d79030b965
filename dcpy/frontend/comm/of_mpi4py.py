"""What programs say in place of mpi4py's names, which they do not take: the function of ``dcpy.comm`` by name."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from dcpy.frontend.numpy.refused import Refusal

_OTHER_NAMES = {
    "Get_rank": "rank", "Get_size": "size", "Reduce_scatter": "ReduceScatter", "Ssend": "Send", "Issend": "Isend",
    "Reduce_scatter_block": "ReduceScatter",
    **{f"{name}v": name for name in ("Scatter", "Gather", "Allgather", "Alltoall")},
}  # fmt: skip
_SAME = (
    "Send", "Recv", "Sendrecv", "Isend", "Irecv", "Wait", "Waitall", "Barrier", "Bcast", "Reduce", "Allreduce", "Scan",
    "Exscan", "Scatter", "Gather", "Allgather", "Alltoall",
)  # fmt: skip
FUNCTIONS = {**dict.fromkeys(_SAME), **_OTHER_NAMES}
_BY_LOWER_CASE = {name.lower(): name for name in _SAME}


def refusal_of_mpi4py(name: str) -> Refusal | None:
    """Why a method of mpi4py's, by its full name, is not taken, and what to write; None for what is no method of it."""
    if not name.startswith("mpi4py."):
        return None
    method = name.rpartition(".")[2]
    if method in _BY_LOWER_CASE:
        known = _BY_LOWER_CASE[method]
        return Refusal(
            f"it sends any object of Python's, as a pickle; {known} sends arrays",
            f"put what is sent into arrays, and write dcpy.comm.{known}(...)",
        )
    if method in FUNCTIONS:
        known = FUNCTIONS[method] or method
        return Refusal("programs send by dcpy.comm, over all ranks", f"write dcpy.comm.{known}(...)")
    return None


def refusal_of_number(owner: Any, name: str, found: Any) -> Refusal | None:
    """Why a number that an object of mpi4py's has is not taken, and what to write; None for what is no such number.

    As a constant, ``COMM.rank`` would give each rank a program of its own: nobody would see that collectives under a
    condition on it are not reached by all.
    """
    classes = () if isinstance(owner, ModuleType) else type(owner).__mro__
    modules = [owner.__name__] if isinstance(owner, ModuleType) else [each.__module__ for each in classes]
    if not isinstance(found, int) or not any(f"{module}.".startswith("mpi4py.") for module in modules):
        return None
    if name in ("rank", "size"):
        return Refusal("a program is the same on all ranks, and asks when it runs", f"write dcpy.comm.{name}()")
    return Refusal("constants of MPI are those of one library", f"write dcpy.comm.{name}, if there is one")
