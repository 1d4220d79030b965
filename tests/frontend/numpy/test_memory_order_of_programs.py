"""Programs of many operations on one array: values, dtypes, strides and flags of all results are NumPy's."""

import numpy as np
import pytest

import dcpy
from tests.support.layouts import layouts
from tests.support.oracles import assert_equal
from tests.support.used import Used

KINDS = ("102", "F, gaps", "repeated rows", "F, reversed")


def permuted_operands(a):
    """Ufuncs of transposed and reversed operands."""
    b = a.transpose(1, 2, 0)[::-1]
    return (
        b + 1,
        np.multiply(b, b[:, ::-1]),
        np.add(b, b[0]),
        np.maximum(b, 0, order="F"),
        np.sin(b[..., ::-1]),
        -b[:, None],
    )


def repeated_numbers(a):
    """Operands with strides of 0."""
    r = np.broadcast_to(a[0], a.shape)
    s = np.broadcast_to(a[:, :1], a.shape)
    return r + a, s * a.T.T, r + s, r * 2, (s + 1).T, np.broadcast_to(a[..., 0, None], a.shape) - a, r.copy("K")


def copies(a):
    """`copy` with each order."""
    return (
        a.copy(),
        a.copy("F"),
        a.copy("K"),
        a[::-1].copy("K"),
        a.T.copy("F"),
        a.swapaxes(0, 1).copy("K"),
        a[:, 1:2].copy("K"),
        np.copy(a[..., ::2]),
        np.copy(a, order="C"),
    )


def diagonals(a):
    """Diagonals, whose stride is a sum of two, beside the other axis."""
    return (
        np.diagonal(a) + 0,
        np.diagonal(a, 0, 0, 2) * 2,
        np.diagonal(a, axis1=2, axis2=1).copy("K"),
        np.diagonal(a).T + 1,
        np.diagonal(a[:, ::-1]) + np.diagonal(a),
        np.diagonal(a[..., ::2], axis1=1, axis2=0).astype(np.float32),
        np.diagonal(a[None], axis1=1, axis2=2).T + 0,
    )


def conversions(a):
    """`astype` with each order."""
    return (
        a.astype("f4"),
        a.astype("i8", order="F"),
        a.astype("f8", order="C", copy=False),
        a.T.astype("c16"),
        a[::-1].astype("f4", order="K"),
        a.astype(bool, "F"),
        a[:, ::2].astype("f8"),
    )


def flattened(a):
    """`ravel`, `flatten` and `reshape` with each order."""
    n = a.size
    return (
        a.ravel("F"),
        a.flatten("F"),
        a.reshape(-1, order="F"),
        a.reshape((n,), order="C"),
        a.T.ravel(),
        a.ravel("K"),
        a.flatten("K"),
        a[::-1].flatten("K"),
    )


def sorted_arrays(a):
    """`sort` and `argsort` along each axis."""
    return (
        np.sort(a, axis=0),
        np.sort(a, axis=1),
        np.sort(a, axis=-1),
        np.argsort(a, axis=0, kind="stable"),
        np.sort(a.T, axis=0),
        np.sort(a[::-1], axis=2),
        np.sort(a, axis=None),
    )


def sorted_in_place(a):
    """`ndarray.sort`."""
    b = a.copy("K")
    b.sort(axis=1)
    return b, b.T, b + 1


def running_sums(a):
    """Scans along each axis."""
    return (
        np.cumsum(a, axis=0),
        np.cumsum(a, axis=1),
        np.cumprod(a, axis=2),
        np.cumsum(a),
        a.cumsum(axis=-1).T,
        np.diff(a, axis=0),
        np.diff(a, axis=2),
        np.cumsum(a[::-1], axis=1),
        np.add.accumulate(a, axis=1),
        np.nancumsum(a, axis=0),
    )


def sums_of_products(a):
    """`einsum`."""
    return (
        np.einsum("ijk->kji", a),
        np.einsum("ijk,ijk->ijk", a, a),
        np.einsum("ijk->ij", a),
        np.einsum("ijk,lk->ijl", a, a[0]),
        np.einsum("ijk->ki", a),
        np.einsum("ijk,ijl->ikl", a, a),
        np.einsum("ijk->ikj", a) + 1,
    )


def products(a):
    """`matmul`, `dot` and others of operands in Fortran order."""
    f = np.asfortranarray(a[0])
    return (
        f @ f.T,
        f.T @ f,
        a @ a.swapaxes(1, 2),
        np.dot(f.T, f),
        np.matmul(a.T, a.T.swapaxes(1, 2)),
        np.inner(f, f),
        np.tensordot(a, a, axes=([0], [0])),
        np.outer(f, f),
        a[:, 0] @ f[:, 0][:4] if False else f @ f[0],
    )


def reductions(a):
    """Reductions, with and without `keepdims`."""
    return (
        np.sum(a, axis=0, keepdims=True),
        np.max(a, axis=1, keepdims=True),
        a.mean(axis=2, keepdims=True),
        np.sum(a, axis=(0, 2), keepdims=True),
        np.sum(a, axis=0),
        np.prod(a, axis=1),
        np.any(a > 0, axis=2),
        np.argmax(a, axis=1),
        np.argmin(a, axis=0, keepdims=True),
        np.std(a, axis=0),
        np.median(a, axis=1),
        np.add.reduce(a, axis=(0, 1)),
        np.ptp(a, axis=0),
        np.count_nonzero(a, axis=1),
    )


