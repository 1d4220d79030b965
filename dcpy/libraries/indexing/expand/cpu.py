"""Stream compaction: what is done for each element that a mask selects, with its number among these.

Blocks of flags are counted first, which is a vector instruction or two. An empty block is skipped; of a full one all
elements are taken as they lie; the flags of any other become the bits of a word, and each step goes to the next bit.
Where few flags of a group of blocks hold, the positions of all of them are found first, and then the elements are
visited: these lie far from each other, and a loop without branches waits for many of them at once. Chunks of many
groups run in parallel: how many elements stand before each is counted beforehand. Sizes are those of CPUs: a block is a
word of flags, a group what the first cache holds with its positions, a chunk what pays for a thread.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from dcpy.ir import types
from dcpy.ir.data import View
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, cast, op
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, ceil_div, min_of
from dcpy.libraries.api import Element, Fragment, Operand, expands
from dcpy.libraries.indexing.expand import masks
from dcpy.libraries.indexing.expand.masks import Visit
from dcpy.libraries.indexing.nodes import Compress, MaskedStore, Nonzero

BLOCK = 64  #: flags that are looked at together; they are counted in 8 bits
GROUP = 4096  #: flags whose positions may be found before their elements are visited; a multiple of `BLOCK`
FEW = GROUP // 8  #: of a group: with more of them, elements lie so close that caches bring them ahead
TOGETHER = 4  #: positions of a block that are found without asking whether so many flags hold
CHUNK = 1 << 20  #: flags of a piece that one thread looks at; a multiple of `GROUP`


@expands(Nonzero, "cpu", on=("cpu",))
def nonzero(node: Nonzero, f: Fragment) -> None:
    """The positions; of a mask that lies in one piece they are found as one, and divided."""
    masks.nonzero(scan, node, f)


@expands(Compress, "cpu", on=("cpu",))
def compress(node: Compress, f: Fragment) -> None:
    """All operands in one scan."""
    masks.compress(scan, node, f)


@expands(MaskedStore, "cpu", on=("cpu",))
def masked_store(node: MaskedStore, f: Fragment) -> None:
    """The selected elements in one scan."""
    masks.masked_store(scan, node, f)


def scan(f: Fragment, mask: Operand, visit: Visit) -> None:
    """Call `visit` to write what is done for a selected element, in C order."""
    *outer, size = mask.shape
    if not outer and not (size.constant is not None and size.constant <= CHUNK):
        _chunks(f, mask, visit)
        return
    number = f.let("k", Const(0, types.int64))
    rows: list[Expr] = []
    _rows(f, mask, outer, rows, number, visit)


def _rows(f: Fragment, mask: Operand, outer: Sequence[Expr], row: list[Expr], number: Expr, visit: Visit) -> None:
    """A loop for each dimension but the last one."""
    if outer:
        with f.loop(Range(ZERO, outer[0]), "r") as index:
            _rows(f, mask, outer[1:], [*row, index], number, visit)
        return
    _row(f, mask, row, Range(ZERO, mask.shape[-1]), number, visit)


def _chunks(f: Fragment, mask: Operand, visit: Visit) -> None:
    """A dimension in pieces, in parallel."""
    size = Range(ZERO, mask.shape[0]).size_within(f.ranges)
    pieces = ceil_div(size, CHUNK)
    before = f.array("before", types.int64, (pieces + 1,))
    f.put(before.at(ZERO), 0)
    with f.map(Range(ZERO, pieces - 1), param="piece") as piece:
        held = f.scalar("held", types.int64)
        f.put(held.at(), 0)
        with f.map(Range(ZERO, as_expr(CHUNK // BLOCK)), param="block") as block:
            count = _count(f, mask, [], piece * CHUNK + block * BLOCK)
            f.put(held.at(), count.at(), wcr="add")
        f.put(before.at(piece + 1), held.at())
    with f.loop(Range(ZERO, pieces - 1), "piece") as piece:
        f.compute(before.at(piece + 1), lambda a, b: op("add", a, b), before.at(piece), before.at(piece + 1))
    with f.map(Range(ZERO, pieces), param="piece") as piece:
        number = f.symbol("k", before.at(piece))
        part = Range(piece * CHUNK, min_of(piece * CHUNK + CHUNK, size))
        _row(f, mask, [], part, number, visit)


def _row(f: Fragment, mask: Operand, row: list[Expr], part: Range, number: Expr, visit: Visit) -> None:
    """A part of one row: whole blocks, then what is left."""
    length = min_of(CHUNK, mask.shape[-1] - part.start) if part.start is not ZERO else mask.shape[-1]
    known = length.constant
    whole = Range(ZERO, length).size_within(f.ranges) // BLOCK  # a window that is inside out has a negative length
    if known is None or known >= GROUP:
        groups = ceil_div(whole, GROUP // BLOCK)
        with f.loop(Range(ZERO, groups), "group") as group:
            first = group * (GROUP // BLOCK)
            _group(f, mask, row, part.start, Range(first, min_of(first + GROUP // BLOCK, whole)), number, visit)
    elif known >= BLOCK:
        with f.loop(Range(ZERO, whole), "block") as block:
            start = part.start + block * BLOCK
            _block(f, mask, row, start, _count(f, mask, row, start).at(), number, visit)
    if known is None or known % BLOCK:
        with f.loop(Range(part.start + whole * BLOCK, part.stop), "i") as index:
            holds, _ = f.branch(op("ne", f.load(mask.at(*row, index)), Const(0, types.int64)))
            with f.inside(holds):
                visit([*row, index], number)
                _advance(f, number, ONE)


def _group(f: Fragment, mask: Operand, row: list[Expr], start: Expr, blocks: Range, number: Expr, visit: Visit) -> None:
    """Blocks whose flags are counted together: few of them hold, or the elements are taken block by block."""
    counts = f.array("counts", types.uint8, (as_expr(GROUP // BLOCK),))
    held = f.let("held", Const(0, types.int64))
    with f.loop(blocks, "block") as block:
        count = _count(f, mask, row, start + block * BLOCK)
        f.put(counts.at(block - blocks.start), count.at())
        f.assign(held, op("add", Index(held), f.load(count.at())))
    few, many = f.branch(op("le", Index(held), Const(FEW, types.int64)))
    with f.inside(few):
        found = f.array("found", types.int64, (as_expr(FEW + TOGETHER),))
        places, listed = _not_empty(f, counts, Range(ZERO, blocks.stop - blocks.start))
        last = f.let("n", Const(0, types.int64))
        with f.loop(Range(ZERO, listed), "b") as k:
            place = f.symbol("first", places.at(k))
            some = f.let("c", f.load(counts.at(place)))
            _find(f, mask, row, start + (blocks.start + place) * BLOCK, some, found, last)
            _advance(f, last, some)
        with f.map(Range(ZERO, held), param="j") as j:
            visit([*row, f.symbol("p", found.at(j))], number + j)
        _advance(f, number, held)
    with f.inside(many), f.loop(blocks, "block") as block:
        _block(f, mask, row, start + block * BLOCK, counts.at(block - blocks.start), number, visit)


def _not_empty(f: Fragment, counts: Operand, blocks: Range) -> tuple[Operand, Expr]:
    """The blocks that have flags, and how many. One without leaves its place to the next one: there is no branch."""
    places = f.array("blocks", types.int64, counts.shape)
    listed = f.let("listed", Const(0, types.int64))
    with f.loop(blocks, "k") as k:
        f.compute(places.at(listed), lambda: Index(k, types.int64))
        some = op("ne", f.load(counts.at(k)), Const(0, types.int64))
        f.assign(listed, op("add", Index(listed), cast(some, types.int64)))
    return places, listed


def _find(f: Fragment, mask: Operand, row: list[Expr], first: Expr, count: Expr, found: Operand, last: Expr) -> None:
    """The positions of a block's flags that hold, from `last` on; and some more: their number is seldom asked."""
    bits = f.let("bits", f.load(_bits(f, mask, row, first)))
    with f.loop(Range(ZERO, ceil_div(count, TOGETHER)), "j") as j:
        for k in range(TOGETHER):
            place = f.let("p", op("ctz", op("bitor", Index(bits), Const(-1 << 63, types.int64))))
            f.compute(found.at(last + j * TOGETHER + k), lambda place=place: Index(first + place, types.int64))
            f.assign(bits, op("bitand", Index(bits), Index(bits - 1)))


