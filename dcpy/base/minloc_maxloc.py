"""MINLOC and MAXLOC: the extremum of the ranks' values, and its location (MPI 4.1, section 6.9.4)."""

from __future__ import annotations

from typing import Any

import numpy as np

LOCATIONS = {"minloc": np.less, "maxloc": np.greater}


def located(name: str, first: np.ndarray[Any, Any], second: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Pairs (value, index) with the extrema of two arrays (..., 2) of them; of equal values, the lower index."""
    wins = LOCATIONS[name](first[..., 0], second[..., 0])
    wins |= (first[..., 0] == second[..., 0]) & (first[..., 1] <= second[..., 1])
    return np.where(wins[..., np.newaxis], first, second)
