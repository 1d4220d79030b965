"""Banded systems of ``scipy.linalg``: ``solve_banded`` and LAPACK's ``gtsv``, by elimination with pivots."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg as la

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(la.solve_banded)
def solve_banded(
    l_and_u: Any, ab: Any, b: Any, overwrite_ab: bool = False, overwrite_b: bool = False, check_finite: bool = True
) -> Any:  # fmt: skip
    """The solution by a matrix of few diagonals."""
    low, high = l_and_u
    bands = np.asarray_chkfinite(ab) if check_finite else np.asarray(ab)
    right = np.asarray_chkfinite(b) if check_finite else np.asarray(b)
    if right.shape[0] != bands.shape[1]:
        raise ValueError("shapes of ab and b are not compatible.")
    if low + high + 1 != bands.shape[0]:
        raise ValueError("invalid values for the number of lower and upper diagonals: l+u+1 does not equal ab.shape[0]")
    dtype = np.result_type(bands, right, np.float32 if bands.dtype.kind in "fc" else np.float64)
    rows = _as_rows(bands, low, high, dtype)
    x = right.astype(dtype)
    for k in range(len(x)):
        _pivot(rows, x, k, low, high)
        _eliminate(rows, x, k, low, high)
    _substitute(rows, x, low, high)
    return x


def _as_rows(bands: Any, low: Any, high: Any, dtype: Any) -> Any:
    """Row i holds the columns from ``i - low`` on, with room for those that swaps bring along."""
    n = bands.shape[1]
    rows = np.zeros((n, 2 * low + high + 1), dtype)
    for i in range(n):
        for j in range(max(0, i - low), min(n, i + high + 1)):
            rows[i, j - i + low] = bands[high + i - j, j]
    return rows


def _pivot(rows: Any, x: Any, k: Any, low: Any, high: Any) -> None:
    """Bring the row with the largest element in column k to its place."""
    n = len(x)
    pivot = k
    for i in range(k + 1, min(n, k + low + 1)):
        if np.abs(rows[i, k - i + low]) > np.abs(rows[pivot, k - pivot + low]):
            pivot = i
    if rows[pivot, k - pivot + low] == 0:
        raise np.linalg.LinAlgError("singular matrix")
    if pivot != k:
        for j in range(k, min(n, k + low + high + 1)):
            kept = rows[k, j - k + low]
            rows[k, j - k + low] = rows[pivot, j - pivot + low]
            rows[pivot, j - pivot + low] = kept
        swapped = x[k].copy()
        x[k] = x[pivot]
        x[pivot] = swapped


def _eliminate(rows: Any, x: Any, k: Any, low: Any, high: Any) -> None:
    """Subtract multiples of row k from those below."""
    n = len(x)
    for i in range(k + 1, min(n, k + low + 1)):
        factor = rows[i, k - i + low] / rows[k, low]
        for j in range(k + 1, min(n, k + low + high + 1)):
            rows[i, j - i + low] -= factor * rows[k, j - k + low]
        x[i] -= factor * x[k]


def _substitute(rows: Any, x: Any, low: Any, high: Any) -> None:
    """Solve from the last row up."""
    n = len(x)
    for step in range(n):
        k = n - 1 - step
        for j in range(k + 1, min(n, k + low + high + 1)):
            x[k] -= rows[k, j - k + low] * x[j]
        x[k] /= rows[k, low]


# -- three diagonals -------------------------------------------------------------------------------------------------


@written_in_python(la.lapack.dgtsv, la.lapack.sgtsv, la.lapack.zgtsv, la.lapack.cgtsv)
def gtsv(
    dl: Any, d: Any, du: Any, b: Any, overwrite_dl: int = 0, overwrite_d: int = 0, overwrite_du: int = 0,
    overwrite_b: int = 0,
) -> Any:  # fmt: skip
    """The factors (second upper diagonal, diagonal, upper diagonal), the solution, and where a pivot is 0."""
    dtype = np.result_type(dl, d, du, b, np.float32 if d.dtype.kind in "fc" else np.float64)
    low, middle, high, x = dl.astype(dtype), d.astype(dtype), du.astype(dtype), b.astype(dtype)
    n = len(middle)
    if len(low) != n - 1 or len(high) != n - 1 or len(x) != n:
        raise ValueError("the diagonals and the right side do not fit together")
    info = 0
    for i in range(n - 1):
        if info == 0:
            if np.abs(middle[i]) >= np.abs(low[i]):
                if middle[i] == 0:
                    info = i + 1
                else:
                    factor = low[i] / middle[i]
                    middle[i + 1] -= factor * high[i]
                    x[i + 1] -= factor * x[i]
                    if i < n - 2:
                        low[i] = 0
            else:
                _swap_and_eliminate(low, middle, high, x, i)
    if info == 0 and n > 0 and middle[n - 1] == 0:
        info = n
    if info == 0:
        _substitute_three(low, middle, high, x)
    return low, middle, high, x, info


def _swap_and_eliminate(low: Any, middle: Any, high: Any, x: Any, i: Any) -> None:
    """Rows i and i + 1 change places; what then stands beside the upper diagonal goes where the lower one was."""
    factor = middle[i] / low[i]
    middle[i] = low[i]
    below = middle[i + 1]
    middle[i + 1] = high[i] - factor * below
    if i < len(middle) - 2:
        low[i] = high[i + 1]
        high[i + 1] = -factor * low[i]
    high[i] = below
    kept = x[i].copy()
    x[i] = x[i + 1]
    x[i + 1] = kept - factor * x[i + 1]


def _substitute_three(low: Any, middle: Any, high: Any, x: Any) -> None:
    n = len(middle)
    for step in range(n):
        i = n - 1 - step
        if i < n - 1:
            x[i] -= high[i] * x[i + 1]
        if i < n - 2:
            x[i] -= low[i] * x[i + 2]
        x[i] /= middle[i]
