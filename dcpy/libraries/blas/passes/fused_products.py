"""Fused products: two products of vectors with one matrix, ``A x`` and ``A^T y``, read the matrix once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from dcpy.ir.analysis.accesses.exposed_reads import exposed_accesses
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.libraries.blas.nodes import Gemv, GemvPair
from dcpy.libraries.blas.passes.batched_products import BatchProducts
from dcpy.libraries.blas.passes.gemv_producer_fusion import UpdatedProduct
from dcpy.transforms.api import Match, Refusal, Rewriter, Transformation, capture, one
from dcpy.transforms.pipeline import Pipeline


@dataclass(frozen=True)
class SinglePassProducts(Transformation[Gemv]):
    """Let two products that read one matrix be one, which reads it once.

    before   gemv (a <- A, x <- r) -> (y -> s) {trans_a}   after   gemv_pair (a <- A, x <- p, w <- r)
             gemv (a <- A, x <- p) -> (y -> q)                       -> (y -> q, z -> s)

    A product of a matrix and a vector costs what reading the matrix costs. Applies to two products of a state, of the
    same part of a matrix, one of them transposed, where neither needs what the other one or a node between them writes.
    The vector of the second may be the result of the first, ``A.T @ (A @ p)``: what a row of the matrix contributes to
    the second product needs that row's element of the first one only.
    """

    name: ClassVar[str] = "single-pass-products"
    first = capture(Gemv)
    pattern = one(first)

    def plan(self, m: Match) -> Gemv | Refusal:
        """The later product of the two, or why there is none."""
        first = m[self.first]
        nodes = list(m.state.nodes)
        behind = nodes[nodes.index(first) + 1 :]
        others = [node for node in behind if isinstance(node, Gemv) and node.inputs["a"] == first.inputs["a"]]
        if not others:
            return Refusal(f"no other product behind it in the state reads {first.inputs['a']}")
        second = next((node for node in others if node.trans_a != first.trans_a), None)
        if second is None:
            way = "columns" if first.trans_a else "rows"
            return Refusal(f"both products of {first.inputs['a']} go along its {way}")
        handed_on = second.inputs["x"] == first.outputs["y"]
        if handed_on and first.trans_a:
            return Refusal("what a row contributes to the second product needs all rows' contributions to the first")
        dtypes = {str(m.uses.desc(memlet.container).dtype) for node in (first, second) for memlet in _operands(node)}
        if len(dtypes) > 1:
            return Refusal(f"the operands have several dtypes: {', '.join(sorted(dtypes))}")
        for node in behind[: behind.index(second) + 1]:
            reason = _why_in_order(first, node, m.uses, handed_on and node is second)
            if reason:
                return Refusal(reason)
        return second

    def apply(self, m: Match, plan: Gemv, rw: Rewriter) -> Node:
        """Return the pair, which stands where the later product stood."""
        first = m[self.first]
        rows, columns = (plan, first) if first.trans_a else (first, plan)
        inputs = {"a": first.inputs["a"], "x": rows.inputs["x"]}
        if columns.inputs["x"] != rows.outputs["y"]:
            inputs["w"] = columns.inputs["x"]
        for output, node in (("y", rows), ("z", columns)):
            names = {"y": output, "alpha": f"alpha_{output}", "beta": f"beta_{output}"}
            inputs |= {names[name]: memlet for name, memlet in node.inputs.items() if name in names}
        pair = GemvPair(
            inputs,
            {"y": rows.outputs["y"], "z": columns.outputs["y"]},
            alpha_y=rows.alpha,
            beta_y=rows.beta,
            alpha_z=columns.alpha,
            beta_z=columns.beta,
            span=plan.span,
        )
        rw.replace(plan, pair)
        rw.erase(first)
        return pair


def _operands(node: Gemv) -> Sequence[Memlet]:
    """All but the factors."""
    return (node.inputs["a"], node.inputs["x"], node.outputs["y"])


def _why_in_order(first: Gemv, node: Node, uses: Uses, hands_on: bool = False) -> str:
    """Return why a product has to stay in front of a node behind it; "" where it may run with it, or later.

    Where it `hands_on` its result, that is what the product behind it may take as its vector.
    """
    result = uses.root(first.outputs["y"].container)
    behind = exposed_accesses(node, uses)
    for name, mine in exposed_accesses(first, uses).items():
        others = [known for other, known in behind.items() if other in uses.overlapping(name)]
        if mine.writes and others and not (hands_on and name == result and _is_vector_only(node, result, uses)):
            return f"{name!r}, which it writes, is touched by what is behind it"
        if any(other.writes for other in others):
            return f"{name!r}, which it reads, is written by what is behind it"
    return ""


def _is_vector_only(node: Node, result: str, uses: Uses) -> bool:
    """Return whether a product touches a container as its vector, and in no other way."""
    if not isinstance(node, Gemv):
        return False
    near = uses.overlapping(result)
    accessed = [*((name, memlet) for name, memlet in node.inputs.items() if name != "x"), *node.outputs.items()]
    return not any(uses.root(memlet.container) in near for _, memlet in accessed)


FOR_DEVICES = Pipeline("single-pass", SinglePassProducts(), UpdatedProduct(), BatchProducts())
