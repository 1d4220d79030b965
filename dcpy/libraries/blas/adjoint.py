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
                yield Gemm({"a": seed, "b": value, **site.summand("a", "c")}, {"c": bar}, trans_b=True)
            case 2, 1:
                yield Ger({"x": seed, "y": value, **site.summand("a", "a")}, {"a": bar})
            case 1, 2:
                yield Gemv({"a": value, "x": seed, **site.summand("a", "y")}, {"y": bar})
            case _:
                yield _scaled(site, "a", seed, value)
    if "b" in site.bars:
        bar, value = site.bars["b"], site.values["a"]
        match a, b:
            case 2, 2:
                yield Gemm({"a": value, "b": seed, **site.summand("b", "c")}, {"c": bar}, trans_a=True)
            case 2, 1:
                yield Gemv({"a": value, "x": seed, **site.summand("b", "y")}, {"y": bar}, trans_a=True)
            case 1, 2:
                yield Ger({"x": value, "y": seed, **site.summand("b", "a")}, {"a": bar})
            case _:
                yield _scaled(site, "b", seed, value)


def _of_dot(node: Dot, site: AdjointSite) -> Iterator[Node]:
    """``x_bar += result_bar * y`` and ``y_bar += result_bar * x``."""
    for name, other in (("x", "y"), ("y", "x")):
        if name in site.bars:
            yield _scaled(site, name, site.seeds["result"], site.values[other])


def _scaled(site: AdjointSite, name: str, factor: Memlet, vector: Memlet) -> Node:
    """``bar += factor * vector``, for the adjoint of an input."""
    param, bar = site.fresh_name("k"), site.bars[name]
    place = Subset.point(sym(param))
    out, source = (Memlet(memlet.container, memlet.subset.compose(place)) for memlet in (bar, vector))
    dtype = site.desc_of(bar.container).dtype
    value = op("mul", Ref("f", dtype), Ref("v", dtype))
    inputs = {"v": source, "f": factor}
    if name not in site.fresh:
        inputs["p"] = out
        value = op("add", Ref("p", dtype), value)
    tasklet = Tasklet(inputs, {"out": out}, (("out", value),))
    return Map((param,), (Range(ZERO, vector.subset.shape[0]),), Region([State(nodes=[tasklet])]))


def _factors(node: Gemm | Gemv | BatchedGemm | Ger) -> tuple[str, ...]:
    """The operands of a product without a summand, and without factors that are inputs."""
    names = tuple(node.inputs)
    return names if len(names) == 2 else ()


MATMUL = DerivativeRule(lambda node: ("a", "b"), _of_matmul)
DOT = DerivativeRule(lambda node: ("x", "y"), _of_dot)
SCALED = DerivativeRule(_factors)