def _block(f: Fragment, mask: Operand, row: list[Expr], start: Expr, held: Element, number: Expr, visit: Visit) -> None:
    count = f.load(held)
    full, other = f.branch(op("eq", count, Const(BLOCK, types.int64)))
    with f.inside(full):
        with f.map(Range(ZERO, as_expr(BLOCK)), param="j") as j:
            visit([*row, start + j], number + j)
        _advance(f, number, as_expr(BLOCK))
    with f.inside(other):
        some, _ = f.branch(op("ne", count, Const(0, types.int64)))
        with f.inside(some):
            bits = f.let("bits", f.load(_bits(f, mask, row, start)))
            with f.loop(Range(ZERO, f.let("c", count)), "j"):
                place = f.let("p", op("ctz", Index(bits)))
                visit([*row, start + place], number)
                _advance(f, number, ONE)
                f.assign(bits, op("bitand", Index(bits), Index(bits - 1)))


def _count(f: Fragment, mask: Operand, row: list[Expr], start: Expr) -> Operand:
    """Return the number of flags of a block that hold."""
    count = f.scalar("count", types.uint8)
    f.put(count.at(), 0)
    with f.map(Range(ZERO, as_expr(BLOCK)), param="j") as j:
        f.put(count.at(), mask.at(*row, start + j), wcr="add")
    return count


def _bits(f: Fragment, mask: Operand, row: list[Expr], start: Expr) -> Element:
    """The flags of a block as the bits of one word: eight bytes, of 0 or 1 each, times `PACK` are eight bits on top."""
    flags = f.array("flags", types.bool_, (as_expr(BLOCK),))
    with f.map(Range(ZERO, as_expr(BLOCK)), param="j") as j:
        f.put(flags.at(j), mask.at(*row, start + j))
    words = f.viewed("words", View(flags.memlet.container, types.uint64, (as_expr(8),), (ONE,)), outermost=False)
    bits = f.scalar("bits", types.uint64).at()
    f.compute(bits, _packed, *(words.at(k) for k in range(8)))
    return bits


def _packed(*words: ScalarExpr) -> ScalarExpr:
    pack, top = Const(0x0102040810204080, types.uint64), Const(56, types.uint64)
    parts = (op("rshift", op("mul", word, pack), top) for word in words)
    moved = (op("lshift", part, Const(8 * k, types.uint64)) for k, part in enumerate(parts))
    return reduce(lambda one, other: op("bitor", one, other), moved)


def _advance(f: Fragment, number: Expr, by: Expr) -> None:
    f.assign(number, Index(number + by))
