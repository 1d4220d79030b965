"""Programs that call a vendor's libraries, on the simulator: simulated ones compute, and check how they are used."""

import ctypes

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.errors import DeviceError
from dcpy.base.options import resolve_options
from dcpy.ir.text import print_sdfg
from dcpy.runtime.gpu import vendor_libraries
from dcpy.runtime.gpu.device_table import DeviceTable
from tests.support import devices

pytestmark = pytest.mark.cc
RNG = np.random.default_rng(5)


def on_gpu(function, **options):
    return dcpy.program(function, device=dcpy.DeviceType.GPU, gpu_backend=devices.BACKEND, **options)


def numbers(dtype, *shape):
    found = RNG.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        found = found + 1j * RNG.standard_normal(shape)
    return found.astype(dtype)


def same(function, *args, **options):
    """What it returns, and what it leaves in its arguments, is NumPy's; the program."""
    here, there = ([np.copy(arg) if isinstance(arg, np.ndarray) else arg for arg in args] for _ in range(2))
    program = on_gpu(function, **options)
    expected, found = function(*here), program(*there)
    for one, other in zip((*_parts(expected), *here), (*_parts(found), *there), strict=True):
        assert np.asarray(one).dtype == np.asarray(other).dtype
        tolerance = 2e-4 if np.asarray(one).dtype in (np.float32, np.complex64) else 1e-10
        np.testing.assert_allclose(other, one, rtol=tolerance, atol=tolerance)
    return program


def _parts(result):
    return result if isinstance(result, tuple) else () if result is None else (result,)


def products(a, b, c, alpha, beta):
    square = a @ a.T
    slices = a[1:, :-1] @ b[1:, ::2]
    c[:] = alpha * (a @ b) + beta * c
    return square, slices, b.T @ a.T, a.T @ a, a[:, 0:0] @ b[0:0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.complex64, np.complex128])
def test_products(dtype):
    """By rows, transposed, of slices, with factors and summands, of nothing."""
    program = same(products, numbers(dtype, 5, 4), numbers(dtype, 4, 7), numbers(dtype, 5, 7), dtype(1.5), dtype(-2))
    a, b, c = numbers(dtype, 5, 4), numbers(dtype, 4, 7), numbers(dtype, 5, 7)
    a[2, 1] = np.nan
    program(a, b, c, dtype(0), dtype(1))
    assert np.isnan(c[2]).all()  # 0 times NaN is NaN
    assert not np.isnan(c[1]).any()


def stacks(a, b, c, d):
    sums = np.einsum("bij,bkj->bik", a, b)
    return a @ b.transpose(0, 2, 1), a @ c, sums, (d @ c) @ a[0], a[:, 1:] @ d[:, 0]


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_stacks_of_products(dtype):
    """Two stacks, one matrix for all, transposed ones, stacks of stacks, slices."""
    shapes = ((3, 4, 5), (3, 2, 5), (5, 4), (3, 2, 5, 5))
    given = [numbers(dtype, *shape) for shape in shapes]
    same(stacks, *given)
    sdfg = dcpy.program(stacks).to_sdfg(*given)
    driver.auto_optimize(sdfg)
    lowered, _ = driver.lower(sdfg, resolve_options({"device": "gpu", "gpu.backend": "simulator"}))
    assert print_sdfg(lowered).count("dcpy_gemm_batched") == 3  # one matrix for all is one product of more rows


def by_columns(a, b):
    return (a.T @ b.T).T, np.asfortranarray(a) @ b


def test_arrays_by_columns():
    same(by_columns, np.asfortranarray(numbers(float, 4, 6)), numbers(float, 6, 4))


def in_a_loop(a, x, steps):
    for _ in range(steps):
        x[:] = 0.5 * (a @ x)
    return np.max(x)


def test_calls_and_kernels_take_turns_in_a_loop():
    same(in_a_loop, numbers(float, 5, 5), numbers(float, 5, 3), 4, gpu_seed=7)


def solutions(a, b, v):
    lower = np.linalg.cholesky(a @ a.conj().T)
    return lower, np.linalg.solve(a, b), np.linalg.solve(a, v), np.linalg.inv(a)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
def test_solutions(dtype):
    a = numbers(dtype, 6, 6) + 4 * np.eye(6, dtype=dtype)
    same(solutions, a, numbers(dtype, 6, 3), numbers(dtype, 6))


def solved(a, b):
    return np.linalg.solve(a, b)


def factor(a):
    return np.linalg.cholesky(a)


@pytest.mark.parametrize(
    ("function", "args", "message"),
    [
        (solved, (np.ones((3, 3)), np.ones(3)), "Singular matrix"),
        (factor, (-np.eye(3),), "Matrix is not positive definite"),
    ],
)
def test_info_is_an_error_of_python(function, args, message):
    """What the library reports on the device is raised on the host, and the next call works."""
    program = on_gpu(function)
    with pytest.raises(np.linalg.LinAlgError, match=message):
        program(*args)
    good = (np.eye(3) * 4, *args[1:])
    np.testing.assert_allclose(program(*good), function(*good))


