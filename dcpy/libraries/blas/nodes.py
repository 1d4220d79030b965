"""The library nodes of basic linear algebra. How they are computed is in `libraries.blas.expand`.

`MatMul` is NumPy's ``@``: what the frontend emits. The others are what BLAS knows; `libraries.blas.expand.matmul` turns
the one into the others, and `libraries.blas.passes.gemm_epilogues` moves factors, sums and transposes into them.

All accumulate in the output's dtype (float16 in float32, as NumPy), a product of booleans is "or" over "and", and an
input connector that is missing is never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, Ranges
from dcpy.libraries.blas.numpy_semantics import updated

Arrays = Mapping[str, np.ndarray[Any, Any]]


@dataclass(eq=False)
class MatMul(LibraryNode):
    """``c = a @ b`` for operands of one or two dimensions, with NumPy's meaning; two vectors give a 0-d ``c``."""

    kind = "blas.matmul"

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """``np.matmul``."""
        c = outputs["c"]
        c[...] = np.matmul(inputs["a"], inputs["b"]).astype(c.dtype)

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """``ik,kj->ij``, without what a vector does not have."""
        a, b = (len(self.inputs[name].subset.shape) for name in ("a", "b"))
        left, right = ("i", "k")[2 - a :], ("k", "j")[:b]
        return {"a": left, "b": right, "c": (*left[:-1], *right[1:])}

    @property
    def combination(self) -> str:
        return "add"

    def problems(self) -> Iterator[str]:
        """Ranks other than 1 and 2, sizes that do not agree."""
        wrong = list(_connector_problems(self, ("a", "b"), (), "c"))
        yield from wrong
        if wrong:
            return
        a, b = self.inputs["a"].subset.shape, self.inputs["b"].subset.shape
        if not {len(a), len(b)} <= {1, 2}:
            yield f"takes one or two dimensions, not {len(a)} and {len(b)}"
            return
        yield from _size_problems("a and b", a[-1:], b[:1])
        yield from _size_problems("the output", self.outputs["c"].subset.shape, (*a[:-1], *b[1:]))


@dataclass(eq=False)
class ScaledProduct(LibraryNode):
    """Common base of `Gemm` and `Gemv`: ``out = alpha * product + beta * out``.

    The factors are numbers, each multiplied with the scalar input of the same name if there is one. The summand is
    there where the input named like the output is; its memlet equals the output's: BLAS updates in place.
    """

    summand: ClassVar[str] = ""

    alpha: complex = 1
    beta: complex = 1

    @property
    def combination(self) -> str:
        return "add"


@dataclass(eq=False)
class Gemm(ScaledProduct):
    """``c = alpha * op(a) @ op(b) + beta * c``, where ``op`` transposes where `trans_a`, `trans_b` say so."""

    kind = "blas.gemm"
    summand = "c"
    trans_a: bool = False
    trans_b: bool = False

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """The formula, in NumPy."""
        a = inputs["a"].T if self.trans_a else inputs["a"]
        b = inputs["b"].T if self.trans_b else inputs["b"]
        updated(self, np.matmul(a, b), inputs, outputs["c"], "c")

    def problems(self) -> Iterator[str]:
        """Wrong connectors and ranks, sizes that do not agree."""
        wrong = _operand_problems(self, {"a": 2, "b": 2}, ("c", "alpha", "beta"), "c", 2)
        yield from wrong
        if not wrong:
            a, b = self.operand_shape("a", self.trans_a), self.operand_shape("b", self.trans_b)
            yield from _size_problems("a and b", a[1:], b[:1])
            yield from _size_problems("the output", self.outputs["c"].subset.shape, (a[0], b[1]))
        yield from _update_problems(self, "c")

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """``ik,kj->ij``, transposed operands the other way round; factors have none."""
        a, b = ("k", "i") if self.trans_a else ("i", "k"), ("j", "k") if self.trans_b else ("k", "j")
        return {"a": a, "b": b, "c": ("i", "j"), "alpha": (), "beta": ()}

    def operand_shape(self, connector: str, transposed: bool) -> tuple[Expr, ...]:
        """The sizes of an operand after its transposition."""
        shape = self.inputs[connector].subset.shape
        return shape[::-1] if transposed else shape


