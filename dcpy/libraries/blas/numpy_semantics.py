"""Semantics of scaled products in NumPy: factors and summands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

import numpy as np

Arrays = Mapping[str, np.ndarray[Any, Any]]


class Scaled(Protocol):
    """A product with a factor."""

    alpha: complex


def updated(
    node: Scaled, product: np.ndarray[Any, Any], inputs: Arrays, out: np.ndarray[Any, Any], summand: str
) -> None:
    """``out = alpha * product + beta * summand`` in the output's dtype; factors that are 1 do nothing."""
    total = np.asarray(product).astype(out.dtype)
    for factor in (node.alpha, inputs.get("alpha", 1)):
        total = total if np.all(factor == 1) else (np.asarray(factor).astype(out.dtype) * total)
    if summand in inputs:
        added = inputs[summand].astype(out.dtype)
        for factor in (getattr(node, "beta", 1), inputs.get("beta", 1)):
            added = added if np.all(factor == 1) else (np.asarray(factor).astype(out.dtype) * added)
        total = total + added
    out[...] = total