def choices(a):
    """`where`, `select` and `choose`."""
    return (
        np.where(a > 0, a, 0),
        np.where(a > 0, a.copy("C"), a),
        np.where(a[0] > 0, a, 1),
        np.where(a > 0, 1, 2),
        np.select([a > 0, a < -1], [a, a * 2], 0.0),
        np.choose((a > 0).astype("i8"), [a, a * 2]),
        np.where(a.T > 0, a.T, -a.T),
    )


def given_results(a):
    """`out=`."""
    out = np.empty(a.shape, order="F")
    r = np.clip(a, -1, 1, out=out)
    o2 = np.zeros(a.T.shape).T
    s = np.add(a, 1, out=o2)
    c = np.zeros_like(a)
    np.cumsum(a, axis=1, out=c)
    t = a.clip(-1, 1)
    return r, s, out, c, t, np.clip(a[::-1], 0, None), np.sum(a, axis=0, out=np.zeros(a.shape[1:], order="F"))


def chosen_elements(a):
    """Index arrays, lists, and masks."""
    i = np.array([1, 0, 1])
    return (
        a[i],
        a[:, i],
        a[..., i],
        a[i, i],
        a[:, i, i],
        a[i, :, i],
        a[[[0, 1], [1, 0]]],
        a[a > 0],
        a[:, [True, False, True]],
        np.take(a, i, axis=1),
        np.take_along_axis(a, np.argsort(a, axis=1, kind="stable"), axis=1),
        a[np.ix_([0, 1], [1, 2])],
        np.compress([True, False, True], a, axis=1),
        a[0][:, i],
        a[1, i],
    )


def joined_arrays(a):
    """`stack`, `concatenate` and others."""
    return (
        np.stack((a, a), axis=-1),
        np.stack((a, a * 2)),
        np.stack((a, a), axis=1),
        np.concatenate((a, a), axis=2),
        np.concatenate((a.T, a.T)),
        np.vstack((a, a)),
        np.dstack((a, a)),
        np.hstack((a[0].T, a[0].T)),
        np.column_stack((a[0], a[0])),
        np.block([a[0], a[0]]),
        np.append(a, a, axis=1),
        np.array([a, a]),
    )


def flags(a):
    """Flags of new arrays and of their parts."""
    b = a + 1
    c = b[:, ::2]
    return (
        b.flags.c_contiguous,
        b.flags.f_contiguous,
        b.T.flags.c_contiguous,
        c.flags.c_contiguous,
        c.flags.f_contiguous,
        b[0].flags.c_contiguous,
        b[..., 0].flags.f_contiguous,
        b.flags.owndata,
        c.flags.owndata,
        b.flags.writeable,
        b.reshape(-1).flags.c_contiguous,
        np.sort(a, axis=0).flags.f_contiguous,
        np.broadcast_to(b, (2, *b.shape)).flags.writeable,
        b.copy("F").flags.fnc,
        b[None].flags.c_contiguous,
        b[:1].flags.f_contiguous,
    )


def arrays_like_others(a):
    """`*_like`, `asarray` and others."""
    return (
        np.zeros_like(a, order="A"),
        np.full_like(a, 2.0, order="K"),
        np.ones_like(a.T),
        np.zeros_like(a, order="F"),
        np.asfortranarray(a),
        np.ascontiguousarray(a),
        np.array(a, order="F"),
        np.require(a, requirements=["F"]),
        np.zeros_like(a[::-1]),
        np.zeros_like(a[:, ::2], dtype="i4"),
    )


def moved_elements(a):
    """`roll`, `repeat`, `pad` and others."""
    return (
        np.roll(a, 1, axis=0),
        np.roll(a, 1),
        np.flip(a, 0) + 0,
        np.rot90(a) + 0,
        np.rot90(a),
        np.moveaxis(a, 0, -1) * 2,
        np.rollaxis(a, 2) * 2,
        np.expand_dims(a, 1) + 1,
        np.squeeze(a[:1]) + 1,
        np.atleast_3d(a[0]) + 0,
        np.repeat(a, 2, axis=0),
        np.tile(a, (2, 1, 1)),
        np.pad(a, 1),
        np.pad(a, ((0, 0), (1, 1), (0, 0)), mode="edge"),
        np.delete(a, 0, axis=1),
        np.insert(a, 1, 5.0, axis=0),
    )


PROGRAMS = [
    permuted_operands,
    repeated_numbers,
    copies,
    conversions,
    flattened,
    sorted_arrays,
    sorted_in_place,
    running_sums,
    sums_of_products,
    products,
    reductions,
    choices,
    given_results,
    chosen_elements,
    joined_arrays,
    flags,
    arrays_like_others,
    moved_elements,
    diagonals,
]


@pytest.mark.parametrize("layout", KINDS)
@pytest.mark.parametrize("program", PROGRAMS)
def test_interpreted(program, layout):
    array = layouts()[layout]
    assert_equal(Used(program)(array), program(array), 1e-6)


@pytest.mark.cc
@pytest.mark.parametrize("program", [permuted_operands, given_results, chosen_elements])
def test_compiled(program):
    array = layouts()["102"]
    assert_equal(dcpy.program(program)(array), program(array), 1e-6)