@dataclass(eq=False)
class BatchedGemm(ScaledProduct):
    """``c[l] = alpha * op(a[l]) @ op(b[l]) + beta * c[l]`` for all l; a factor of two dimensions is that of each l."""

    kind = "blas.batched_gemm"
    summand = "c"
    trans_a: bool = False
    trans_b: bool = False

    def one(self, index: Expr, out: Memlet | None = None) -> Gemm:
        """One of the products, which writes to the output, or to another place for all of them."""

        def at(memlet: Memlet) -> Memlet:
            shape = memlet.subset.shape
            part = Subset((index, *(Range(ZERO, size) for size in shape[1:])))
            return replace(memlet, subset=memlet.subset.compose(part)) if len(shape) == 3 else memlet

        out = out or self.outputs["c"]
        inputs = {name: at(out if name == "c" else memlet) for name, memlet in self.inputs.items()}
        flags = {"trans_a": self.trans_a, "trans_b": self.trans_b}
        return Gemm(inputs, {"c": at(out)}, alpha=self.alpha, beta=self.beta, **flags, span=self.span)

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """The formula, in NumPy."""
        a = inputs["a"].swapaxes(-2, -1) if self.trans_a else inputs["a"]
        b = inputs["b"].swapaxes(-2, -1) if self.trans_b else inputs["b"]
        updated(self, np.matmul(a, b), inputs, outputs["c"], "c")

    def problems(self) -> Iterator[str]:
        """The problems of one product, and stacks of different sizes."""
        wrong = list(_connector_problems(self, ("a", "b"), ("c", "alpha", "beta"), "c"))
        yield from wrong
        if wrong:
            return
        shapes = {name: memlet.subset.shape for name, memlet in (self.inputs | self.outputs).items()}
        if len(shapes["c"]) != 3 or not all(len(shapes[name]) in (2, 3) for name in ("a", "b")):
            yield "wants stacks of matrices for c, and for a and b those or matrices"
            return
        for name in ("a", "b"):
            if len(shapes[name]) == 3:
                yield from _size_problems(f"{name} and the output", shapes[name][:1], shapes["c"][:1])
        yield from self.one(ZERO).problems()
        yield from _update_problems(self, "c")

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """``lik,lkj->lij``; a factor of two dimensions has no ``l``."""
        one = self.one(ZERO).index_labels()
        stacked = {name for name in ("a", "b") if len(self.inputs[name].subset.shape) == 3} | {"c"}
        return {name: ("l", *found) if name in stacked else found for name, found in one.items()}


@dataclass(eq=False)
class Gemv(ScaledProduct):
    """``y = alpha * op(a) @ x + beta * y`` with a matrix ``a`` and vectors."""

    kind = "blas.gemv"
    summand = "y"
    trans_a: bool = False

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """The formula, in NumPy."""
        a = inputs["a"].T if self.trans_a else inputs["a"]
        updated(self, np.matmul(a, inputs["x"]), inputs, outputs["y"], "y")

    def problems(self) -> Iterator[str]:
        """Wrong connectors and ranks, sizes that do not agree."""
        wrong = _operand_problems(self, {"a": 2, "x": 1}, ("y", "alpha", "beta"), "y", 1)
        yield from wrong
        if not wrong:
            shape = self.inputs["a"].subset.shape
            rows, columns = shape[::-1] if self.trans_a else shape
            yield from _size_problems("a and x", (columns,), self.inputs["x"].subset.shape)
            yield from _size_problems("the output", self.outputs["y"].subset.shape, (rows,))
        yield from _update_problems(self, "y")

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """``ik,k->i``."""
        return {"a": ("k", "i") if self.trans_a else ("i", "k"), "x": ("k",), "y": ("i",), "alpha": (), "beta": ()}


@dataclass(eq=False)
class GemvPair(LibraryNode):
    """``y = alpha_y * a @ x + beta_y * y`` and ``z = alpha_z * a.T @ w + beta_z * z``: products that read one matrix.

    As with `Gemv`, factors are numbers times the scalar inputs of the same name, and a summand is there where the input
    named like the output is. Without an input ``w``, it is the new ``y``: the second product is of the first one.
    """

    kind = "blas.gemv_pair"
    alpha_y: complex = 1
    beta_y: complex = 1
    alpha_z: complex = 1
    beta_z: complex = 1

    def part(self, output: str) -> Gemv:
        """One of the two products, ``y`` or ``z``, alone."""
        vector = {"y": "x", "z": "w"}[output]
        known = {"a": "a", vector: "x", output: "y", f"alpha_{output}": "alpha", f"beta_{output}": "beta"}
        inputs = {name: self.inputs[mine] for mine, name in known.items() if mine in self.inputs}
        inputs.setdefault("x", self.outputs["y"])
        alpha, beta = getattr(self, f"alpha_{output}"), getattr(self, f"beta_{output}")
        outputs = {"y": self.outputs[output]}
        return Gemv(inputs, outputs, alpha=alpha, beta=beta, trans_a=output == "z", span=self.span)

    @property
    def is_chain(self) -> bool:
        """Return whether the second product is of the first one's result."""
        return "w" not in self.inputs

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """Compute both formulas, in NumPy."""
        inputs = {"w": outputs["y"], **inputs}
        for output, vector in (("y", "x"), ("z", "w")):
            known = {"y": output, "alpha": f"alpha_{output}", "beta": f"beta_{output}"}
            mine = {name: inputs[given] for name, given in known.items() if given in inputs}
            a = inputs["a"].T if output == "z" else inputs["a"]
            updated(self.part(output), np.matmul(a, inputs[vector]), mine, outputs[output], "y")

    def problems(self) -> Iterator[str]:
        """The problems of its parts, and connectors that it has not."""
        known = ("a", "x", "w", "y", "z", "alpha_y", "beta_y", "alpha_z", "beta_z")
        wrong = [name for name in self.inputs if name not in known]
        if wrong or set(self.outputs) != {"y", "z"} or not {"a", "x"} <= set(self.inputs):
            yield f"has the connectors a, x, perhaps w -> y, z, not {', '.join((*self.inputs, *self.outputs))}"
            return
        yield from self.part("y").problems()
        yield from self.part("z").problems()


