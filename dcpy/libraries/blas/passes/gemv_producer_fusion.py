"""GEMV producer fusion: a matrix that is computed element by element is multiplied with a vector as its elements are
computed.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.exposed_reads import ExposedAccesses, exposed_accesses
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import State
from dcpy.ir.schedules import SEQUENTIAL, UNDECIDED
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, Expr, as_expr, min_of, sym
from dcpy.ir.tree import owners_around
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.blas.expand.block_partial_sums import product_in, zero
from dcpy.libraries.blas.expand.product_contractions import updating
from dcpy.libraries.blas.nodes import Gemv
from dcpy.libraries.contraction.contraction import accumulator_dtype
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one

BAND = 64  #: elements of a partial sum: there are as many of those as a share of 1 / 64 of the matrix


@dataclass(frozen=True)
class UpdatedProduct(Transformation[Map]):
    """Fuse the map that computes a matrix into a product with it, which does not read it again.

    before   map i = 0:N, j = 0:M { A[i, j] = f(i, j) }         after   map b = 0:N:64, j = 0:M { s = 0
             gemv (a <- A, x <- x) -> (y -> y) {trans_a}                  map i = b:b + 64 { A[i, j] = f(i, j)
                                                                                          s += A[i, j] * x[i] }
                                                                          t[b // 64, j] = s }
                                                                        map j = 0:M { y[j] = sum of t[:, j] }

    Applies where each iteration of the map touches its own element of the matrix only, where what the product sums over
    is not what lies side by side in memory (so neighbouring threads take neighbouring elements), and where nothing else
    that the map writes is needed by the product. Partial sums are added up in order: the same bits each time.
    """

    name: ClassVar[str] = "updated-product"
    product = capture(Gemv)
    pattern = one(product)

    def plan(self, m: Match) -> Map | Refusal:
        """The map that computes the matrix, or why it stays apart."""
        product, uses = m[self.product], m.uses
        matrix = product.inputs["a"]
        near = uses.overlapping(uses.root(matrix.container))
        nodes = list(m.state.nodes)
        ahead = nodes[: nodes.index(product)]
        writers = [node for node in ahead if any(known.writes for known in _of(near, node, uses))]
        if not writers:
            return Refusal(f"nothing in front of it in the state writes {matrix.container!r}")
        update = writers[-1]
        reason = (
            self._why_not_in_bands(product, uses)
            or _why_not_by_elements(update, matrix, uses)
            or _why_not_together(update, product, ahead[ahead.index(update) + 1 :], uses)
        )
        if reason:
            return Refusal(reason)
        assert isinstance(update, Map)
        return update

    def _why_not_in_bands(self, product: Gemv, uses: Uses) -> str:
        if any(isinstance(owner, Map) for owner in owners_around(product)):
            return "the product is inside of a map"
        matrix = product.inputs["a"]
        across = Operand(matrix, uses.desc(matrix.container)).strides[_summed(product) - 1]
        return "" if across is ONE else f"neighbours in the memory of {matrix.container!r} are terms of one sum"

    def apply(self, m: Match, plan: Map, rw: Rewriter) -> Node:
        """Return the map of partial sums."""
        product, update = m[self.product], plan
        f = Fragment(product)
        a, out = f.input("a"), f.output("y")
        summed = _summed(product)
        rows, columns = a.shape[summed], a.shape[1 - summed]
        dtype = accumulator_dtype("add", out.dtype)
        bands = Range(ZERO, rows, as_expr(BAND))
        parts = f.array("partial_sums", dtype, (bands.size, columns))
        with f.maps([bands, Range(ZERO, columns)], param="j") as (band, j):
            own = zero(f, dtype)
            with f.map(Range(band, min_of(band + BAND, rows)), SEQUENTIAL) as i:
                place = (i, j) if summed == 0 else (j, i)
                term = f.compute(own, product_in(dtype), a.at(*place), f.input("x").at(i), wcr="add")
            f.put(parts.at(band // BAND, j), own)
        with f.map(Range(ZERO, columns), param="j") as j:
            total = zero(f, dtype)
            with f.map(Range(ZERO, bands.size), SEQUENTIAL, "p") as p:
                f.put(total, parts.at(p, j), wcr="add")
            updating(product, f, out, "y")(f, (j,), total)
        _install(f, m, rw)
        inside = term.state
        assert inside is not None
        assert inside.region is not None
        starts = (dim.start for dim in update.domain)
        points = dict(zip(_parameters(update, a.memlet), place, strict=True))
        values = {param: start + points[param] for param, start in zip(update.params, starts, strict=True)}
        rw.substitute_symbols(values, update.body)
        rw.hoist_containers(update.body, inside.region)
        (body,) = update.body.blocks
        assert isinstance(body, State)
        rw.move_nodes(list(body.nodes), inside, 0)
        fused = next(owner for owner in owners_around(inside) if isinstance(owner, Map) and len(owner.params) == 2)
        rw.forward(update, fused)
        rw.erase(update)
        return fused


def _install(f: Fragment, m: Match, rw: Rewriter) -> None:
    """Put nodes where the product was."""
    made = f.replacement()
    for name in made.names:
        rw.fresh_name(name)  # which takes it
    for name, desc in made.containers.items():
        rw.declare(name, desc, m.state.region)
    rw.replace(f.node, *(node for block in made.blocks if isinstance(block, State) for node in list(block.nodes)))


def _of(names: Collection[str], node: Node, uses: Uses) -> list[ExposedAccesses]:
    """Return a node's accesses to the containers `names` that it touches."""
    return [known for name, known in exposed_accesses(node, uses).items() if name in names]


def _summed(product: Gemv) -> int:
    """The dimension of the matrix that is summed over."""
    return 0 if product.trans_a else 1


def _parameters(update: Map, matrix: Memlet) -> tuple[str, ...]:
    """The parameters of a map in the order of the dimensions of the matrix that it computes."""
    for node in update.body.walk_nodes():
        for memlet in node.outputs.values() if isinstance(node, Tasklet) else ():
            if memlet.container == matrix.container:
                return tuple(str(index) for index in memlet.subset.indices)
    return ()


def _why_not_by_elements(update: Node, matrix: Memlet, uses: Uses) -> str:
    """Return why a map does not compute a matrix element by element, one per iteration; "" where it does."""
    name = matrix.container
    if not isinstance(update, Map) or update.schedule != UNDECIDED or len(update.params) != 2:
        return f"what writes {name!r} in front of it is no map over its elements"
    blocks = update.body.blocks
    if len(blocks) != 1 or not isinstance(blocks[0], State):
        return f"the map that writes {name!r} is no row of tasklets"
    near = uses.overlapping(uses.root(name))
    order = _parameters(update, matrix)
    for node in blocks[0].nodes:
        if not isinstance(node, Tasklet):
            return f"the map that writes {name!r} is no row of tasklets"
        for memlet in (*node.inputs.values(), *node.outputs.values()):
            if uses.root(memlet.container) in near and not _is_own(memlet, name, order, update):
                return f"an iteration of the map that writes {name!r} touches {memlet}"
    ranges = dict(zip(update.params, update.domain, strict=True))
    written = Memlet(name, Subset(tuple(ranges[param] for param in order)))
    if written != matrix:
        return f"the map writes {written}, and {matrix} is read"
    return "" if all(dim.step is ONE for dim in update.domain) else "the map takes steps"


def _is_own(memlet: Memlet, name: str, order: tuple[str, ...], update: Map) -> bool:
    """Return whether it is the element of an iteration: that at its two parameters."""
    own: tuple[Expr, ...] = tuple(map(sym, order))
    return memlet.container == name and sorted(order) == sorted(update.params) and memlet.subset == Subset.point(*own)


def _why_not_together(update: Node, product: Gemv, between: list[Node], uses: Uses) -> str:
    """Return why a map cannot run with a product behind it: something needs data in between, or another order."""
    first = exposed_accesses(update, uses)
    matrix = uses.root(product.inputs["a"].container)
    for node in (*between, product):
        for name, mine in first.items():
            others = _of(uses.overlapping(name), node, uses)
            if node is product and name == matrix and _only_matrix(product, matrix, uses):
                continue
            if mine.writes and others:
                return f"{name!r}, which the map writes, is touched by what is behind it"
            if any(known.writes for known in others):
                return f"{name!r}, which the map reads, is written by what is behind it"
    return ""


def _only_matrix(product: Gemv, matrix: str, uses: Uses) -> bool:
    """Return whether nothing but the matrix of a product lies where that does."""
    near = uses.overlapping(matrix)
    others = [*(memlet for name, memlet in product.inputs.items() if name != "a"), *product.outputs.values()]
    return not any(uses.root(memlet.container) in near for memlet in others)
