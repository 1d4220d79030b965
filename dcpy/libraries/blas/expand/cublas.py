"""Products through cuBLAS or hipBLAS, in NumPy's precision.

`Gemm` of two matrices that are one, transposed, takes half the work, as NumPy does: `syrk`. A library does not look at
what it scales by 0, where NaN may be: such products are maps, and where a factor is known at run time only, the program
asks for it. Products of matrices and vectors move each element once, as kernels of dcpy's own do, which can be fused:
a library is called only where it is chosen by name.
"""

from __future__ import annotations

from functools import partial

from dcpy.ir.expressions.scalar import Index, ScalarExpr
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ZERO, product_of
from dcpy.libraries.api import Fragment, expands
from dcpy.libraries.blas.expand import product_contractions
from dcpy.libraries.blas.expand.cblas import Matrix, mirrored, start_from_summand
from dcpy.libraries.blas.nodes import BatchedGemm, Dot, Gemm, Gemv, Ger
from dcpy.libraries.contraction.maps import contract
from dcpy.libraries.vendor.call_operands import ON_DEVICE, TRANSPOSED, VendorCall, number, operation, real

ENVIRONMENT = "gpu.blas"
SMALL = 64**3  #: multiplications; up to here a kernel of dcpy's own is as quick as the call, and can be fused


@expands(Gemm, "cublas", environment=ENVIRONMENT, on=ON_DEVICE, fuses=False)
def gemm(node: Gemm, f: Fragment) -> None:
    """``gemm``, or ``syrk`` and the other half."""
    out = f.output("c")
    call = VendorCall(f, out.dtype)
    has_c = "c" in node.inputs
    a, b = call.matrix(f.input("a")), call.matrix(f.input("b"))
    a, b = a.T if node.trans_a else a, b.T if node.trans_b else b
    work = product_of(a.rows, a.columns, b.columns).constant
    if work is not None and work <= SMALL:
        f.decline(f"{work} multiplications are work for a kernel of dcpy's own, which can be fused")
    start_from_summand(f, out, "c")
    c = call.matrix(out, written=True, summed_up=has_c)
    by_columns = c.is_transposed
    if by_columns:
        a, b, c = b.T, a.T, c.T
    call.not_zero("alpha")
    if has_c:
        call.not_zero("beta")

    def loops() -> None:
        contract(f, product_contractions.gemm(node, f, out))

    if not has_c and a == b.T:
        call.emit(partial(_syrk, call, a, c), loops, lambda: mirrored(f, out, by_columns))
    else:
        call.emit(partial(_gemm, call, a, b, c, has_c), loops)


def _gemm(call: VendorCall, a: Matrix, b: Matrix, c: Matrix, has_c: bool) -> ForeignCall:
    """Multiply matrices stored by rows, which the library reads by columns: ``cᵀ = bᵀ aᵀ``."""
    alpha, beta = call.parts("alpha"), call.parts("beta") if has_c else (real(0), real(0))
    sizes = (call.size(c.columns), call.size(c.rows), call.size(a.columns))
    arguments: tuple[str | ScalarExpr, ...] = (
        call.type, operation(b), operation(a), *sizes,
        *alpha, "b", call.size(b.ld), "a", call.size(a.ld), *beta, "c", call.size(c.ld),
    )  # fmt: skip
    inputs = {"a": a.memlet, "b": b.memlet, **({"c": c.memlet} if has_c else {}), **call.inputs}
    return ForeignCall("dcpy_gemm", arguments, inputs, {"c": c.memlet}, ENVIRONMENT)


@expands(BatchedGemm, "maps", fuses=False)
def batched_gemm_apart(node: BatchedGemm, f: Fragment) -> None:
    """A map of products."""
    with f.map(Range(ZERO, node.outputs["c"].subset.shape[0])) as index:
        f.add(node.one(index))


@expands(BatchedGemm, "cublas", environment=ENVIRONMENT, on=ON_DEVICE, fuses=False)
def batched_gemm(node: BatchedGemm, f: Fragment) -> None:
    """``gemmStridedBatched``."""
    out = f.output("c")
    call = VendorCall(f, out.dtype)
    has_c, count = "c" in node.inputs, out.shape[0]
    (a, far_a), (b, far_b) = call.stack(f.input("a")), call.stack(f.input("b"))
    a, b = a.T if node.trans_a else a, b.T if node.trans_b else b
    work = product_of(count, a.rows, a.columns, b.columns).constant
    if work is not None and work <= SMALL:
        f.decline(f"{work} multiplications are work for a kernel of dcpy's own, which can be fused")
    start_from_summand(f, out, "c")
    c, far_c = call.stack(out, written=True, summed_up=has_c)
    if c.is_transposed:
        a, b, c, far_a, far_b = b.T, a.T, c.T, far_b, far_a
    call.not_zero("alpha")
    if has_c:
        call.not_zero("beta")

    def foreign() -> ForeignCall:
        alpha, beta = call.parts("alpha"), call.parts("beta") if has_c else (real(0), real(0))
        sizes = (call.size(c.columns), call.size(c.rows), call.size(a.columns))
        places = (
            "b", call.size(b.ld), Index(far_b), "a", call.size(a.ld), Index(far_a),
            *beta, "c", call.size(c.ld), Index(far_c), call.size(count),
        )  # fmt: skip
        arguments: tuple[str | ScalarExpr, ...] = (call.type, operation(b), operation(a), *sizes, *alpha, *places)
        inputs = {"a": a.memlet, "b": b.memlet, **({"c": c.memlet} if has_c else {}), **call.inputs}
        return ForeignCall("dcpy_gemm_batched", arguments, inputs, {"c": c.memlet}, ENVIRONMENT)

    def loops() -> None:
        with f.map(Range(ZERO, count)) as index:
            f.add(node.one(index, out.memlet))

    call.emit(foreign, loops)


