"""What programs say in place of mpi4py's methods, which they do not take: the function of ``dcpy.comm`` by name."""

from __future__ import annotations

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
