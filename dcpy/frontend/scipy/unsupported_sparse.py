"""Unsupported members of SciPy's sparse matrices, each with the reason and what to write instead."""

from __future__ import annotations

from dcpy.frontend.numpy.unsupported_functions import Refusal

_DIRECT = ("spsolve", "splu", "spilu", "factorized", "inv", "spsolve_triangular")
_SOLVED = Refusal(
    "no library that compiled code calls factorizes sparse matrices",
    "solve densely, np.linalg.solve(A.toarray(), b), or by iterations: A @ p is compiled. Or let the program call a "
    "function of yours in Python, with @dcpy.callback(returns=...), that gets A.data, A.indices and A.indptr",
)
_ITERATED = Refusal(
    "it is Python code of SciPy's, which calls A @ x in a loop",
    "write the loop into the program: A @ x is compiled",
)
_MADE = Refusal(
    "programs take sparse matrices as arguments and make none",
    "make it outside of the program, and pass it as an argument",
)


def refusal_of_scipy(name: str) -> Refusal | None:
    """Return why a name of `scipy.sparse` is refused, and what to write instead; None for other names."""
    if not name.startswith("scipy.sparse."):
        return None
    if name.startswith("scipy.sparse.linalg."):
        return _SOLVED if name.rpartition(".")[2] in _DIRECT else _ITERATED
    return _MADE