def _syrk(call: VendorCall, a: Matrix, c: Matrix) -> ForeignCall:
    """The upper half of what lies by rows is the lower one, by columns."""
    by_rows = number(0 if a.is_transposed else TRANSPOSED)
    arguments: tuple[str | ScalarExpr, ...] = (
        call.type, number(1), by_rows, call.size(a.rows), call.size(a.columns),
        *call.parts("alpha"), "a", call.size(a.ld), real(0), real(0), "c", call.size(c.ld),
    )  # fmt: skip
    return ForeignCall("dcpy_syrk", arguments, {"a": a.memlet, **call.inputs}, {"c": c.memlet}, ENVIRONMENT)


@expands(Gemv, "cublas-vectors", environment=ENVIRONMENT, on=ON_DEVICE, fuses=False)
def gemv(node: Gemv, f: Fragment) -> None:
    """``gemv``."""
    out = f.output("y")
    call = VendorCall(f, out.dtype)
    has_y = "y" in node.inputs
    start_from_summand(f, out, "y")
    a, x = call.matrix(f.input("a")), call.vector(f.input("x"))
    y = call.vector(out, written=True, summed_up=has_y)
    a = a.T if node.trans_a else a
    call.at_most(1, x.size)  # with nothing to sum up, y would stay as it is
    call.not_zero("alpha")
    if has_y:
        call.not_zero("beta")
    stored = a.T if a.is_transposed else a

    def foreign() -> ForeignCall:
        alpha, beta = call.parts("alpha"), call.parts("beta") if has_y else (real(0), real(0))
        arguments: tuple[str | ScalarExpr, ...] = (
            call.type, number(0 if a.is_transposed else TRANSPOSED), call.size(stored.columns), call.size(stored.rows),
            *alpha, "a", call.size(a.ld), "x", call.size(x.step), *beta, "y", call.size(y.step),
        )  # fmt: skip
        inputs = {"a": a.memlet, "x": x.memlet, **({"y": y.memlet} if has_y else {}), **call.inputs}
        return ForeignCall("dcpy_gemv", arguments, inputs, {"y": y.memlet}, ENVIRONMENT)

    call.emit(foreign, lambda: contract(f, product_contractions.gemv(node, f, out)))


@expands(Dot, "cublas-vectors", environment=ENVIRONMENT, on=ON_DEVICE, fuses=False)
def dot(node: Dot, f: Fragment) -> None:
    """``dot``; the result stays on the device."""
    out = f.output("result")
    call = VendorCall(f, out.dtype)
    x, y = call.vector(f.input("x")), call.vector(f.input("y"))

    def foreign() -> ForeignCall:
        arguments: tuple[str | ScalarExpr, ...] = (
            call.type, call.size(x.size), "x", call.size(x.step), "y", call.size(y.step), "result",
        )  # fmt: skip
        inputs = {"x": x.memlet, "y": y.memlet}
        return ForeignCall("dcpy_dot", arguments, inputs, {"result": out.memlet}, ENVIRONMENT)

    call.emit(foreign, lambda: contract(f, product_contractions.dot(node, f, out)))


@expands(Ger, "cublas-vectors", environment=ENVIRONMENT, on=ON_DEVICE, fuses=False)
def ger(node: Ger, f: Fragment) -> None:
    """``ger``, of what lies by rows: ``aᵀ = y xᵀ + aᵀ``."""
    if "a" not in node.inputs:
        f.decline("adds to a matrix, and there is none: a map writes each element once")
    out = f.output("a")
    call = VendorCall(f, out.dtype)
    start_from_summand(f, out, "a")
    x, y = call.vector(f.input("x")), call.vector(f.input("y"))
    a = call.matrix(out, written=True, summed_up=True)
    if a.is_transposed:
        x, y, a = y, x, a.T
    call.not_zero("alpha")

    def foreign() -> ForeignCall:
        arguments: tuple[str | ScalarExpr, ...] = (
            call.type, call.size(a.columns), call.size(a.rows), *call.parts("alpha"),
            "y", call.size(y.step), "x", call.size(x.step), "a", call.size(a.ld),
        )  # fmt: skip
        inputs = {"x": x.memlet, "y": y.memlet, "a": a.memlet, **call.inputs}
        return ForeignCall("dcpy_ger", arguments, inputs, {"a": a.memlet}, ENVIRONMENT)

    call.emit(foreign, lambda: contract(f, product_contractions.ger(node, f, out)))
