"""GEMM epilogues: factors, transposes and sums move into the product: ``C[:] = alpha * A @ B + beta * C`` is one call
of gemm.

Four transformations, each a small step that is legal alone. `FOLD_PRODUCTS` applies them in order, and those of
`libraries.blas.passes.stacked_products`, before library nodes are expanded. What a product computes anyway costs
nothing, while a map of its own reads and writes whole arrays. The last bits of floating-point results may differ:
decision 0009 says why that is allowed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.accesses.access_relations import names_in
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.polyhedral.footprints import AlignedBox, aligned_box
from dcpy.ir.data import View
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.subsets import Range
from dcpy.ir.tree import owners_around
from dcpy.libraries.blas.expand.matmul import specialized
from dcpy.libraries.blas.nodes import MatMul, ScaledProduct
from dcpy.libraries.blas.passes.elementwise_terms import (
    Elementwise,
    ScaledLeaf,
    ScaleFactor,
    elementwise_of,
    substituted,
    terms_of,
)
from dcpy.libraries.blas.passes.stacked_products import MergeStackedProducts, NarrowProduct
from dcpy.transforms.api import (
    LEGAL,
    Access,
    Legal,
    Match,
    Refusal,
    Rewriter,
    Transformation,
    capture,
    one,
    path,
)
from dcpy.transforms.pipeline import Pipeline


@dataclass(frozen=True)
class SpecializeMatMul(Transformation[Legal]):
    """Make of ``@`` the product that BLAS knows.

    before   matmul (a <- A[0:N, 0:M], b <- x[0:M])     after   gemv (a <- A[0:N, 0:M], x <- x[0:M])

    Always legal: the ranks of the operands say which product it is.
    """

    name: ClassVar[str] = "specialize-matmul"
    product = capture(MatMul)
    pattern = one(product)

    def plan(self, m: Match) -> Legal | Refusal:
        """Return whether the operands are matrices and vectors."""
        problem = next(m[self.product].problems(), "")
        return Refusal(problem) if problem else LEGAL

    def apply(self, m: Match, plan: Legal, rw: Rewriter) -> Node:
        """Return the product."""
        fresh = specialized(m[self.product])
        rw.replace(m[self.product], fresh)
        return fresh


@dataclass(frozen=True)
class FoldTranspose(Transformation["tuple[Transposed, ...]"]):
    """Let a product transpose its operand, instead of a view.

    before   view At = A.T;  gemm (a <- At[0:N, 0:M], b <- B)     after   gemm (a <- A[0:M, 0:N], b <- B) {trans_a}

    Applies where the operand is a view that swaps two dimensions of another container.
    """

    name: ClassVar[str] = "fold-transpose"
    product = capture(ScaledProduct)
    pattern = one(product)

    def plan(self, m: Match) -> tuple[Transposed, ...] | Refusal:
        """The operands that are transposed views."""
        found: list[Transposed] = []
        for connector, flag in (("a", "trans_a"), ("b", "trans_b")):
            memlet = m[self.product].inputs.get(connector)
            desc = m.uses.desc(memlet.container) if memlet is not None and hasattr(m[self.product], flag) else None
            if memlet is None or not isinstance(desc, View) or desc.window is None:
                continue
            kept = [axis for axis, dim in zip(desc.axes, memlet.subset.dims, strict=True) if isinstance(dim, Range)]
            inner = desc.base_subset(memlet.subset)
            if inner is not None and len(kept) == 2 and kept[0] > kept[1] >= 0:
                found.append((connector, flag, replace(memlet, container=desc.of, subset=inner)))
        return tuple(found) or Refusal("no operand is a transposed view")

    def apply(self, m: Match, plan: tuple[Transposed, ...], rw: Rewriter) -> None:
        """Change the product."""
        product = m[self.product]
        for connector, flag, memlet in plan:
            view = product.inputs[connector].container
            rw.update(product, inputs={**product.inputs, connector: memlet}, **{flag: not getattr(product, flag)})
            rw.undeclare_unused([view])


Transposed = tuple[str, str, Memlet]  # a connector, the flag that transposes it, and what its view shows


@dataclass(frozen=True)
class FoldFactor(Transformation["ScaledEpilogue"]):
    """Let a product scale, instead of a map that scales (or copies, or transposes) an operand of it.

    before   map i, j: tmp[i, j] = alpha * A[i, j]     after   gemm (a <- A, b <- B, alpha <- alpha) -> (c -> C)
             gemm (a <- tmp, b <- B) -> (c -> C)

    Applies where the map writes just what the product reads, where the scaled array and the scalar do not change in
    between, and where the product has no other scalar as its factor. The map stays, for its other readers.
    """

    name: ClassVar[str] = "fold-factor"
    scaling = capture(Map)
    operand = capture(Access)
    product = capture(ScaledProduct)
    pattern = path(scaling, operand, product)

    def plan(self, m: Match) -> ScaledEpilogue | Refusal:
        """Return the operands and the factor of the product. Refuses maps that do anything else."""
        product, scaling = m[self.product], m[self.scaling]
        operand = m[self.operand].container
        connector = next(
            (name for name in ("a", "b", "x") if name in product.inputs and product.inputs[name].container == operand),
            "",
        )
        found = elementwise_of(scaling)
        if not connector or isinstance(found, Refusal):
            return found if isinstance(found, Refusal) else Refusal(f"{operand!r} is no factor of the product")
        terms = terms_of(found, scaling.params)
        if isinstance(terms, Refusal) or len(terms) != 1:
            return terms if isinstance(terms, Refusal) else Refusal("the map adds arrays")
        (term,) = terms
        written, read = _box_of(found.target, scaling), _box_of(term.leaf, scaling)
        if written is None or found.target.container != operand or written.subset != product.inputs[connector].subset:
            return Refusal(f"the map does not write just what the product reads of {operand!r}")
        if read is None or read.params not in (written.params, written.params[::-1]):
            return Refusal(f"{term.leaf} is not an array of the same shape")
        problem = _other_dtypes(m.uses, term.leaf.container, found.target.container, *_containers(product.outputs))
        problem = problem or _changed_between(scaling, product, _containers(found.leaves), m.uses)
        problem = problem or _two_scalars("alpha", product, term.factor)
        memlet = replace(term.leaf, subset=read.subset)
        return problem or ScaledEpilogue(connector, memlet, read.params != written.params, term.factor)

    def apply(self, m: Match, plan: ScaledEpilogue, rw: Rewriter) -> None:
        """Change the product."""
        product = m[self.product]
        inputs = {**product.inputs, plan.connector: plan.memlet}
        flag = f"trans_{plan.connector}"
        flags = {flag: getattr(product, flag) != plan.is_transposed} if hasattr(product, flag) else {}
        rw.update(product, **_with_factor(inputs, "alpha", product.alpha, plan.factor), **flags)
        _erase_unread(m[self.operand].container, rw)


@dataclass(frozen=True, slots=True)
class ScaledEpilogue:
    """The connector of a product, its new memlet, whether that is the operand transposed, and the factor."""

    connector: str
    memlet: Memlet
    is_transposed: bool
    factor: ScaleFactor


@dataclass(frozen=True)
class FoldSum(Transformation["SummedEpilogue"]):
    """Let a product add to what is there and scale, instead of a map that does so with its result.

    before   gemm (a <- A, b <- B) -> (c -> tmp)
             map i, j: C[i, j] = tmp[i, j] + beta * C[i, j]
    after    gemm (a <- A, b <- B, c <- C, beta <- beta) -> (c -> C)

    Applies where no other statement reads the product's result, where the map computes nothing else, and where what the
    product reads does not change in between. Temporaries that hold scaled summands are looked through.
    """

    name: ClassVar[str] = "fold-sum"
    product = capture(ScaledProduct)
    result = capture(Access)
    sum = capture(Map)
    pattern = path(product, result, sum)

    def plan(self, m: Match) -> SummedEpilogue | Refusal:
        """Return the output of the product. Refuses maps that do more than scale the result and add to it."""
        product, result = m[self.product], m[self.result].container
        if product.summand in product.inputs:
            return Refusal("the product adds to something already")
        if not m.uses.is_private(result) or len(m.uses.overlapping(result)) > 1 or len(m.uses.writers(result)) > 1:
            return Refusal(f"{result!r} must stay in memory: it is an argument, a result, or has views")
        found = _looked_through(m[self.sum], result, m.uses)
        if isinstance(found, Refusal):
            return found
        terms = terms_of(found, m[self.sum].params)
        if isinstance(terms, Refusal):
            return terms
        problem = _changed_between(product, m[self.sum], _containers(product.inputs), m.uses)
        problem = problem or _read_elsewhere(m[self.sum], result, m.uses)
        return problem or self._placed(m, found, terms)

    def apply(self, m: Match, plan: SummedEpilogue, rw: Rewriter) -> None:
        """Change the product, which takes the place of the map."""
        product = m[self.product]
        fields = _with_factor(dict(product.inputs), "alpha", product.alpha, plan.factor)
        if plan.summand is not None:
            inputs = {**fields.pop("inputs"), product.summand: plan.out}  # type: ignore[dict-item]
            fields |= _with_factor(inputs, "beta", 1, plan.summand)
        read = dict.fromkeys(memlet.container for node in m[self.sum].body.walk_nodes() for memlet in node.reads())
        rw.move_nodes([product], m.state, m.state.index(m[self.sum]) - 1)
        rw.update(product, outputs={product.summand: plan.out}, **fields)
        rw.erase(m[self.sum])
        for container in read:
            _erase_unread(container, rw)

    def _placed(self, m: Match, found: Elementwise, terms: tuple[ScaledLeaf, ...]) -> SummedEpilogue | Refusal:
        product, result = m[self.product], m[self.result].container
        mine = [term for term in terms if term.leaf.container == result]
        others = [term for term in terms if term.leaf.container != result]
        if len(mine) != 1 or len(others) > 1:
            return Refusal("the map adds more than one array to the product")
        target, shown = _box_of(found.target, m[self.sum]), _box_of(mine[0].leaf, m[self.sum])
        if target is None or shown is None or shown.subset != product.outputs[product.summand].subset:
            return Refusal(f"the map does not read just what the product writes of {result!r}")
        if target.params != shown.params:
            return Refusal("the map transposes or broadcasts the product")
        if others and (others[0].leaf.container, others[0].leaf.subset) != (
            found.target.container,
            found.target.subset,
        ):
            where = f"the sum goes to {found.target}, not to where {others[0].leaf} is"
            return Refusal(f"{where}: there is nothing to update in place")
        problem = _other_dtypes(m.uses, found.target.container, result)
        problem = problem or _two_scalars("alpha", product, mine[0].factor)
        out = replace(found.target, subset=target.subset)
        return problem or SummedEpilogue(out, mine[0].factor, others[0].factor if others else None)


@dataclass(frozen=True, slots=True)
class SummedEpilogue:
    """Output of a product, its factor, and the factor of the old values that it adds to, if any."""

    out: Memlet
    factor: ScaleFactor
    summand: ScaleFactor | None


FOLD_PRODUCTS = Pipeline(
    "fold-products",
    SpecializeMatMul(),
    FoldTranspose(),
    MergeStackedProducts(),
    FoldFactor(),
    FoldSum(),
    NarrowProduct(),
)


def _with_factor(inputs: dict[str, Memlet], name: str, number: complex, factor: ScaleFactor) -> dict[str, object]:
    """Fields of a product that is also scaled by `factor`."""
    scalar = {} if factor.scalar is None else {name: factor.scalar}
    return {"inputs": {**inputs, **scalar}, name: number * factor.number}


def _erase_unread(container: str, rw: Rewriter) -> None:
    """Take out the maps that compute nothing but an unread temporary, and the temporary."""
    uses = rw.uses
    if not uses.declared(container) or not uses.is_private(container) or uses.readers(container):
        return
    for writer in uses.writers(container):
        owner = next(owners_around(writer), None)
        if isinstance(writer, Tasklet) and isinstance(owner, Map) and not isinstance(elementwise_of(owner), Refusal):
            rw.erase(owner)
    rw.undeclare_unused([container])


def _two_scalars(name: str, product: ScaledProduct, factor: ScaleFactor) -> Refusal | None:
    if name in product.inputs and factor.scalar is not None:
        return Refusal(f"the product has another scalar as {name}")
    return None


def _other_dtypes(uses: Uses, *containers: str) -> Refusal | None:
    """Conversions are no part of a product, and neither is what "times" means for booleans."""
    dtypes = dict.fromkeys(uses.desc(name).dtype for name in containers)
    if len(dtypes) > 1:
        return Refusal(f"dtypes differ: {', '.join(map(str, dtypes))}")
    (dtype,) = dtypes
    if dtype in (types.bool_, types.float16):
        return Refusal(f"{dtype} products are not scaled")
    return None


def _box_of(memlet: Memlet, node: Map) -> AlignedBox | None:
    return aligned_box(memlet.subset, node.iteration_space())


def _containers(memlets: Mapping[str, Memlet]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(memlet.container for memlet in memlets.values()))


def _changed_between(first: Node, second: Node, containers: Iterable[str], uses: Uses) -> Refusal | None:
    """Return whether one of these containers, or what overlaps one, is written from `first` on, before `second`.

    `first` itself counts: a map that scales an array in place leaves nothing that the product could scale instead.
    """
    state = first.state
    if state is None:
        return Refusal("the node is in no state")
    seen = {name: container for container in containers for name in uses.overlapping(container)}
    for node in state.nodes[state.index(first) : state.index(second)]:
        for name in names_in(node, uses)[1]:
            if name in seen:
                return Refusal(f"{seen[name]!r} changes in between", (node,))
    return None


def _read_elsewhere(reader: Map, container: str, uses: Uses) -> Refusal | None:
    """Return whether anything but a map reads a container."""
    inside = list(reader.body.walk_nodes())
    others = tuple(element for element in uses.readers(container) if all(node is not element for node in inside))
    return Refusal(f"{container!r} is read elsewhere", others) if others else None


def _looked_through(node: Map, result: str, uses: Uses) -> Elementwise | Refusal:
    """The map's assignment; temporaries that other maps of the state computed are replaced by what they are."""
    found = elementwise_of(node)
    if isinstance(found, Refusal) or node.state is None:
        return found
    before = node.state.nodes[: node.state.index(node)]
    for leaf, memlet in list(found.leaves.items()):
        fixed = all(name not in memlet.subset.symbols for name in node.params)
        if memlet.container == result or fixed or not uses.is_private(memlet.container):
            continue
        inlined = _inlined(found, leaf, node, before, uses)
        found = found if isinstance(inlined, Refusal) else inlined
    return found


def _inlined(found: Elementwise, leaf: str, node: Map, before: list[Node], uses: Uses) -> Elementwise | Refusal:
    memlet = found.leaves[leaf]
    writers = uses.writers(memlet.container)
    for producer in before:
        if not isinstance(producer, Map) or len(writers) != 1 or writers[0] not in list(producer.body.walk_nodes()):
            continue
        computed = elementwise_of(producer)
        if isinstance(computed, Refusal):
            return computed
        problem = _changed_between(producer, node, _containers(computed.leaves), uses)
        written, read = _box_of(computed.target, producer), _box_of(memlet, node)
        if problem or written is None or read is None or written.subset != read.subset:
            return problem or Refusal(f"{memlet.container!r} is not written just where it is read")
        return substituted(found, leaf, computed, producer.params)
    return Refusal(f"{memlet.container!r} is not computed in this state")
