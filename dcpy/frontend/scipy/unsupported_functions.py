"""Unsupported functions of SciPy: sparse matrices, and solvers that call a function; with what to write instead."""

from __future__ import annotations

from dcpy.frontend.numpy.unsupported_functions import Reason

_DIRECT = ("spsolve", "splu", "spilu", "factorized", "inv", "spsolve_triangular")
_SOLVED = Reason(
    "no library that compiled code calls factorizes sparse matrices",
    "solve densely, np.linalg.solve(A.toarray(), b), or by iterations: A @ p is compiled. Or let the program call a "
    "function of yours in Python, with @dcpy.callback(returns=...), that gets A.data, A.indices and A.indptr",
)
_ITERATED = Reason(
    "it is Python code of SciPy's, which calls A @ x in a loop",
    "write the loop into the program: A @ x is compiled",
)
_MADE = Reason(
    "programs take sparse matrices as arguments and make none",
    "make it outside of the program, and pass it as an argument",
)
_STATISTICS = Reason(
    "it is Python code of SciPy's, with checks of its own for each call",
    "call it outside of the program, and pass the result; scipy.special.ndtr(x) is the normal distribution function",
)
#: functions that call a function which their user passes
_CALLERS = {
    "integrate": "solve_ivp odeint quad quad_vec dblquad tplquad nquad fixed_quad romberg",
    "optimize": "minimize minimize_scalar root root_scalar fsolve brentq bisect newton ridder curve_fit least_squares "
    "differential_evolution basinhopping fmin fmin_bfgs approx_fprime",
}


def refusal_of_scipy(name: str) -> Reason | None:
    """Return why a function of SciPy is refused, and what to write instead; None where there is no own reason."""
    module, _, function = name.removeprefix("scipy.").rpartition(".")
    if name.startswith("scipy.") and function in _CALLERS.get(module.partition(".")[0], "").split():
        return Reason(
            "it is Python code of SciPy's, which calls your function",
            f"call it outside of the program, with a program in place of the function: {name}(dcpy.program(f), ...)",
        )
    if name.startswith("scipy.stats."):
        return _STATISTICS
    if not name.startswith("scipy.sparse."):
        return None
    if name.startswith("scipy.sparse.linalg."):
        return _SOLVED if name.rpartition(".")[2] in _DIRECT else _ITERATED
    return _MADE
