"""Products as maps without schedules: what any target can fuse with its neighbours, and then schedule."""

from __future__ import annotations

from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.blas.expand import product_contractions
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv, Ger
from dcpy.libraries.contraction.maps import contract


@expands(Gemm, "maps")
def gemm(node: Gemm, f: Fragment) -> None:
    """A map over the elements of the result around one over the products of each."""
    contract(f, product_contractions.gemm(node, f, f.output("c")))


@expands(Gemv, "maps")
def gemv(node: Gemv, f: Fragment) -> None:
    """A map over the rows around one over the products of each."""
    contract(f, product_contractions.gemv(node, f, f.output("y")))


@expands(Dot, "maps")
def dot(node: Dot, f: Fragment) -> None:
    """A map over the products, which one scalar takes up."""
    contract(f, product_contractions.dot(node, f, f.output("result")))


@expands(Ger, "maps")
def ger(node: Ger, f: Fragment) -> None:
    """A map over the elements of the result."""
    contract(f, product_contractions.ger(node, f, f.output("a")))
