"""Derivative rules of library nodes, by kind: libraries declare them, `dcpy.autodiff` applies them.

A node that is linear in some of its inputs, with all others fixed, needs no more than their names for its tangent: the
sum of such nodes, each with one of these inputs replaced by its tangent (the product rule). Its adjoint is written by
the library.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from dcpy.base.registry import Registry
from dcpy.ir.data import Data
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node


@dataclass(frozen=True)
class AdjointSite:
    """Operands of a library node that is reversed, by connector.

    `bars` are the adjoints of active inputs, to be added to, or for those in `fresh` to be assigned; `values` those
    inputs that some adjoint needs; `seeds` the adjoints of outputs.
    """

    bars: Mapping[str, Memlet]
    values: Mapping[str, Memlet]
    seeds: Mapping[str, Memlet]
    fresh: frozenset[str]
    fresh_name: Callable[[str], str]
    desc_of: Callable[[str], Data]

    def summand(self, name: str, connector: str) -> dict[str, Memlet]:
        """The adjoint of an input as a summand, by the connector of that; none where it is assigned."""
        return {} if name in self.fresh else {connector: self.bars[name]}


@dataclass(frozen=True, slots=True)
class DerivativeRule:
    """The derivatives of a kind of library node.

    `factors` gives the inputs in each of which a node is linear; () where this node is not known to be. All other
    inputs are then without derivative: index arrays, masks. `adjoint` yields the nodes that add to the adjoints of
    inputs; it needs of each input the values of the other factors.
    """

    factors: Callable[[Any], tuple[str, ...]]
    adjoint: Callable[[Any, AdjointSite], Iterator[Node]] | None = None


#: kind of a library node -> `DerivativeRule`
DERIVATIVES: Registry[DerivativeRule] = Registry("derivative rule")
