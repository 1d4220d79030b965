"""Factors, transposes and sums move into the product: ``C[:] = alpha * A @ B + beta * C`` is one call of gemm.

Four transformations, each a small step that is legal alone. `fold_products` applies them in order, and those of
`libraries.blas.stacking`, before library nodes are expanded. What a product computes anyway costs nothing, while a map
of its own reads and writes whole arrays. The last bits of floating-point results may differ: decision 0009 says why
that is allowed here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

from dcpy.ir import types
from dcpy.ir.analysis.accesses import accesses_of
from dcpy.ir.data import View
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.uses import Uses
from dcpy.libraries.blas.elementwise import (
    Elementwise,
    Factor,
    Term,
    box_of,
    elementwise_of,
    substituted,
    terms_of,
)
from dcpy.libraries.blas.nodes import MatMul, ScaledProduct
from dcpy.libraries.blas.specialize import specialized
from dcpy.libraries.blas.stacking import MergeStackedProducts, NarrowProduct
from dcpy.transforms.api import (
    YES,
    Access,
    Aspect,
    Match,
    Rewriter,
    Transformation,
    Verdict,
    apply_repeated,
    capture,
    no,
    one,
    path,
)


@dataclass(frozen=True)
class SpecializeMatMul(Transformation):
    """Make of ``@`` the product that BLAS knows.

    before   matmul (a <- A[0:N, 0:M], b <- x[0:M])     after   gemv (a <- A[0:N, 0:M], x <- x[0:M])

    Always legal: the ranks of the operands say which product it is.
    """

    name: ClassVar[str] = "specialize-matmul"
    looks_at: ClassVar[Aspect] = Aspect.DATAFLOW
    changes: ClassVar[Aspect] = Aspect.DATAFLOW
    product = capture(MatMul)
    pattern = one(product)

    def can_be_applied(self, m: Match) -> Verdict:
        """Whether the operands are matrices and vectors."""
        problem = next(m[self.product].problems(), "")
        return no(problem) if problem else YES

    def apply(self, m: Match, rw: Rewriter) -> Node:
        """Returns the product."""
        fresh = specialized(m[self.product])
        rw.replace(m[self.product], fresh)
        return fresh


@dataclass(frozen=True)
class FoldTranspose(Transformation):
    """Let a product transpose its operand, instead of a view.

    before   view At = A.T;  gemm (a <- At[0:N, 0:M], b <- B)     after   gemm (a <- A[0:M, 0:N], b <- B) {trans_a}

    Applies where the operand is a view that swaps two dimensions of another container.
    """

    name: ClassVar[str] = "fold-transpose"
    looks_at: ClassVar[Aspect] = Aspect.DATAFLOW
    changes: ClassVar[Aspect] = Aspect.DATAFLOW
    product = capture(ScaledProduct)
    pattern = one(product)

    def can_be_applied(self, m: Match) -> Verdict:
        """Whether an operand is a transposed view."""
        return YES if self._found(m) else no("no operand is a transposed view")

    def apply(self, m: Match, rw: Rewriter) -> None:
        """Changes the product."""
        product = m[self.product]
        for connector, flag, memlet in self._found(m):
            view = product.inputs[connector].container
            rw.update(product, inputs={**product.inputs, connector: memlet}, **{flag: not getattr(product, flag)})
            rw.undeclare_unused([view])

    def _found(self, m: Match) -> list[tuple[str, str, Memlet]]:
        """Connectors of transposed views, the flags that transpose them, and what they show."""
        found = []
        for connector, flag in (("a", "trans_a"), ("b", "trans_b")):
            memlet = m[self.product].inputs.get(connector)
            desc = m.uses.desc(memlet.container) if memlet is not None and hasattr(m[self.product], flag) else None
            if memlet is None or not isinstance(desc, View) or desc.window is None:
                continue
            kept = [axis for axis, dim in zip(desc.axes, memlet.subset.dims, strict=True) if isinstance(dim, Range)]
            inner = desc.base_subset(memlet.subset)
            if inner is not None and len(kept) == 2 and kept[0] > kept[1] >= 0:
                found.append((connector, flag, replace(memlet, container=desc.of, subset=inner)))
        return found


@dataclass(frozen=True)
class FoldFactor(Transformation):
    """Let a product scale, instead of a map that scales (or copies, or transposes) an operand of it.

    before   map i, j: tmp[i, j] = alpha * A[i, j]     after   gemm (a <- A, b <- B, alpha <- alpha) -> (c -> C)
             gemm (a <- tmp, b <- B) -> (c -> C)

    Applies where the map writes just what the product reads, where the scaled array and the scalar do not change in
    between, and where the product has no other scalar as its factor. The map stays, for whoever else reads it.
    """

    name: ClassVar[str] = "fold-factor"
    looks_at: ClassVar[Aspect] = Aspect.DATAFLOW | Aspect.VALUES
    changes: ClassVar[Aspect] = Aspect.DATAFLOW
    scaling = capture(Map)
    operand = capture(Access)
    product = capture(ScaledProduct)
    pattern = path(scaling, operand, product)

    def can_be_applied(self, m: Match) -> Verdict:
        """Whether the map does nothing but scale what the product reads."""
        plan = self._plan(m)
        return no(plan) if isinstance(plan, str) else YES

    def apply(self, m: Match, rw: Rewriter) -> None:
        """Changes the product."""
        plan = self._plan(m)
        if isinstance(plan, str):
            return
        connector, memlet, is_transposed, factor = plan
        product = m[self.product]
        inputs = {**product.inputs, connector: memlet}
        flag = f"trans_{connector}"
        flags = {flag: getattr(product, flag) != is_transposed} if hasattr(product, flag) else {}
        rw.update(product, **_with_factor(inputs, "alpha", product.alpha, factor), **flags)
        _erase_unread(m[self.operand].container, rw)

    def _plan(self, m: Match) -> tuple[str, Memlet, bool, Factor] | str:
        """The connector, its new memlet, whether that is transposed, and the factor; or why not."""
        product, scaling = m[self.product], m[self.scaling]
        operand = m[self.operand].container
        connector = next(
            (name for name in ("a", "b", "x") if name in product.inputs and product.inputs[name].container == operand),
            "",
        )
        found = elementwise_of(scaling)
        if not connector or isinstance(found, str):
            return found if isinstance(found, str) else f"{operand!r} is no factor of the product"
        terms = terms_of(found, scaling.params)
        if isinstance(terms, str) or len(terms) != 1:
            return terms if isinstance(terms, str) else "the map adds arrays"
        (term,) = terms
        written, read = box_of(found.target, scaling), box_of(term.leaf, scaling)
        if written is None or found.target.container != operand or written.subset != product.inputs[connector].subset:
            return f"the map does not write just what the product reads of {operand!r}"
        if read is None or read.params not in (written.params, written.params[::-1]):
            return f"{term.leaf} is not an array of the same shape"
        problem = _other_dtypes(m.uses, term.leaf.container, found.target.container, *_containers(product.outputs))
        problem = problem or _changed_between(scaling, product, _containers(found.leaves), m.uses)
        problem = problem or _two_scalars("alpha", product, term.factor)
        memlet = replace(term.leaf, subset=read.subset)
        return problem or (connector, memlet, read.params != written.params, term.factor)


@dataclass(frozen=True)
class FoldSum(Transformation):
    """Let a product add to what is there and scale, instead of a map that does so with its result.

    before   gemm (a <- A, b <- B) -> (c -> tmp)
             map i, j: C[i, j] = tmp[i, j] + beta * C[i, j]
    after    gemm (a <- A, b <- B, c <- C, beta <- beta) -> (c -> C)

    Applies where nobody else reads the product's result, where the map computes nothing else, and where what the
    product reads does not change in between. Temporaries that hold scaled summands are looked through.
    """

    name: ClassVar[str] = "fold-sum"
    looks_at: ClassVar[Aspect] = Aspect.DATAFLOW | Aspect.VALUES
    changes: ClassVar[Aspect] = Aspect.DATAFLOW
    product = capture(ScaledProduct)
    result = capture(Access)
    sum = capture(Map)
    pattern = path(product, result, sum)

    def can_be_applied(self, m: Match) -> Verdict:
        """Whether the map does nothing but scale the result and add to it."""
        plan = self._plan(m)
        return no(plan) if isinstance(plan, str) else YES

    def apply(self, m: Match, rw: Rewriter) -> None:
        """Changes the product, which takes the place of the map."""
        plan = self._plan(m)
        if isinstance(plan, str):
            return
        product, out, factor, summand = m[self.product], *plan
        fields = _with_factor(dict(product.inputs), "alpha", product.alpha, factor)
        if summand is not None:
            inputs = {**fields.pop("inputs"), product.summand: out}  # type: ignore[dict-item]
            fields |= _with_factor(inputs, "beta", 1, summand)
        read = dict.fromkeys(memlet.container for node in m[self.sum].body.walk_nodes() for memlet in node.reads())
        rw.move_nodes([product], m.state, m.state.index(m[self.sum]) - 1)
        rw.update(product, outputs={product.summand: out}, **fields)
        rw.erase(m[self.sum])
        for container in read:
            _erase_unread(container, rw)

    def _plan(self, m: Match) -> tuple[Memlet, Factor, Factor | None] | str:
        """Where the product is to write, the factors of the product and of what is there; or why not."""
        product, result = m[self.product], m[self.result].container
        if product.summand in product.inputs:
            return "the product adds to something already"
        if not m.uses.is_private(result) or len(m.uses.overlapping(result)) > 1 or len(m.uses.writers(result)) > 1:
            return f"{result!r} is seen from elsewhere"
        found = _looked_through(m[self.sum], result, m.uses)
        if isinstance(found, str):
            return found
        terms = terms_of(found, m[self.sum].params)
        if isinstance(terms, str):
            return terms
        problem = _changed_between(product, m[self.sum], _containers(product.inputs), m.uses)
        problem = problem or _read_elsewhere(m[self.sum], result, m.uses)
        return problem or self._placed(m, found, terms)

    def _placed(
        self, m: Match, found: Elementwise, terms: tuple[Term, ...]
    ) -> tuple[Memlet, Factor, Factor | None] | str:
        product, result = m[self.product], m[self.result].container
        mine = [term for term in terms if term.leaf.container == result]
        others = [term for term in terms if term.leaf.container != result]
        if len(mine) != 1 or len(others) > 1:
            return "the map adds more than one array to the product"
        target, shown = box_of(found.target, m[self.sum]), box_of(mine[0].leaf, m[self.sum])
        if target is None or shown is None or shown.subset != product.outputs[product.summand].subset:
            return f"the map does not read just what the product writes of {result!r}"
        if target.params != shown.params:
            return "the map transposes or broadcasts the product"
        if others and (others[0].leaf.container, others[0].leaf.subset) != (
            found.target.container,
            found.target.subset,
        ):
            return (
                f"the sum goes to {found.target}, not to where {others[0].leaf} is: there is nothing to update in place"
            )
        problem = _other_dtypes(m.uses, found.target.container, result)
        problem = problem or _two_scalars("alpha", product, mine[0].factor)
        out = replace(found.target, subset=target.subset)
        return problem or (out, mine[0].factor, others[0].factor if others else None)


def fold_products(sdfg: Sdfg) -> dict[str, int]:
    """Applies all, each wherever it can be; returns how often each was applied. Free where there is no product."""
    steps = (SpecializeMatMul, FoldTranspose, MergeStackedProducts, FoldFactor, FoldSum, NarrowProduct)
    found = any(isinstance(node, MatMul | ScaledProduct) for node in sdfg.body.walk_nodes())
    return {step.name: apply_repeated(sdfg, step) if found else 0 for step in steps}


def _with_factor(inputs: dict[str, Memlet], name: str, number: complex, factor: Factor) -> dict[str, object]:
    """Fields of a product that is also scaled by `factor`."""
    scalar = {} if factor.scalar is None else {name: factor.scalar}
    return {"inputs": {**inputs, **scalar}, name: number * factor.number}


def _erase_unread(container: str, rw: Rewriter) -> None:
    """Takes out the maps that compute nothing but a temporary that nobody reads any more, and the temporary."""
    uses = rw.uses
    if not uses.declared(container) or not uses.is_private(container) or uses.readers(container):
        return
    for writer in uses.writers(container):
        owner = (
            writer.state.region.owner if isinstance(writer, Tasklet) and writer.state and writer.state.region else None
        )
        if isinstance(owner, Map) and not isinstance(elementwise_of(owner), str):
            rw.erase(owner)
    rw.undeclare_unused([container])


def _two_scalars(name: str, product: ScaledProduct, factor: Factor) -> str:
    return f"the product has another scalar as {name}" if name in product.inputs and factor.scalar is not None else ""


def _other_dtypes(uses: Uses, *containers: str) -> str:
    """Conversions are no part of a product, and neither is what "times" means for booleans."""
    dtypes = dict.fromkeys(uses.desc(name).dtype for name in containers)  # type: ignore[union-attr]
    if len(dtypes) > 1:
        return f"dtypes differ: {', '.join(map(str, dtypes))}"
    (dtype,) = dtypes
    if dtype in (types.bool_, types.float16):
        return f"{dtype} products are not scaled"
    return ""


def _containers(memlets: Mapping[str, Memlet]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(memlet.container for memlet in memlets.values()))


def _changed_between(first: Node, second: Node, containers: Iterable[str], uses: Uses) -> str:
    """Whether one of these containers, or what overlaps one, is written from `first` on, before `second`.

    `first` itself counts: a map that scales an array in place leaves nothing that the product could scale instead.
    """
    state = first.state
    if state is None:
        return "the node is in no state"
    seen = {name: container for container in containers for name in uses.overlapping(container)}
    for node in state.nodes[state.index(first) : state.index(second)]:
        for access in accesses_of(node):
            if access.is_write and access.container in seen:
                return f"{seen[access.container]!r} changes in between"
    return ""


def _read_elsewhere(reader: Map, container: str, uses: Uses) -> str:
    """Whether anything but a map reads a container."""
    inside = list(reader.body.walk_nodes())
    others = any(all(node is not element for node in inside) for element in uses.readers(container))
    return f"{container!r} is read elsewhere" if others else ""


def _looked_through(node: Map, result: str, uses: Uses) -> Elementwise | str:
    """The map's assignment; temporaries that other maps of the state computed are replaced by what they are."""
    found = elementwise_of(node)
    if isinstance(found, str) or node.state is None:
        return found
    before = node.state.nodes[: node.state.index(node)]
    for leaf, memlet in list(found.leaves.items()):
        fixed = all(name not in memlet.subset.symbols for name in node.params)
        if memlet.container == result or fixed or not uses.is_private(memlet.container):
            continue
        inlined = _inlined(found, leaf, node, before, uses)
        found = found if isinstance(inlined, str) else inlined
    return found


def _inlined(found: Elementwise, leaf: str, node: Map, before: list[Node], uses: Uses) -> Elementwise | str:
    memlet = found.leaves[leaf]
    writers = uses.writers(memlet.container)
    for producer in before:
        if not isinstance(producer, Map) or len(writers) != 1 or writers[0] not in list(producer.body.walk_nodes()):
            continue
        computed = elementwise_of(producer)
        if isinstance(computed, str):
            return computed
        problem = _changed_between(producer, node, _containers(computed.leaves), uses)
        written, read = box_of(computed.target, producer), box_of(memlet, node)
        if problem or written is None or read is None or written.subset != read.subset:
            return problem or f"{memlet.container!r} is not written just where it is read"
        return substituted(found, leaf, computed, producer.params)
    return f"{memlet.container!r} is not computed in this state"
