"""Derivative rules of products: linear in each of their operands, and adjoint to each other."""

from __future__ import annotations

from collections.abc import Iterator

from dcpy.ir.expressions.scalar import Ref, op
from dcpy.ir.library.adjoints import AdjointSite, DerivativeRule
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Region, State
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, sym
from dcpy.libraries.blas.nodes import BatchedGemm, Dot, Gemm, Gemv, Ger, MatMul


def _of_matmul(node: MatMul, site: AdjointSite) -> Iterator[Node]:
    """``a_bar += c_bar @ b.T`` and ``b_bar += a.T @ c_bar``, with what vectors make of them."""
    a, b = (len(node.inputs[name].subset.shape) for name in ("a", "b"))
    seed = site.seeds["c"]
    if "a" in site.bars:
        bar, value = site.bars["a"], site.values["b"]
        match a, b:
            case 2, 2:
                yield Gemm({"a": seed, "b": value, "c": bar}, {"c": bar}, trans_b=True)
            case 2, 1:
                yield Ger({"x": seed, "y": value, "a": bar}, {"a": bar})
            case 1, 2:
                yield Gemv({"a": value, "x": seed, "y": bar}, {"y": bar})
            case _:
                yield _scaled(site, seed, value, bar)
    if "b" in site.bars:
        bar, value = site.bars["b"], site.values["a"]
        match a, b:
            case 2, 2:
                yield Gemm({"a": value, "b": seed, "c": bar}, {"c": bar}, trans_a=True)
            case 2, 1:
                yield Gemv({"a": value, "x": seed, "y": bar}, {"y": bar}, trans_a=True)
            case 1, 2:
                yield Ger({"x": value, "y": seed, "a": bar}, {"a": bar})
            case _:
                yield _scaled(site, seed, value, bar)


def _of_dot(node: Dot, site: AdjointSite) -> Iterator[Node]:
    """``x_bar += result_bar * y`` and ``y_bar += result_bar * x``."""
    for name, other in (("x", "y"), ("y", "x")):
        if name in site.bars:
            yield _scaled(site, site.seeds["result"], site.values[other], site.bars[name])


def _scaled(site: AdjointSite, factor: Memlet, vector: Memlet, bar: Memlet) -> Node:
    """``bar += factor * vector``."""
    name = site.fresh_name("k")
    place = Subset.point(sym(name))
    at = {key: Memlet(memlet.container, memlet.subset.compose(place)) for key, memlet in (("v", vector), ("p", bar))}
    dtype = site.desc_of(bar.container).dtype
    value = op("add", Ref("p", dtype), op("mul", Ref("f", dtype), Ref("v", dtype)))
    tasklet = Tasklet({**at, "f": factor}, {"out": at["p"]}, (("out", value),))
    return Map((name,), (Range(ZERO, vector.subset.shape[0]),), Region([State(nodes=[tasklet])]))


def _factors(node: Gemm | Gemv | BatchedGemm | Ger) -> tuple[str, ...]:
    """The operands of a product without a summand, and without factors that are inputs."""
    names = tuple(node.inputs)
    return names if len(names) == 2 else ()


MATMUL = DerivativeRule(lambda node: ("a", "b"), _of_matmul)
DOT = DerivativeRule(lambda node: ("x", "y"), _of_dot)
SCALED = DerivativeRule(_factors)
