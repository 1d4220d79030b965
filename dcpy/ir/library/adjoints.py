"""Derivative rules of library nodes, by kind: libraries declare them, `dcpy.autodiff` applies them.

A node that is linear in some of its inputs, with all others fixed, needs no more than their names: its tangent is the
sum of such nodes, each with one of these inputs replaced by its tangent (the product rule).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dcpy.base.registry import Registry


@dataclass(frozen=True, slots=True)
class DerivativeRule:
    """The derivatives of a kind of library node.

    `factors` gives the inputs in each of which a node is linear; () where this node is not known to be. All other
    inputs are then without derivative: index arrays, masks.
    """

    factors: Callable[[Any], tuple[str, ...]]


#: kind of a library node -> `DerivativeRule`
DERIVATIVES: Registry[DerivativeRule] = Registry("derivative rule")
