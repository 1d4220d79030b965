"""ProductsInLoops: stacks of products of matrices go one by one through a systolic array."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.nodes import LibraryNode, Map, Node
from dcpy.ir.region import State
from dcpy.ir.tree import owners_around
from dcpy.transforms.maps.map_to_for_loop import as_loops
from dcpy.transforms.passes import GraphPass

PRODUCTS = ("blas.matmul", "blas.gemm")  #: what may be a systolic array


@dataclass(frozen=True)
class ProductsInLoops(GraphPass):
    """Makes loops of maps whose iterations are products of matrices, so that each product may be a network.

    before   map l = 0:L { matmul (A[l, 0:N, 0:K], B[l, 0:K, 0:M]) -> C[l, 0:N, 0:M] }
    after    loop l = 0:L { matmul (A[l, 0:N, 0:K], B[l, 0:K, 0:M]) -> C[l, 0:N, 0:M] }

    One array of processing elements has all the board is asked for; so nothing is lost by an order. Applies to maps of
    the host with nothing but such products inside, the terms of whose sums are a number.
    """

    name: ClassVar[str] = "products-in-loops"

    def decide(self, rw: Rewriter) -> None:
        """Map by map."""
        for node in [node for node in rw.sdfg.body.walk_nodes() if isinstance(node, Map)]:
            if _holds_products_alone(node) and not any(isinstance(owner, Map) for owner in owners_around(node)):
                rw.remark(node, True, "a systolic array computes its products one after the other")
                as_loops(node, rw)


def _holds_products_alone(node: Map) -> bool:
    blocks = node.body.blocks
    inside = [inner for block in blocks if isinstance(block, State) for inner in block.nodes]
    return bool(inside) and all(isinstance(block, State) for block in blocks) and all(map(_is_product, inside))


def _is_product(node: Node) -> bool:
    if not isinstance(node, LibraryNode) or node.kind not in PRODUCTS:
        return False
    a, b = node.inputs["a"].subset.shape, node.inputs["b"].subset.shape
    terms = a[0 if getattr(node, "trans_a", False) else -1]
    return len(a) == len(b) == 2 and terms.constant is not None
