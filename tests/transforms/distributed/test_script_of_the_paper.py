"""The script of the paper's section 4, as printed there: gemm over ranks in three lines; and what they refuse."""

from __future__ import annotations

import functools

import numpy as np
import pytest

import dcpy
from dcpy import DistributeElementWiseArrayOp, RemoveRedundantComm
from dcpy.base.errors import TransformationRefused
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.distributed.grids.distribute_product import DistributeProduct
from tests.support.expect import expect
from tests.support.kernels_of_the_paper import SHAPES, annotated, arguments_for
from tests.support.ranks import check, localized

N, M, K = dcpy.symbol("N"), dcpy.symbol("M"), dcpy.symbol("K")


@dcpy.program
def gemm(alpha: dcpy.float64, beta: dcpy.float64, C: dcpy.float64[N, M], A: dcpy.float64[N, K], B: dcpy.float64[K, M]):
    C[:] = alpha * A @ B + beta * C


def test_gemm():
    dist_sdfg = gemm.to_sdfg()
    dist_sdfg.apply(DistributeElementWiseArrayOp)
    dist_sdfg.expand_library_nodes("PBLAS")
    before = copy_sdfg(dist_sdfg)
    dist_sdfg.apply(RemoveRedundantComm)

    text = str(dist_sdfg)
    assert text.count("home g(block 0") == 3  # all of the element-wise operations
    assert "grids(g[g_p0], pblas[pblas_p0, pblas_p1])" in text
    assert [line.strip() for line in text.splitlines() if "copy" in line] == [
        "copy tmp_part[0:N, 0:K] -> tmp_part_1[0:N, 0:K]",  # rows to blocks
        "copy B[0:K, 0:M] -> B_part[0:K, 0:M]",  # which takes no message
        "copy tmp_1_part[0:N, 0:M] -> tmp_1[0:N, 0:M]",  # blocks to rows
        "copy C_part[0:N, 0:M] -> C[0:N, 0:M]",
    ]
    draw = np.random.default_rng(1)
    locals_ = localized(before), localized(dist_sdfg)
    assert "pblas.gemm" in str(dcpy.SDFG.of(locals_[1]))
    for (px, py), n, m, k in (((2, 2), 5, 4, 7), ((3, 1), 7, 5, 3), ((7, 1), 3, 1, 2), ((2, 2), 0, 1, 0)):
        values = {"C": draw.uniform(size=(n, m)), "A": draw.uniform(size=(n, k)), "B": draw.uniform(size=(k, m))}
        arguments = {"alpha": 1.5, "beta": 1.25, **values}
        symbols = {"N": n, "M": m, "K": k, "g_p0": px * py, "pblas_p0": px, "pblas_p1": py}
        sent = [
            check(gemm.to_sdfg(), made, arguments, symbols, px * py, local=local, exact=False).messages
            for made, local in zip((before, dist_sdfg), locals_, strict=True)
        ]
        assert sent[1] < sent[0] or n == 0


def test_a_grid_with_two_axes_is_taken():
    sdfg = gemm.to_sdfg()
    sdfg.apply("distribute-element-wise", dims=2)
    sdfg.expand_library_nodes("PBLAS")
    sdfg.apply(RemoveRedundantComm)
    assert "grids(g[g_p0, g_p1])" in str(sdfg)
    assert str(sdfg).count("copy") == 2  # of B, which takes no message, and of the result


