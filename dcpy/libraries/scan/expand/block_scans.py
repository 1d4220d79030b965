"""Block scans: the threads of a block scan lines together, a tile after the other.

Of a tile each thread combines some neighbours, then some threads each combine the results of a group of threads, and
one thread those of the groups; what stands in front of each thread's elements is then combined with them. A few long
lines are cut into pieces, for as many blocks: reduce each piece, scan what came out, scan each piece behind that
(reduce, then scan). Each element is read twice then, and written once. The order of combination depends on sizes only.
(Sengupta et al., Scan primitives for GPU computing, 2007; Merrill and Grimshaw, Parallel scan for stream architectures,
2009.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.schedules import BLOCK, GRID, SEQUENTIAL
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, max_of, min_of, product_of
from dcpy.libraries.api import Element, Fragment, Operand
from dcpy.libraries.scan.expand.lines import Lines, Point

EACH = 8  #: neighbours that a thread combines
ROW = 16  #: elements of a tile between gaps, which let threads that are EACH apart meet different banks
SHORT = 1024  #: elements of a line that is the work of a warp
PIECE = 8192  #: elements of a piece of a line
MANY = 256  #: lines that keep a device busy without being cut


@dataclass(frozen=True, slots=True)
class ScanBlock:
    """So many threads for a line, and so many lines for a block."""

    threads: int
    lines: int = 1

    @property
    def tile(self) -> int:
        """Elements of a line that are looked at together."""
        return self.threads * EACH

    @property
    def group(self) -> int:
        """Threads whose results one thread combines."""
        return 1 << (self.threads.bit_length() // 2)


BLOCKS, WARPS = ScanBlock(256), ScanBlock(32, 8)


def scan_in_blocks(f: Fragment, lines: Lines) -> None:
    """Scan in a form that fits the sizes; where these are not known, the host chooses."""
    is_piece, is_short = PIECE - lines.length, SHORT - lines.length
    if not lines.sizes:
        choose(f, [is_piece], lambda: _kernel(f, lines, BLOCKS), lambda: _in_pieces(f, lines))
        return
    are_many = product_of(*lines.sizes) - MANY

    def longer() -> None:
        choose(f, [is_piece, are_many], lambda: _kernel(f, lines, BLOCKS), lambda: _in_pieces(f, lines))

    choose(f, [is_short], lambda: _kernel(f, lines, WARPS), longer)


def choose(f: Fragment, rooms: Sequence[Expr], yes: Callable[[], None], no: Callable[[], None]) -> None:
    """Write `yes` for where one of some numbers is not negative, and `no` for where all are."""
    if any(f.ranges.proves_nonneg(room) for room in rooms):
        yes()
        return
    open_ = [room for room in rooms if not f.ranges.proves_nonneg(-room - 1)]
    if not open_:
        no()
        return
    tests: list[ScalarExpr] = [op("ge", Index(room), Const(0, types.int64)) for room in open_]
    holds, fails = f.branch(reduce(lambda one, other: op("or", one, other), tests))
    with f.inside(holds):
        yes()
    with f.inside(fails):
        no()


def _in_pieces(f: Fragment, lines: Lines) -> None:
    """Three kernels: the first two find what stands in front of each piece."""
    _kernel(f, lines, BLOCKS, in_front_of_pieces(f, lines, PIECE))


def in_front_of_pieces(f: Fragment, lines: Lines, size: int) -> Operand:
    """Return the combined values at the end of each piece of each line."""
    starts = Range(ZERO, lines.length, as_expr(size))
    sums = f.array("sums", lines.dtype, (*lines.sizes, starts.size))
    with f.maps([*(Range(ZERO, size) for size in lines.sizes), starts], param="piece") as (*point, start):
        own = f.scalar("own", lines.dtype)
        lines.put_neutral(f, own.at())
        with f.map(piece_at(lines, start, size), param="k") as k:
            lines.read(f, own.at(), point, k, lines.op)
        f.put(sums.at(*point, start // size), own.at())
    _kernel(f, _along(sums, lines), BLOCKS)
    return sums


def piece_at(lines: Lines, start: Expr, size: int) -> Range:
    """A piece of a line."""
    return Range(start, min_of(start + size, lines.length))


def _along(sums: Operand, lines: Lines) -> Lines:
    """The scan of what was combined of each piece, in place."""

    def read(f: Fragment, target: Element, point: Point, k: Expr, wcr: str) -> None:
        f.put(target, sums.at(*point, k), wcr=wcr)

    def write(f: Fragment, point: Point, k: Expr, value: Element) -> None:
        f.put(sums.at(*point, k), value)

    return replace(lines, length=sums.shape[-1], read=read, write=write)


def _kernel(f: Fragment, lines: Lines, team: ScanBlock, sums: Operand | None = None) -> None:
    """Whole lines, or pieces of them, where it is known what stands in front of each."""
    domain = [Range(ZERO, size) for size in lines.sizes]
    if team.lines > 1:
        domain[-1] = Range(ZERO, lines.sizes[-1], as_expr(team.lines))
    if sums is not None:
        domain.append(Range(ZERO, lines.length, as_expr(PIECE)))
    with f.maps(domain or [Range(ZERO, ONE)], GRID, "line") as found:
        at = list(found[: len(lines.sizes)])
        part = Range(ZERO, lines.length) if sums is None else piece_at(lines, found[-1], PIECE)
        block = _BlockScan(f, lines, team, at)
        with block.threads(1) as (point, own, _):
            _first(f, lines, point, block.carry(own), part.start, sums)
        with f.loop(replace(part, step=as_expr(team.tile)), "tile") as start:
            block.scan(start, part.stop)


def _first(f: Fragment, lines: Lines, point: Point, target: Element, start: Expr, sums: Operand | None) -> None:
    """Initialize a line, or a piece of it, with what stands in front of it."""
    lines.first(f, target, point)
    if sums is not None:
        behind_others(f, target, sums, point, start // PIECE)


def behind_others(f: Fragment, target: Element, sums: Operand, point: Point, number: Expr) -> None:
    """Leave in front of the first piece what stands there, and in front of others what has been combined so far."""
    before = sums.at(*point, max_of(number - 1, 0))
    is_first = op("eq", Index(number), Const(0, types.int64))
    f.compute(target, lambda one, other: op("select", is_first, one, other), target, before)


class _BlockScan:
    """The threads of a block, and what they share of each of its lines."""

    def __init__(self, f: Fragment, lines: Lines, team: ScanBlock, at: Sequence[Expr]) -> None:
        self.f, self.lines, self.team, self.at = f, lines, team, at
        self._tile = self._shared("tile", team.tile // ROW, ROW + 1)
        self._totals = self._shared("totals", team.threads // team.group, team.group + 1)
        self._groups = self._shared("groups", team.threads // team.group)
        self._carry = self._shared("carry", 1)

    def _shared(self, stem: str, *shape: int) -> Operand:
        several = (self.team.lines,) if self.team.lines > 1 else ()
        return self.f.shared(stem, self.lines.dtype, (*several, *shape))

    def carry(self, own: Point) -> Element:
        """Return the combination of all tiles before the next one of a line."""
        return self._carry.at(*own, ZERO)

    def total(self, own: Point, thread: Expr) -> Element:
        """Return a thread's combination, and later that of the threads before it in its group."""
        size = self.team.group
        return self._totals.at(*own, thread // size, thread % size)

    @contextmanager
    def threads(self, count: int) -> Iterator[tuple[Point, Point, Expr]]:
        """So many threads for each line: the line, where it has its part of what is shared, and a thread's number."""
        f, numbers = self.f, Range(ZERO, as_expr(count))
        if self.team.lines == 1:
            with f.maps([numbers], BLOCK, "t") as (t,):
                yield self.at, (), t
            return
        *others, first = self.at
        own = Range(first, min_of(first + self.team.lines, self.lines.sizes[-1]))
        with f.maps([own, numbers], BLOCK, "t") as (line, t):
            yield (*others, line), (line - first,), t

    def scan(self, start: Expr, stop: Expr) -> None:
        """One tile: it begins at `start`, and ends where the line does, or its part."""
        self._load(start, stop)
        self._by_each(start, stop)
        self._by_groups()
        self._by_one()
        self._store(start, stop)

    def _load(self, start: Expr, stop: Expr) -> None:
        """Neighbours read neighbours."""
        with self.threads(self.team.threads) as (point, own, t), self._turns(start, stop, t) as k:
            self.lines.read(self.f, self._place(own, k - start), point, k, "")

    def _by_each(self, start: Expr, stop: Expr) -> None:
        """Each thread combines its own elements."""
        f, lines = self.f, self.lines
        with self.threads(self.team.threads) as (_, own, t):
            total = self._neutral()
            mine = start + EACH * t
            with f.loop(Range(mine, min_of(mine + EACH, stop))) as k:
                place = self._place(own, k - start)
                lines.combine(f, total, total, place)
                f.put(place, total)
            f.put(self.total(own, t), total)

    def _by_groups(self) -> None:
        """Combine the threads before each one, within its group."""
        size = self.team.group
        with self.threads(self.team.threads // size) as (_, own, u):
            total = self._neutral()
            self._shift(total, size, lambda v: self._totals.at(*own, u, v))
            self.f.put(self._groups.at(*own, u), total)

    def _by_one(self) -> None:
        """Combine the groups before each one, and all for the next tile."""
        f = self.f
        with self.threads(1) as (_, own, _t):
            total = f.scalar("own", self.lines.dtype).at()
            f.put(total, self.carry(own))
            self._shift(total, self.team.threads // self.team.group, lambda v: self._groups.at(*own, v))
            f.put(self.carry(own), total)

    def _shift(self, total: Element, count: int, place: Callable[[Expr], Element]) -> None:
        """Leave in each of some places what stands in front of it."""
        f = self.f
        with f.loop(Range(ZERO, as_expr(count)), "v") as v:
            mine = f.scalar("mine", self.lines.dtype).at()
            f.put(mine, place(v))
            f.put(place(v), total)
            self.lines.combine(f, total, total, mine)

    def _store(self, start: Expr, stop: Expr) -> None:
        """Neighbours write neighbours."""
        f, lines = self.f, self.lines
        with self.threads(self.team.threads) as (point, own, t), self._turns(start, stop, t) as k:
            thread = (k - start) // EACH
            value = f.scalar("value", lines.dtype).at()
            lines.combine(f, value, self._groups.at(*own, thread // self.team.group), self.total(own, thread))
            lines.combine(f, value, value, self._place(own, k - start))
            lines.write(f, point, k, value)

    @contextmanager
    def _turns(self, start: Expr, stop: Expr, t: Expr) -> Iterator[Expr]:
        """Every so-manieth element of a tile is a thread's."""
        tile = Range(start + t, min_of(start + self.team.tile, stop), as_expr(self.team.threads))
        with self.f.map(tile, SEQUENTIAL, "k") as k:
            yield k

    def _place(self, own: Point, position: Expr) -> Element:
        return self._tile.at(*own, position // ROW, position % ROW)

    def _neutral(self) -> Element:
        total = self.f.scalar("own", self.lines.dtype).at()
        self.lines.put_neutral(self.f, total)
        return total