@dataclass(eq=False)
class Dot(LibraryNode):
    """``result = sum(x * y)`` of two vectors, nothing conjugated; ``result`` is 0-d."""

    kind = "blas.dot"

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """``np.dot``."""
        result = outputs["result"]
        result[...] = np.dot(inputs["x"], inputs["y"]).astype(result.dtype)

    def problems(self) -> Iterator[str]:
        """Wrong connectors and ranks, vectors of different sizes."""
        wrong = _operand_problems(self, {"x": 1, "y": 1}, (), "result", 0)
        yield from wrong
        if not wrong:
            yield from _size_problems("x and y", self.inputs["x"].subset.shape, self.inputs["y"].subset.shape)

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """``k,k->``."""
        return {"x": ("k",), "y": ("k",), "result": ()}

    @property
    def combination(self) -> str:
        return "add"


@dataclass(eq=False)
class Ger(LibraryNode):
    """``a = alpha * outer(x, y) + a``, nothing conjugated; the summand is there where the input ``a`` is."""

    kind = "blas.ger"
    alpha: complex = 1

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """The formula, in NumPy."""
        updated(self, np.multiply.outer(inputs["x"], inputs["y"]), inputs, outputs["a"], "a")

    def problems(self) -> Iterator[str]:
        """Wrong connectors and ranks, sizes that do not agree."""
        wrong = _operand_problems(self, {"x": 1, "y": 1}, ("a", "alpha"), "a", 2)
        yield from wrong
        if not wrong:
            sizes = (*self.inputs["x"].subset.shape, *self.inputs["y"].subset.shape)
            yield from _size_problems("the output", self.outputs["a"].subset.shape, sizes)
        yield from _update_problems(self, "a")

    def index_labels(self) -> Mapping[str, tuple[str, ...]]:
        """``i,j->ij``; a factor has none."""
        return {"x": ("i",), "y": ("j",), "a": ("i", "j"), "alpha": ()}


def _operand_problems(
    node: LibraryNode, needed: Mapping[str, int], optional: Sequence[str], output: str, rank: int
) -> list[str]:
    """Connectors that are missing or unknown; operands and an output of other ranks than these."""
    connectors = _connector_problems(node, tuple(needed), optional, output)
    return [*connectors, *_rank_problems(node, {**needed, output: rank})]


def _connector_problems(
    node: LibraryNode, needed: Sequence[str], optional: Sequence[str], output: str
) -> Iterator[str]:
    missing = [name for name in needed if name not in node.inputs]
    unknown = [name for name in node.inputs if name not in (*needed, *optional)]
    if missing:
        yield f"lacks the input {', '.join(missing)}"
    if unknown:
        yield f"has no input {', '.join(unknown)}"
    if tuple(node.outputs) != (output,):
        yield f"has the one output {output}, not {', '.join(node.outputs) or 'none'}"


def _rank_problems(node: LibraryNode, ranks: Mapping[str, int]) -> Iterator[str]:
    """Operands whose rank is not as listed; scalar inputs have rank 0."""
    for table in (node.inputs, node.outputs):
        for name, memlet in table.items():
            rank, wanted = len(memlet.subset.shape), ranks.get(name, 0)
            if rank != wanted:
                yield f"wants {wanted} dimensions for {name}, not {rank}"


def _size_problems(what: str, sizes: Sequence[Expr], wanted: Sequence[Expr]) -> Iterator[str]:
    differ = len(sizes) != len(wanted) or any(
        Ranges().proves_ne(size, other) for size, other in zip(sizes, wanted, strict=True)
    )
    if differ:
        yield f"sizes of {what} do not agree: [{', '.join(map(str, sizes))}] and [{', '.join(map(str, wanted))}]"


def _update_problems(node: LibraryNode, summand: str) -> Iterator[str]:
    """The summand is read from where the output is written: BLAS updates in place."""
    before: Memlet | None = node.inputs.get(summand)
    after: Memlet | None = node.outputs.get(summand)
    moved = before and after and (before.container, before.subset) != (after.container, after.subset)
    if moved:
        yield f"updates {summand} in place, but reads {before} and writes {after}"
    if before is None and "beta" in node.inputs:
        yield f"scales {summand} by beta, but does not read it"
