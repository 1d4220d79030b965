"""QR, eigenvalues and singular values through cuSOLVER or hipSOLVER, in place, on matrices stored by columns.

`geqrf` reflects as LAPACK does, so ``q`` and ``r`` have its signs. Eigenvectors and singular vectors are as good as
LAPACK's, and may differ from those by a factor of size 1, or by the choice in a space of equal values, as those of two
LAPACKs do. Of NaN, LAPACK says that it does not converge; these may return NaN instead, for which the result is tested.
"""

from __future__ import annotations

from collections.abc import Mapping

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, cast, op
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, max_of, min_of
from dcpy.libraries.api import Fragment, Operand
from dcpy.libraries.lapack.expand.cusolver import Solver, uses_solver
from dcpy.libraries.lapack.expand.maps import start_with_identity, start_with_triangle
from dcpy.libraries.lapack.expand.openblas import distance
from dcpy.libraries.lapack.nodes import Eigh, Qr, Svd
from dcpy.libraries.vendor.call_operands import number

LAPACK = "the host, which has LAPACK"  #: what does small matrices: kernels there are none
NO_VECTORS, AS_MANY, ALL = range(3)


@uses_solver(Qr)
def qr(node: Qr, f: Fragment) -> None:
    """``geqrf``, and ``orgqr`` where ``q`` is wanted."""
    solver = Solver(f, node)
    a, r = f.input("a"), f.output("r")
    m, n = a.shape
    count = min_of(m, n)
    work, tau = solver.matrix(a), f.array("tau", a.dtype, (max_of(count, 1),))
    changed = {"a": work.memlet, "tau": tau.memlet, "info": solver.info.memlet}
    sizes = (Index(m), Index(n), "a", Index(distance(work)))
    solver.call("geqrf", *sizes, "tau", "info", inputs={"a": work.memlet}, outputs=changed)
    start_with_triangle(f, work, r, is_upper=True)
    if "q" not in node.outputs:
        return
    out = f.output("q")
    columns = out.shape[1]
    q = solver.empty(*out.shape)
    start_with_identity(f, q)
    both = Subset((Range(ZERO, m), Range(ZERO, min_of(n, columns))))
    source, target = (Memlet(one.memlet.container, one.memlet.subset.compose(both)) for one in (work, q))
    f.add(Copy(source, target))
    inputs = {"a": q.memlet, "tau": tau.memlet}
    arguments = (Index(m), Index(columns), Index(count), "a", Index(distance(q)), "tau", "info")
    solver.call("orgqr", *arguments, inputs=inputs, outputs={"a": q.memlet, "info": solver.info.memlet})
    f.add(Copy(q.memlet, out.memlet))


@uses_solver(Eigh)
def eigh(node: Eigh, f: Fragment) -> None:
    """``syevd``, of complex matrices ``heevd``."""
    solver = Solver(f, node, LAPACK)
    work, out = solver.matrix(f.input("a")), f.output("w")
    n = work.shape[0]
    w = f.array("values", out.dtype, (n,))
    has_vectors = "v" in node.outputs
    arguments = (number(has_vectors), number(not node.upper), Index(n), "a", Index(distance(work)), "w", "info")
    outputs = {"a": work.memlet, "w": w.memlet, "info": solver.info.memlet}
    solver.call("syevd", *arguments, inputs={"a": work.memlet}, outputs=outputs)
    _note_what_is_no_number(f, w, solver.info)
    f.add(Copy(w.memlet, out.memlet))
    if has_vectors:
        f.add(Copy(work.memlet, f.output("v").memlet))


@uses_solver(Svd)
def svd(node: Svd, f: Fragment) -> None:
    """``gesvd``, which takes no more columns than rows: a matrix by rows is its own transpose, by columns.

    Of ``aᵀ = conj(v) s uᵀ``, what the library calls ``u`` is ``v^H`` by rows, and what it calls ``v^H`` is ``u``.
    """
    solver = Solver(f, node, LAPACK)
    m, n = f.input("a").shape
    outs = {name: f.output(name) for name in node.outputs if name != "info"}
    values = f.array("values", outs["s"].dtype, (min_of(m, n),))
    if f.ranges.proves_le(n, m):
        _gesvd(node, solver, values, outs, is_wide=False)
    elif f.ranges.proves_le(m, n):
        _gesvd(node, solver, values, outs, is_wide=True)
    else:
        tall, wide = f.branch(op("ge", Index(m), Index(n)))
        for region, is_wide in ((tall, False), (wide, True)):
            with f.inside(region):
                _gesvd(node, solver, values, outs, is_wide=is_wide)
    _note_what_is_no_number(f, values, solver.info)
    f.add(Copy(values.memlet, outs["s"].memlet))


def _gesvd(node: Svd, solver: Solver, values: Operand, outs: Mapping[str, Operand], *, is_wide: bool) -> None:
    """Decompose a matrix by columns, or one by rows that `is_wide`."""
    f = solver.f
    a, order = f.input("a"), "C" if is_wide else "F"
    m, n = a.shape[::-1] if is_wide else a.shape
    work = f.array("work", a.dtype, a.shape, order=order)
    f.add(Copy(a.memlet, work.memlet))
    has_vectors = "u" in outs
    found = {}
    for name in ("u", "vt"):
        found[name] = f.array(name, a.dtype, outs[name].shape if has_vectors else (ONE, ONE), order=order)
        start_with_identity(f, found[name])  # what there is where `a` has no elements
    job = NO_VECTORS if not has_vectors else ALL if node.full else AS_MANY
    left, right = ("vt", "u") if is_wide else ("u", "vt")
    rows, columns = Index(max_of(m, 1)), Index(max_of(n, 1))
    arguments = (number(job), Index(m), Index(n), "a", rows, "s", left, rows, right, columns, "info")
    both = {"a": work.memlet, **{name: one.memlet for name, one in found.items()}}
    solver.call("gesvd", *arguments, inputs=both, outputs={**both, "s": values.memlet, "info": solver.info.memlet})
    if has_vectors:
        for name, one in found.items():
            f.add(Copy(one.memlet, outs[name].memlet))


def _note_what_is_no_number(f: Fragment, values: Operand, info: Operand) -> None:
    """``info`` is not 0 where one of the values is NaN."""
    with f.map(Range(ZERO, values.shape[0])) as i:
        f.compute(info.at(), lambda x: cast(op("ne", x, x), types.int32), values.at(i), wcr="max")
