"""Stream compaction for devices: blocks scan the flags of a mask, and put what each selects where it goes."""

from __future__ import annotations

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, op
from dcpy.ir.symbolic import Expr, product_of
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.indexing.expand import masks
from dcpy.libraries.indexing.expand.masks import Visit
from dcpy.libraries.indexing.nodes import Compress, MaskedStore, Nonzero
from dcpy.libraries.scan.expand.block_scans import scan_in_blocks
from dcpy.libraries.scan.expand.device import decline_inside_maps
from dcpy.libraries.scan.expand.lines import Lines, Point


@expands(Nonzero, "device", on=("gpu",), fuses=False)
def nonzero(node: Nonzero, f: Fragment) -> None:
    """The positions, each at the number of those before it."""
    decline_inside_maps(f)
    masks.nonzero(scan, node, f)


@expands(Compress, "device", on=("gpu",), fuses=False)
def compress(node: Compress, f: Fragment) -> None:
    """All operands in one scan of the mask."""
    decline_inside_maps(f)
    masks.compress(scan, node, f)


@expands(MaskedStore, "device", on=("gpu",), fuses=False)
def masked_store(node: MaskedStore, f: Fragment) -> None:
    """The selected elements in one scan of the mask."""
    decline_inside_maps(f)
    masks.masked_store(scan, node, f)


def scan(f: Fragment, mask: Operand, visit: Visit) -> None:
    """Call `visit` to write what is done for a selected element: a thread that holds one knows how many are before."""

    def at(k: Expr) -> list[Expr]:
        """Return the index of the k-th element of a mask, in C order."""
        return masks.divided([k], mask.shape)

    def read(f: Fragment, target: Element, point: Point, k: Expr, wcr: str) -> None:
        f.put(target, mask.at(*at(k)), wcr=wcr)

    def write(f: Fragment, point: Point, k: Expr, value: Element) -> None:
        holds, _ = f.branch(op("ne", f.load(mask.at(*at(k))), Const(0, types.int64)))
        with f.inside(holds):
            visit(at(k), f.symbol("n", value) - 1)

    def first(f: Fragment, target: Element, point: Point) -> None:
        f.put(target, 0)

    scan_in_blocks(f, Lines((), product_of(*mask.shape), "add", types.int64, read, write, first))
