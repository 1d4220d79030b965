"""Systolic arrays: products of matrices by processing elements (PEs) in a chain, each with a row of results.

    read A ─▷ rows 0 ─▷ rows 1 ─▷ ...          what is not a PE's row goes on to the next one
                 ▽         ▽
    read B ─▷  pe 0  ─▷  pe 1  ─▷ ...          each element of B meets one of A in each PE, and goes on
                 ▽         ▽
    write C ◁─ drain 0 ◁─ drain 1 ◁─ ...       finished rows leave while the PEs have begun with the next ones

In tiles of P rows and T columns: PE p computes ``c[t] += A[i + p, k] * B[k, j + t]`` for all k and, innermost, all t.
A sum comes again after T terms, and T is no less than an addition takes, so a term starts in every cycle. A row of A
waits in a queue in front of its PE while the one before is still in use: so it has to fit there. Cycles are
``N * M * K / P``, and P * K to fill the chain. Rows and columns beyond the end are not stored: rows are zeros where
sizes are numbers, and the last one again elsewhere, as columns are.

(Kung and Leiserson, Systolic arrays for VLSI, 1978; de Fine Licht et al., Flexible communication avoiding matrix
multiplication on FPGA, FPGA 2020: one chain, and each PE with its results.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from dcpy.base.errors import CodegenError
from dcpy.ir import types
from dcpy.ir.expressions.scalar import Const, Index, ScalarExpr, op
from dcpy.ir.fpga.boards import board, dsps_of, latency
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, Expr, const, min_of
from dcpy.ir.tree import owners_around
from dcpy.ir.types import DType
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand.product_contractions import ContractionOperand, updating
from dcpy.libraries.blas.nodes import Gemm
from dcpy.libraries.process_networks import NetworkQueues, copies, module_stem, network, process, queues

DTYPES = (types.float32, types.float64, types.int32, types.int64)
EXTRA = 2  #: cycles that reading a sum and writing it take beside the addition
MOST_PES = 64  #: where no number is given
MOST_COLUMNS = 4096  #: results that a PE keeps: 16 KB of f32
COLUMNS = 64  #: of a tile, where the number of columns is a symbol
LONGEST_ROW = 1 << 14  #: elements of A that wait in front of a PE


Hop = Callable[
    [Expr], tuple[NetworkQueues, Expr, NetworkQueues, Expr]
]  #: of a PE: the queue from which a token goes, and where to


@dataclass(frozen=True, slots=True)
class Tiling:
    """P rows and T columns of results at a time, of N x M with sums of K terms."""

    rows: Expr
    terms: int
    columns: Expr
    pes: int
    width: int
    masked: bool  #: whether some tile goes beyond the end

    @property
    def row_tiles(self) -> Expr:
        """Number of tiles, one below the other."""
        return (self.rows + const(self.pes - 1)) // const(self.pes)

    @property
    def padded_rows(self) -> int | None:
        """Rows of all tiles, where some of them are beyond the end and tokens of these differ from others.

        That takes a number of rows and columns, and tiles that lie below each other: then rows come one by one.
        """
        rows, columns = self.rows.constant, self.columns.constant
        if not self.masked or rows is None or columns is None or self.column_tiles is not ONE:
            return None
        return -(-rows // self.pes) * self.pes

    @property
    def column_tiles(self) -> Expr:
        """Number of tiles, side by side."""
        return (self.columns + const(self.width - 1)) // const(self.width)


@expands(Gemm, "systolic", dtypes=DTYPES, on=("fpga",), fuses=False)
def gemm(node: Gemm, f: Fragment) -> None:
    """A network of processes: readers, a chain of PEs, and a writer. The number of terms has to be a number."""
    if any(isinstance(owner, Map) for owner in owners_around(node)):
        f.decline("it is in a map, whose iterations have no order, and an array of PEs multiplies one pair at a time")
    out = f.output("c")
    a, b = ContractionOperand(f.input("a"), node.trans_a), ContractionOperand(f.input("b"), node.trans_b)
    _SystolicArray(node, f, tiling_of(f, a, b, out.dtype), a, b, out).write()


def tiling_of(f: Fragment, a: ContractionOperand, b: ContractionOperand, dtype: DType) -> Tiling:
    """Return the tiles of an array. Declines if A's rows have no known length; `CodegenError` if it cannot be built."""
    rows, columns = a.shape[0], b.shape[1]
    terms = a.shape[1].constant
    if terms is None:
        f.decline(
            f"a row of the first factor has {a.shape[1]} elements, which wait in a queue: that is to be a number, "
            "as in A: dcpy.float32[N, 512], or by sdfg.specialize({...})"
        )
    if not 0 < terms <= LONGEST_ROW:
        f.decline(f"a row of the first factor has {terms} elements, and 1 to {LONGEST_ROW} can wait in a queue")
    least = latency("add", dtype) + EXTRA
    known = columns.constant
    pes = _pes(f, dtype, rows.constant, terms, known)
    if known is None:
        width = max(COLUMNS, least, pes)
    else:
        tiles = max(-(-known // MOST_COLUMNS), 1)
        width = max(-(-known // tiles), least, pes)
    exact = f.ranges.remainder(rows, pes) == 0 and f.ranges.remainder(columns, width) == 0
    return Tiling(rows, terms, columns, pes, width, not exact)


def _pes(f: Fragment, dtype: DType, rows: int | None, terms: int, columns: int | None) -> int:
    """The number of PEs: the requested one, else as many as are useful and fit the board."""
    chosen = board(f.costs.board)
    each = max(dsps_of("mul", dtype, chosen.vendor) + dsps_of("add", dtype, chosen.vendor), 1)
    if f.costs.pes * each > chosen.dsps:
        raise CodegenError(
            f"{f.costs.pes} processing elements take {f.costs.pes * each} DSPs, and {chosen.name} has {chosen.dsps}",
            span=f.node.span,
            notes=(f"each multiplies and adds {dtype} with {each} of them ({chosen.source})",),
            help=f"fpga.pes={chosen.dsps // each} is the most; 0 leaves the choice to dcpy",
        )
    if f.costs.pes:
        return f.costs.pes
    of_use = [size for size in (rows, terms, columns) if size]
    most = max(min(chosen.dsps // each, MOST_PES, *of_use), 1)
    if rows is None:
        return most
    return max(-(-rows // -(-rows // most)), 1)  # the same number of tiles with as few PEs as that takes


def stem_of(factor: ContractionOperand) -> str:
    """The stem of the names of the processes that read it."""
    return module_stem(factor.operand.memlet.container)


def second_reader(a: ContractionOperand, b: ContractionOperand) -> str:
    """The process that reads the second factor, which may be the first one again."""
    return f"read_{stem_of(b)}" if stem_of(a) != stem_of(b) else f"read_{stem_of(b)}_again"


@dataclass(frozen=True, slots=True)
class _SystolicArray:
    """The processes of one product."""

    node: Gemm
    f: Fragment
    tiling: Tiling
    a: ContractionOperand
    b: ContractionOperand
    out: Operand

    def write(self) -> None:
        f, tiling, dtype = self.f, self.tiling, self.out.dtype
        stem = module_stem(self.out.memlet.container)
        rows = queues(f, f"{stem}_rows", dtype, 2, tiling.pes + 1)
        own = queues(f, f"{stem}_row", dtype, max(tiling.terms, 2), tiling.pes)
        # a PE has its row so many cycles behind the one before it, and that is not to wait
        columns = queues(f, f"{stem}_columns", dtype, max(tiling.terms, 2), tiling.pes + 1)
        done = queues(f, f"{stem}_done", dtype, tiling.width, tiling.pes)
        leaving = queues(f, f"{stem}_leaving", dtype, 2, tiling.pes + 1)
        with network(f):
            self.read(rows, columns)
            self.share("rows", tiling.terms, lambda p: (rows, p, own, p), lambda p: (rows, p, rows, p + ONE))
            self.multiply(own, columns, done)
            self.share("drain", tiling.width, lambda p: (done, p, leaving, p), lambda p: (leaving, p + ONE, leaving, p))
            self.store(leaving)

    def read(self, rows: NetworkQueues, columns: NetworkQueues) -> None:
        """Readers of both factors, in the order in which the array takes them."""
        f, t = self.f, self.tiling
        a, b = self.a.at_dims(0, 1), self.b.at_dims(0, 1)
        if t.padded_rows is not None:
            self.pad(t.padded_rows, rows)
        else:
            with (
                process(f, f"read_{stem_of(self.a)}"),
                self.tiles() as (i, _),
                f.loop(Range.of(0, t.pes)) as q,
                f.loop(Range.of(0, t.terms)) as k,
            ):
                rows.push(f, a((self.within(i * t.pes + q, t.rows, t.pes), k)), 0)
        with (
            process(f, second_reader(self.a, self.b)),
            self.tiles() as (_, j),
            f.loop(Range.of(0, t.terms)) as k,
            f.loop(Range.of(0, t.width)) as c,
        ):
            columns.push(f, b((k, self.within(j * t.width + c, t.columns, t.width))), 0)

    def pad(self, padded: int, rows: NetworkQueues) -> None:
        """A reader of the rows there are, whose place others can take, and a process that puts zeros behind them."""
        f, t, dtype = self.f, self.tiling, self.out.dtype
        a, there = self.a.at_dims(0, 1), t.rows.constant or 0
        given = queues(f, f"{module_stem(self.out.memlet.container)}_given", dtype, 2)
        with (
            process(f, f"read_{stem_of(self.a)}"),
            f.loop(Range.of(0, there)) as i,
            f.loop(Range.of(0, t.terms)) as k,
        ):
            given.push(f, a((i, k)))
        with process(f, f"pad_{stem_of(self.a)}"):
            with f.loop(Range.of(0, there * t.terms)):
                token = f.scalar("token", dtype).at()
                given.pop(f, token)
                rows.push(f, token, 0)
            with f.loop(Range.of(0, (padded - there) * t.terms)):
                zero = f.scalar("zero", dtype).at()
                f.put(zero, 0)
                rows.push(f, zero, 0)

    def within(self, index: Expr, size: Expr, step: int) -> Expr:
        """An index, or the last one there is."""
        return index if self.f.ranges.remainder(size, step) == 0 else min_of(index, size - ONE)

    @contextmanager
    def tiles(self) -> Iterator[tuple[Expr, Expr]]:
        """Loops over all tiles, row by row; gives the numbers of one."""
        counts = (self.tiling.row_tiles, self.tiling.column_tiles)
        with ExitStack() as loops:
            yield tuple(  # type: ignore[misc]  # two of them
                ZERO if count is ONE else loops.enter_context(self.f.loop(Range.of(0, count), param))
                for count, param in zip(counts, "ij", strict=True)
            )

    def share(self, name: str, count: int, own: Hop, others: Hop) -> None:
        """Send the tokens of each tile: so many that are a PE's own, then those of the PEs behind it."""
        f, pes = self.f, self.tiling.pes
        with copies(f, name, pes) as p, self.tiles():
            for (source, at, target, to), times in ((own(p), const(count)), (others(p), (const(pes - 1) - p) * count)):
                with f.loop(Range.of(0, times)):
                    token = f.scalar("token", self.out.dtype).at()
                    source.pop(f, token, at)
                    target.push(f, token, to)

    def multiply(self, own: NetworkQueues, columns: NetworkQueues, done: NetworkQueues) -> None:
        f, t, dtype = self.f, self.tiling, self.out.dtype
        with copies(f, "pe", t.pes) as p:
            sums = f.array("sums", dtype, (t.width,))
            a = f.scalar("a", dtype).at()
            with self.tiles(), f.loop(Range.of(0, t.terms)) as k, f.loop(Range.of(0, t.width)) as c:
                b, total = f.scalar("b", dtype).at(), f.scalar("total", dtype).at()
                self.where("eq", c, ZERO, lambda: own.pop(f, a, p))
                columns.pop(f, b, p)
                self.where("lt", p, const(t.pes - 1), lambda: columns.push(f, b, p + ONE))
                first, later = f.branch(op("eq", Index(k), Index(ZERO)))
                with f.inside(first):
                    f.put(total, 0)
                with f.inside(later):
                    f.put(total, sums.at(c))
                f.compute(total, lambda s, x, y: op("add", s, op("mul", x, y)), total, a, b)
                f.put(sums.at(c), total)
                self.where("eq", k, const(t.terms - 1), lambda: done.push(f, total, p))

    def where(self, comparison: str, left: Expr, right: Expr, then: Callable[[], None]) -> None:
        holds, _ = self.f.branch(op(comparison, Index(left), Index(right)))
        with self.f.inside(holds):
            then()

    def store(self, leaving: NetworkQueues) -> None:
        """Store the results of the array, times alpha, plus the old values."""
        f, t, node = self.f, self.tiling, self.node
        is_updated = "c" in node.inputs
        scales = not is_updated and (node.alpha != 1 or "alpha" in node.inputs)
        source = self.scaled(leaving) if scales else leaving
        index = () if scales else (ZERO,)
        name = f"write_{module_stem(self.out.memlet.container)}"
        if t.padded_rows is not None:
            kept = self.kept(t.padded_rows, source, index)
            with process(f, name), f.loop(Range.of(0, t.rows)) as i, f.loop(Range.of(0, t.columns)) as j:
                if not is_updated:
                    kept.pop(f, self.out.at(i, j))
                    return
                token = f.scalar("token", self.out.dtype).at()
                kept.pop(f, token)
                updating(node, f, self.out, "c")(f, (i, j), token)
            return
        with (
            process(f, name),
            self.tiles() as (i, j),
            f.loop(Range.of(0, t.pes)) as q,
            f.loop(Range.of(0, t.width)) as c,
        ):
            place = (i * t.pes + q, j * t.width + c)
            if not is_updated and not t.masked:
                source.pop(f, self.out.at(*place), *index)
                return
            token = f.scalar("token", self.out.dtype).at()
            source.pop(f, token, *index)
            inside, _ = f.branch(self.is_inside(place))
            with f.inside(inside):
                if is_updated:
                    updating(node, f, self.out, "c")(f, place, token)
                else:
                    f.add(Copy(token.memlet, self.out.at(*place).memlet))

    def kept(self, padded: int, source: NetworkQueues, index: Sequence[Expr]) -> NetworkQueues:
        """A process that drops what is beyond the end: the writer only writes, and others can take its place."""
        f, t, dtype = self.f, self.tiling, self.out.dtype
        there = t.rows.constant or 0
        found = queues(f, f"{module_stem(self.out.memlet.container)}_kept", dtype, 2)
        with process(f, "keep"):
            with f.loop(Range.of(0, there)), f.loop(Range.of(0, t.width)) as c:
                token = f.scalar("token", dtype).at()
                source.pop(f, token, *index)
                self.where("lt", c, t.columns, lambda: found.push(f, token))
            with f.loop(Range.of(0, (padded - there) * t.width)):
                source.pop(f, f.scalar("token", dtype).at(), *index)
        return found

    def scaled(self, leaving: NetworkQueues) -> NetworkQueues:
        """A process that multiplies with alpha: the writer only writes, and others can take its place."""
        f, t, dtype = self.f, self.tiling, self.out.dtype
        found = queues(f, "scaled", dtype, 2)
        with process(f, "scale"), self.tiles(), f.loop(Range.of(0, t.pes)), f.loop(Range.of(0, t.width)):
            token, product = f.scalar("token", dtype).at(), f.scalar("product", dtype)
            leaving.pop(f, token, 0)
            updating(self.node, f, product, "")(f, (), token)
            found.push(f, product.at())
        return found

    def is_inside(self, place: Sequence[Expr]) -> ScalarExpr:
        tests = [
            op("lt", Index(index), Index(size))
            for index, size, step in zip(
                place,
                (self.tiling.rows, self.tiling.columns),
                (self.tiling.pes, self.tiling.width),
                strict=True,
            )
            if self.f.ranges.remainder(size, step) != 0
        ]
        return op("and", *tests) if len(tests) > 1 else tests[0] if tests else Const(True, types.bool_)
