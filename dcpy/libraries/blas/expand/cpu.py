"""Products of matrices and vectors as loops for CPUs, for every dtype.

`libraries.contraction.cpu` orders the loops so that the innermost one runs along memory: i-k-j for matrices in C order.
The loops are also what the cblas expansions fall back to (`libraries.blas.expand.cblas`).
"""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.schedules import SEQUENTIAL
from dcpy.libraries.api import Fragment, Operand, expands
from dcpy.libraries.blas.expand import product_contractions
from dcpy.libraries.blas.nodes import Dot, Gemm, Gemv, Ger
from dcpy.libraries.contraction.cpu import GROUP, contract
from dcpy.libraries.contraction.register_tiling import register_tiles


@expands(Gemm, "cpu", on=("cpu",))
def gemm(node: Gemm, f: Fragment) -> None:
    """Loops over rows, the summed dimension, columns."""
    gemm_loops(node, f, f.output("c"))


@expands(Gemv, "cpu", on=("cpu",))
def gemv(node: Gemv, f: Fragment) -> None:
    """A dot product per row, or a sum of columns, whichever runs along memory."""
    gemv_loops(node, f, f.output("y"))


@expands(Dot, "cpu", on=("cpu",))
def dot(node: Dot, f: Fragment) -> None:
    """A sum of products, in parallel blocks."""
    dot_loops(node, f, f.output("result"))


def gemm_loops(node: Gemm, f: Fragment, c: Operand) -> None:
    """``c[i, j]``, summed over k."""
    contract(f, product_contractions.gemm(node, f, c, short=True))


def small_gemm_loops(node: Gemm, f: Fragment, c: Operand) -> None:
    """The same for a few rows, columns and terms, on one thread."""
    spec = replace(product_contractions.gemm(node, f, c, short=True), inner=2)
    register_tiles(f, spec, GROUP, schedule=SEQUENTIAL)


def gemv_loops(node: Gemv, f: Fragment, y: Operand) -> None:
    """``y[i]``, summed over k."""
    contract(f, product_contractions.gemv(node, f, y, short=True))


def dot_loops(node: Dot, f: Fragment, result: Operand) -> None:
    """``result``, summed over k."""
    contract(f, product_contractions.dot(node, f, result, short=True))


def ger_loops(node: Ger, f: Fragment, a: Operand) -> None:
    """``a[i, j]``, nothing summed."""
    contract(f, product_contractions.ger(node, f, a))
