"""The library nodes of solvers and decompositions, of one matrix each. How to compute them: `libraries.lapack.expand`.

`meaning` is NumPy's function. Where NumPy would raise ``LinAlgError``, the output ``info`` (int32) is not 0 and the
other outputs are undefined: the frontend puts a check behind the node. All operands have one dtype, one of the four
that LAPACK has; singular values and eigenvalues of Hermitian matrices are of its real dtype.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.symbolic import Expr, Ranges, max_of, min_of

Matrix = np.ndarray[Any, Any]
Arrays = Mapping[str, Matrix]
Shapes = dict[str, str]  # connector -> names of its sizes: "m n"; "min", "max" and "p" are of m and n


@dataclass(eq=False)
class LapackNode(LibraryNode):
    """Common base of LAPACK nodes: outputs from NumPy's results, sizes from `shapes`."""

    def shapes(self) -> Shapes:
        """The sizes of each connector, all that the node can have."""
        raise NotImplementedError

    @property
    def matrix(self) -> str:
        """The input whose dtype is that of the whole node."""
        return next(iter(self.shapes()))

    def optional(self) -> tuple[str, ...]:
        """Outputs that need not be there."""
        return ()

    def results(self, inputs: Arrays) -> Arrays:
        """The outputs but for ``info``, by NumPy; may raise ``LinAlgError``."""
        raise NotImplementedError

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """`results`, or an ``info`` that is not 0."""
        try:
            with np.errstate(all="ignore"):
                found = dict(self.results(inputs))
        except np.linalg.LinAlgError:
            outputs["info"][...] = 1
            return
        for name, out in outputs.items():
            out[...] = found.get(name, 0)

    def problems(self) -> Iterator[str]:
        """Connectors that are missing or unknown, ranks and sizes that do not agree."""
        shapes, optional = self.shapes(), self.optional()
        connectors = self.inputs | self.outputs
        missing = [name for name in shapes if name not in connectors and name not in optional]
        unknown = [name for name in connectors if name not in shapes]
        if missing or unknown:
            yield f"has the connectors {', '.join(shapes)}, not {', '.join(connectors)}"
            return
        sizes: dict[str, Expr] = {}
        for name, memlet in connectors.items():
            yield from _size_problems(name, memlet, shapes[name].split(), sizes)


def _size_problems(name: str, memlet: Memlet, wanted: list[str], sizes: dict[str, Expr]) -> Iterator[str]:
    shape = memlet.subset.shape
    if len(shape) != len(wanted):
        yield f"wants {len(wanted)} dimensions for {name}, not {len(shape)}"
        return
    for size, letter in zip(shape, wanted, strict=True):
        if letter in ("min", "max") and {"m", "n"} <= set(sizes):
            sizes[letter] = (min_of if letter == "min" else max_of)(sizes["m"], sizes["n"])
        if Ranges().proves_ne(sizes.setdefault(letter, size), size):
            yield f"sizes do not agree: {name} has {size} where {sizes[letter]} is needed"


@dataclass(eq=False)
class Cholesky(LapackNode):
    """``a = l @ l^H`` with a lower triangle ``l`` (`upper`: ``a = l^H @ l``); reads just that triangle of ``a``."""

    kind = "lapack.cholesky"
    upper: bool = False

    def shapes(self) -> Shapes:
        return {"a": "n n", "l": "n n", "info": ""}

    def results(self, inputs: Arrays) -> Arrays:
        return {"l": np.linalg.cholesky(inputs["a"], upper=self.upper)}


