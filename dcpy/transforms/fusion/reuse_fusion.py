"""ReuseFusion: loop fusion of maps that read the same rows, so that these come from memory once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array, View
from dcpy.ir.nodes import Map
from dcpy.ir.region import Loop, Region
from dcpy.ir.tree import subtree
from dcpy.transforms.api import Legal, Match, Refusal, Rewriter, Transformation, capture, siblings
from dcpy.transforms.fusion.horizontal_fusion import HorizontalFusion


@dataclass(frozen=True)
class ReuseFusion(Transformation[Legal]):
    """Loop fusion for reuse of operands: two maps over the same rows, of which the second finds them in the cache.

    before   map i = 0:N { high[i] = max of A[i, :] }
             map i = 0:N { low[i] = min of A[i, :] }
    after    map i = 0:N { high[i] = max of A[i, :]; low[i] = min of A[i, :] }

    Applies to HorizontalFusion's maps if both read rows of one array, or elements of them such as `A[i, 0]`, and one
    has a loop inside. That loop stays as it is, with its vectors, so nothing is lost where the array is in a cache
    anyway. Two maps without loops inside are vectors themselves, and stay.
    (Kennedy and McKinley, Maximizing Loop Parallelism and Improving Data Locality via Loop Fusion and Distribution,
    1993.)
    """

    name: ClassVar[str] = "reuse-fusion"
    optional: ClassVar[bool] = True
    first = capture(Map)
    second = capture(Map)
    pattern = siblings(first, second)

    def plan(self, m: Match) -> Legal | Refusal:
        """The plan of HorizontalFusion. Refuses maps that share no rows."""
        first, second = m[self.first], m[self.second]
        if not (_has_loop(first.body) or _has_loop(second.body)):
            return Refusal("neither of them has a loop inside")
        shared = set(_rows_of(first, m.uses)) & set(_rows_of(second, m.uses))
        if not shared:
            return Refusal("they read no rows in common")
        return HorizontalFusion().plan(Match(m.sdfg, m.uses, {"first": first, "second": second}))

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Map:
        """Return the fused map, which is the first one."""
        first, second = m[self.first], m[self.second]
        return HorizontalFusion().apply(Match(m.sdfg, m.uses, {"first": first, "second": second}), plan, rw)


def _has_loop(body: Region) -> bool:
    return any(isinstance(element, Map | Loop) for element in subtree(body))


def _rows_of(node: Map, uses: Uses) -> Iterator[str]:
    """The arrays of which each point reads a row of its own, or an element of one."""
    params, depth = set(node.params), len(node.params)
    for memlet in (memlet for part in node.body.walk_nodes() for memlet in part.reads()):
        if not isinstance(uses.desc(memlet.container), Array | View) or uses.is_private(memlet.container):
            continue
        outer = memlet.subset.dims[:depth]
        if len(memlet.subset.dims) > depth and params.intersection(name for dim in outer for name in dim.symbols):
            yield uses.root(memlet.container)
