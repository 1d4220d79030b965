"""Stream compaction for any target: a prefix sum of the mask, then a map over it that knows where each element goes."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, cast, op
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, Expr
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.indexing.expand import masks
from dcpy.libraries.indexing.expand.masks import Visit
from dcpy.libraries.indexing.nodes import Compress, MaskedStore, Nonzero


@expands(Nonzero, "maps", fuses=False)
def nonzero(node: Nonzero, f: Fragment) -> None:
    """The positions, each at the number of those before it."""
    masks.nonzero(scan, node, f)


@expands(Compress, "maps", fuses=False)
def compress(node: Compress, f: Fragment) -> None:
    """All operands after one scan of the mask."""
    masks.compress(scan, node, f)


@expands(MaskedStore, "maps", fuses=False)
def masked_store(node: MaskedStore, f: Fragment) -> None:
    """The selected elements after one scan of the mask."""
    masks.masked_store(scan, node, f)


def scan(f: Fragment, mask: Operand, visit: Visit) -> None:
    """Call `visit` to write what is done for a selected element, in any order."""
    before = numbers(f, mask)
    with f.maps([Range(ZERO, size) for size in mask.shape]) as at:
        holds, _ = f.branch(op("ne", f.load(mask.at(*at)), Const(0, types.int64)))
        with f.inside(holds):
            visit(list(at), f.symbol("k", before.at(*at)))


def numbers(f: Fragment, mask: Operand) -> Operand:
    """The number of elements of a mask that hold before each one, in C order: an exclusive prefix sum."""
    before, count = f.array("before", types.int64, mask.shape), f.scalar("count", types.int64)
    f.put(count.at(), 0)
    with ExitStack() as loops:
        at: Sequence[Expr] = [loops.enter_context(f.loop(Range(ZERO, size), "i")) for size in mask.shape]
        f.put(before.at(*at), count.at())
        f.compute(count.at(), lambda a, b: op("add", a, cast(b, types.int64)), count.at(), mask.at(*at))
    return before