@dataclass(eq=False)
class Lu(LapackNode):
    """``lu`` holds the triangles of ``P a = L U`` (the diagonal of L is 1); row i was swapped with ``pivots[i] - 1``.

    ``info`` is the first i for which ``U[i-1, i-1]`` is 0, or 0; the factors are defined in any case.
    """

    kind = "lapack.lu"

    def shapes(self) -> Shapes:
        return {"a": "m n", "lu": "m n", "pivots": "min", "info": ""}

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """Gaussian elimination with the largest pivot of each column."""
        outputs["info"][...] = 0
        lu = inputs["a"].copy()
        with np.errstate(all="ignore"):
            for k in range(min(lu.shape)):
                p = k + int(np.argmax(np.abs(lu[k:, k].real) + np.abs(lu[k:, k].imag)))
                outputs["pivots"][k] = p + 1
                lu[[k, p]] = lu[[p, k]]
                if lu[k, k] == 0:
                    outputs["info"][...] = outputs["info"] or k + 1
                    continue
                lu[k + 1 :, k] /= lu[k, k]
                lu[k + 1 :, k + 1 :] -= np.outer(lu[k + 1 :, k], lu[k, k + 1 :])
        outputs["lu"][...] = lu


@dataclass(eq=False)
class SolveTriangular(LapackNode):
    """``a @ x = b`` with a triangle ``a`` (`lower` or upper; `unit`: its diagonal is 1); no pivot is tested for 0."""

    kind = "lapack.solve_triangular"
    lower: bool = False
    unit: bool = False

    def shapes(self) -> Shapes:
        rest = " k" * (_rank(self, "b") - 1)
        return {"a": "n n", "b": f"n{rest}", "x": f"n{rest}"}

    def results(self, inputs: Arrays) -> Arrays:
        return {"x": _substituted(inputs["a"], inputs["b"], lower=self.lower, unit=self.unit)}


def _substituted(a: Matrix, b: Matrix, *, lower: bool = False, unit: bool = False) -> Matrix:
    """The solution of ``a @ x = b``, row by row, for a triangle ``a``."""
    x = b.copy()
    for i in range(len(a)) if lower else range(len(a))[::-1]:
        known = slice(None, i) if lower else slice(i + 1, None)
        x[i] -= a[i, known] @ x[known]
        if not unit:
            x[i] /= a[i, i]
    return x


@dataclass(eq=False)
class LuSolve(LapackNode):
    """``a @ x = b`` for a vector or the columns of a matrix ``b``; `Lu` has made ``lu`` and ``pivots`` of ``a``.

    One decomposition serves any number of right sides. No diagonal element of U is tested for 0.
    """

    kind = "lapack.lu_solve"

    def shapes(self) -> Shapes:
        rest = " k" * (_rank(self, "b") - 1)
        return {"lu": "n n", "pivots": "n", "b": f"n{rest}", "x": f"n{rest}"}

    def results(self, inputs: Arrays) -> Arrays:
        lu, swapped = inputs["lu"], inputs["b"].copy()
        for i, pivot in enumerate(inputs["pivots"]):
            swapped[[i, pivot - 1]] = swapped[[pivot - 1, i]]
        return {"x": _substituted(lu, _substituted(lu, swapped, lower=True, unit=True))}


@dataclass(eq=False)
class Solve(LapackNode):
    """``a @ x = b`` for a vector or for the columns of a matrix ``b``."""

    kind = "lapack.solve"

    def shapes(self) -> Shapes:
        rest = " k" * (_rank(self, "b") - 1)
        return {"a": "n n", "b": f"n{rest}", "x": f"n{rest}", "info": ""}

    def results(self, inputs: Arrays) -> Arrays:
        return {"x": np.linalg.solve(inputs["a"], inputs["b"])}


@dataclass(eq=False)
class Inverse(LapackNode):
    """``inverse @ a = 1``."""

    kind = "lapack.inverse"

    def shapes(self) -> Shapes:
        return {"a": "n n", "inverse": "n n", "info": ""}

    def results(self, inputs: Arrays) -> Arrays:
        return {"inverse": np.linalg.inv(inputs["a"])}


@dataclass(eq=False)
class Slogdet(LapackNode):
    """The determinant is ``sign * exp(logdet)``; ``logdet`` is real."""

    kind = "lapack.slogdet"

    def shapes(self) -> Shapes:
        return {"a": "n n", "sign": "", "logdet": ""}

    def results(self, inputs: Arrays) -> Arrays:
        found = np.linalg.slogdet(inputs["a"])
        return {"sign": np.asarray(found.sign), "logdet": np.asarray(found.logabsdet)}


