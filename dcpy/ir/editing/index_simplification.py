"""Simplification of indices by what is known of the variables in them, once a size has a value or another name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, Ranges
from dcpy.ir.tree import Element, subtree


def simplify_indices(elements: Iterable[Element], rw: Rewriter) -> None:
    """``a[i]`` for ``a[min(i, n - 1)]`` in a map of n iterations."""
    for node in dict.fromkeys(part for element in elements for part in subtree(element) if isinstance(part, Node)):
        ranges = rw.uses.ranges_at(node)
        if any(_simplified(memlet, ranges) is not memlet for memlet in (*node.reads(), *node.writes())):
            rw.replace_memlets(node, lambda memlet, known=ranges: _simplified(memlet, known))  # type: ignore[misc]


def _simplified(memlet: Memlet, ranges: Ranges) -> Memlet:
    dims = tuple(ranges.simplify(dim) if isinstance(dim, Expr) else dim for dim in memlet.subset.dims)
    return memlet if dims == memlet.subset.dims else replace(memlet, subset=Subset(dims))