@pytest.mark.parametrize("node", [
    "blas.gemv (a <- A[0:N, 0:M], x <- y[0:M], y <- x[0:N], beta <- s) -> (y -> x[0:N]) {alpha = 2.0}",
    "blas.matmul (a <- x[0:N], b <- A[0:N, 0:M]) -> (c -> y[0:M])",
    "blas.gemm (a <- A[0:N, 0:M], b <- A[0:N, 0:M]) -> (c -> C[0:M, 0:M]) {trans_a = true}",
])  # fmt: skip
def test_products_of_all_kinds(node):
    head = "sdfg @f(A: f64[N, M], C: f64[M, M], x: f64[N], y: f64[M], s: f64)"
    sdfg = parse_sdfg(f"{head} symbols(N: size, M: size) {{ {node} }}")
    made = dcpy.SDFG.of(copy_sdfg(sdfg)).expand_library_nodes("PBLAS")
    local = localized(made)
    draw = np.random.default_rng(3)
    for (px, py), n, m in (((2, 2), 5, 3), ((3, 1), 7, 4), ((1, 3), 2, 1)):
        arguments = {"A": draw.uniform(size=(n, m)), "C": np.zeros((m, m)), "x": draw.uniform(size=n),
                     "y": draw.uniform(size=m), "s": 0.5}  # fmt: skip
        symbols = {"N": n, "M": m, "pblas_p0": px, "pblas_p1": py}
        check(sdfg, made, arguments, symbols, px * py + 1, local=local, exact=False)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("blas.dot (x <- x[0:N], y <- x[0:N]) -> (result -> s[])", "no product of two matrices, or of a matrix and"),
        ("blas.gemv (a <- B[0:N, 0:N], x <- x[0:N]) -> (y -> z[0:N])", "'B' is distributed already"),
        ("blas.gemv (a <- A[0:N, 0:N], x <- w[0:N]) -> (y -> z[0:N])", "all have to be of one dtype"),
        ("blas.gemv (a <- A[0:N:2, 0:N], x <- x[0:N]) -> (y -> z[0:(N + 1) // 2])", "is no block of an array"),
        ("map t = 0:2 { blas.gemv (a <- A[0:N, 0:N], x <- x[0:N]) -> (y -> z[0:N] (add)) }", "inside of a map"),
    ],
)
def test_what_is_not_put_on_a_grid(body, reason):
    head = "sdfg @f(A: f64[N, N], B: f64[N, N] on g(block 0, whole), w: f32[N], x: f64[N], z: f64[N], s: f64[])"
    sdfg = parse_sdfg(f"{head} symbols(N: size, P: size{{least = 1}}) grids(g[P]) {{ {body} }}")
    expect(DistributeProduct(), on=sdfg).is_refused(reason)
    with pytest.raises(TransformationRefused, match="distribute-product applies nowhere"):
        dcpy.SDFG.of(sdfg).expand_library_nodes("PBLAS")


#: kernel -> what of the script fits it as it is written: there are products outside of maps, or operations on elements
FITS = {
    "doitgen": ("distribute-element-wise",), "jacobi_1d": ("distribute-element-wise",),
    "jacobi_2d": ("distribute-element-wise",), "atax": ("PBLAS",), "bicg": ("PBLAS",), "k3mm": ("PBLAS",),
}  # fmt: skip


@functools.cache
def scripted(name):
    """The kernel as it is written, after the paper's script, and its local form."""
    sdfg = annotated(name).to_sdfg()
    made = dcpy.SDFG.of(copy_sdfg(sdfg))
    fits = FITS.get(name, ("distribute-element-wise", "PBLAS"))
    for step, run in (
        ("distribute-element-wise", lambda: made.apply(DistributeElementWiseArrayOp)),
        ("PBLAS", lambda: made.expand_library_nodes("PBLAS")),
    ):
        if step in fits:
            run()
        else:
            with pytest.raises(TransformationRefused, match="applies nowhere"):
                run()
    made.apply(RemoveRedundantComm)
    return sdfg, made, localized(made)


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize(("px", "py"), [(2, 2), (3, 1), (7, 1)])
def test_the_kernels_of_the_paper(name, px, py):
    sdfg, made, local = scripted(name)
    for n in (11, 7, 3):
        sizes = {"N": n, "M": n - 2, "K": 5, "L": 4, "T": 2}
        symbols = {key: size for key, size in sizes.items() if key in sdfg.symbols}
        symbols |= {"g_p0": px * py, "pblas_p0": px, "pblas_p1": py}
        check(sdfg, made, arguments_for(name, sizes), symbols, px * py, local=local, exact=name.startswith("jacobi"))