def decompositions(a, h):
    q, r = np.linalg.qr(a)
    whole, top = np.linalg.qr(a, mode="complete")
    w, v = np.linalg.eigh(h)
    u, s, vt = np.linalg.svd(a)
    left, short, right = np.linalg.svd(a, full_matrices=False)
    again = v @ np.diag(w) @ v.conj().T
    few, many = np.linalg.svd(a, compute_uv=False), np.linalg.eigvalsh(h, "U")
    return q, r, whole, top, w, again, s, left * short @ right, few, many, u.conj().T @ u, vt @ vt.conj().T


@pytest.mark.parametrize(("dtype", "shape"), [(np.float64, (5, 3)), (np.complex128, (2, 4))])
def test_decompositions(dtype, shape):
    """QR with the signs of LAPACK; vectors of eigenvalues and singular values are unique but for a factor."""
    h = numbers(dtype, 4, 4)
    same(decompositions, numbers(dtype, *shape), h + h.conj().T)


def of_stacks(a, h):
    w, v = np.linalg.eigh(h)
    return np.linalg.svd(a)[1], w, np.abs(v[..., 0, 0])


def test_decompositions_of_stacks():
    """One call after the other; float32 is computed in float64, as NumPy does."""
    h = numbers(np.float32, 2, 3, 4, 4)
    same(of_stacks, numbers(np.float32, 3, 2, 5), h + h.swapaxes(-2, -1))


def singular_values(a):
    return np.linalg.svd(a, compute_uv=False)


def eigenvalues(a):
    return np.linalg.eigvalsh(a)


@pytest.mark.parametrize(
    ("function", "message"), [(singular_values, "SVD did not converge"), (eigenvalues, "Eigenvalues did not converge")]
)
def test_of_nan_nothing_converges(function, message):
    """The library returns NaN, and says that all is well; so may real ones."""
    program, bad = on_gpu(function), np.ones((3, 3))
    bad[1, 1] = np.nan
    with pytest.raises(np.linalg.LinAlgError, match=message):
        program(bad)
    np.testing.assert_allclose(program(np.eye(3)), np.ones(3))
    assert program(np.empty((0, 0))).shape == (0,)


def transforms(x, r):
    spectrum = np.fft.rfft(r, axis=1)
    real = np.fft.irfft(spectrum, 6, axis=1)
    return np.fft.fft(x), np.fft.ifft(x, axis=0), np.fft.fft(x, axis=1, norm="ortho"), spectrum, real


def test_transforms():
    """Of lines behind each other, side by side, and both; there and back; with factors; from and to real numbers."""
    same(transforms, numbers(complex, 3, 4, 5), numbers(float, 2, 6))


def test_plans_are_kept_for_each_shape():
    """More shapes than plans are kept: old ones are destroyed when nobody needs them any more."""
    program = on_gpu(transformed)
    for n in (*range(1, 20), 3):
        x = numbers(complex, 2, n)
        np.testing.assert_allclose(program(x), np.fft.fft(x), atol=1e-10)


def transformed(x):
    return np.fft.fft(x)


def product(a, b):
    return a @ b


def test_without_libraries_the_same_program_has_kernels():
    same(product, numbers(float, 3, 4), numbers(float, 4, 5), gpu_libraries=False)


class _Libraries(ctypes.Structure):
    _fields_ = (("call", ctypes.c_void_p), ("close", ctypes.c_void_p))


def test_a_library_that_fails_is_an_error_at_the_line_of_python(monkeypatch):
    """The line of the product, and what the library says."""
    kept = []
    call_type = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 2, ctypes.c_int32, *[ctypes.c_void_p] * 3)

    def answer(_libraries, table, *_arguments):
        return DeviceTable.from_address(table).library_failed(table, 3, b"cublasDgemm_v2 answers with status 13")

    def broken(device, environments, backend, options):
        call, close = call_type(answer), ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 2)(lambda *_: None)
        found = _Libraries(ctypes.cast(call, ctypes.c_void_p), ctypes.cast(close, ctypes.c_void_p))
        kept.extend((call, close, found))
        DeviceTable.from_address(device.table).libraries = ctypes.addressof(found)

    monkeypatch.setattr(dcpy.runtime.gpu.device_selection, "open_libraries", broken)
    with pytest.raises(DeviceError, match="status 13") as failure:
        on_gpu(lambda a, b: product(a, b) + 2.0, gpu_seed=99)(numbers(float, 3, 4), numbers(float, 4, 5))
    assert failure.value.span is not None
    assert "return a @ b" in str(failure.value)


def test_memory_that_does_not_suffice_is_said(monkeypatch):
    monkeypatch.setitem(vendor_libraries.WORKSPACE, vendor_libraries.Backend(devices.BACKEND), 1 << 40)
    with pytest.raises(MemoryError):
        on_gpu(product, gpu_seed=98)(numbers(float, 3, 4), numbers(float, 4, 5))