@dataclass(eq=False)
class Qr(LapackNode):
    """``a = q @ r`` with orthonormal columns of ``q`` and an upper triangle ``r``; `complete`: ``q`` is square."""

    kind = "lapack.qr"
    complete: bool = False

    def shapes(self) -> Shapes:
        inner = "m" if self.complete else "min"
        return {"a": "m n", "q": f"m {inner}", "r": f"{inner} n"}

    def optional(self) -> tuple[str, ...]:
        return ("q",)

    def results(self, inputs: Arrays) -> Arrays:
        q, r = np.linalg.qr(inputs["a"], "complete" if self.complete else "reduced")
        return {"q": q, "r": r}


@dataclass(eq=False)
class Svd(LapackNode):
    """``a = u @ diag(s) @ vt``, ``s`` falling; `full`: ``u`` and ``vt`` are square. Both of them or none."""

    kind = "lapack.svd"
    full: bool = False

    def shapes(self) -> Shapes:
        rows, columns = ("m", "n") if self.full else ("min", "min")
        return {"a": "m n", "u": f"m {rows}", "s": "min", "vt": f"{columns} n", "info": ""}

    def optional(self) -> tuple[str, ...]:
        return () if {"u", "vt"} & set(self.outputs) else ("u", "vt")

    def results(self, inputs: Arrays) -> Arrays:
        if "u" not in self.outputs:
            return {"s": np.linalg.svd(inputs["a"], compute_uv=False)}
        u, s, vt = np.linalg.svd(inputs["a"], full_matrices=self.full)
        return {"u": u, "s": s, "vt": vt}


@dataclass(eq=False)
class Eigh(LapackNode):
    """Eigenvalues ``w``, rising, and vectors ``v`` of a Hermitian matrix, of which one triangle is read."""

    kind = "lapack.eigh"
    upper: bool = False

    def shapes(self) -> Shapes:
        return {"a": "n n", "w": "n", "v": "n n", "info": ""}

    def optional(self) -> tuple[str, ...]:
        return ("v",)

    def results(self, inputs: Arrays) -> Arrays:
        triangle: Literal["U", "L"] = "U" if self.upper else "L"
        if "v" not in self.outputs:
            return {"w": np.linalg.eigvalsh(inputs["a"], triangle)}
        w, v = np.linalg.eigh(inputs["a"], triangle)
        return {"w": w, "v": v}


@dataclass(eq=False)
class Eig(LapackNode):
    """Eigenvalues ``w`` and vectors ``v`` of a complex matrix."""

    kind = "lapack.eig"

    def shapes(self) -> Shapes:
        return {"a": "n n", "w": "n", "v": "n n", "info": ""}

    def optional(self) -> tuple[str, ...]:
        return ("v",)

    def results(self, inputs: Arrays) -> Arrays:
        if "v" not in self.outputs:
            return {"w": np.linalg.eigvals(inputs["a"])}
        w, v = np.linalg.eig(inputs["a"])
        return {"w": w, "v": v}


@dataclass(eq=False)
class Lstsq(LapackNode):
    """The shortest ``x`` for which ``b - a @ x`` is shortest, column by column.

    Singular values ``s`` below ``rcond`` times the first count as 0; ``rank`` (int32) is how many do not. Where all
    count and there are more rows than columns, ``residuals`` are the squared lengths of the columns of ``b - a @ x``.
    """

    kind = "lapack.lstsq"

    def shapes(self) -> Shapes:
        outputs = {"x": "n k", "residuals": "k", "rank": "", "s": "min", "info": ""}
        return {"a": "m n", "b": "m k", "rcond": "", **outputs}

    def results(self, inputs: Arrays) -> Arrays:
        x, residuals, rank, s = np.linalg.lstsq(inputs["a"], inputs["b"], rcond=float(inputs["rcond"]))
        known = residuals if len(residuals) else np.zeros(inputs["b"].shape[1])
        return {"x": x, "residuals": known, "rank": np.asarray(rank), "s": s}


def _rank(node: LibraryNode, connector: str) -> int:
    """Return the number of dimensions of an operand: 1 or 2."""
    return 1 if connector in node.inputs and len(node.inputs[connector].subset.shape) == 1 else 2
