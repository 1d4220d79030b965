"""Programs that C code calls: by ctypes, scipy's callables and cffi; what they give, and what they cannot raise."""

import ctypes
import gc
import runpy
import threading
import warnings

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, CodegenError, FrontendError
from docs.fences import peers
from docs.generate import DOCS

pytestmark = pytest.mark.cc

n = dcpy.symbol("n")
size = dcpy.symbol("size")
even = dcpy.symbol("even", multiple_of=2)
WEIGHTS = np.array([1.0, 2.0])


@dcpy.cfunc
def bell(x: dcpy.float64) -> dcpy.float64:
    """A bell curve."""
    return np.exp(-x * x)


@dcpy.cfunc(dcpy.float64, dcpy.float64[2])
def line(x, c):
    return c[0] * x + c[1]


@dcpy.cfunc
def total(n: dcpy.int32, x: dcpy.float64[n]) -> float:
    s = 0.0
    for i in range(n):
        s += x[i]
    return s


@dcpy.cfunc
def element(n: dcpy.int64, x: dcpy.float64[n], k: dcpy.int64) -> dcpy.float64:
    if x[k] < 0:
        raise ValueError("negative")
    return x[k]


@dcpy.cfunc(returns=dcpy.int32)
def largest(buffer: dcpy.float64[size], size: dcpy.int64, out: dcpy.float64[1], factor: dcpy.float64[1]):
    out[0] = buffer.max() * factor[0]
    return 1


@dcpy.cfunc
def squared(out: dcpy.float64[3]) -> None:
    out[:] = out * out


@dcpy.cfunc(dcpy.int64, returns=dcpy.int8)
def small(k):
    return k + 1


@pytest.fixture(autouse=True)
def no_failures():
    yield
    for function in (bell, line, total, element, largest, squared, small):
        assert not function.failed


def test_by_ctypes():
    assert bell.ctypes(0.5) == bell(0.5) == np.exp(-0.25)
    x = (ctypes.c_double * 3)(1.0, 2.0, 4.0)
    assert (total.ctypes(3, x), total.ctypes(0, x), total(3, np.array(x))) == (7.0, 0.0, 7.0)
    assert squared.ctypes(x) is None
    assert list(x) == [1.0, 4.0, 16.0]
    assert small.ctypes(4) == 5
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(bell.address)(0.0) == 1.0


def test_it_looks_like_the_function():
    assert (bell.__name__, bell.__doc__, bell.signature) == ("bell", "A bell curve.", "double (double)")
    assert repr(largest) == "<dcpy.cfunc largest: int (double *, long, double *, double *)>"
    assert line.function(2.0, (3.0, 1.0)) == 7.0
    assert squared.signature == "void (double *)"


def test_scipy_integrates():
    integrate = pytest.importorskip("scipy.integrate")
    np.testing.assert_allclose(integrate.quad(bell.low_level_callable(), 0, np.inf)[0], np.sqrt(np.pi) / 2)
    np.testing.assert_allclose(integrate.nquad(total.low_level_callable(), [[0, 1], [0, 1]])[0], 1.0)


def test_user_data_is_the_last_parameter():
    integrate = pytest.importorskip("scipy.integrate")
    coefficients = np.array([2.0, 1.0])
    call = line.low_level_callable(coefficients)
    np.testing.assert_allclose(integrate.quad(call, 0, 1)[0], 2.0)
    coefficients[0] = 4.0  # in place
    np.testing.assert_allclose(integrate.quad(call, 0, 1)[0], 3.0)
    del coefficients
    gc.collect()
    np.testing.assert_allclose(integrate.quad(call, 0, 1)[0], 3.0)


def test_scipy_filters_an_image():
    ndimage = pytest.importorskip("scipy.ndimage")
    image = np.random.default_rng(0).random((6, 7))
    found = ndimage.generic_filter(image, largest.low_level_callable(np.array([2.0])), size=3)
    np.testing.assert_allclose(found, 2.0 * ndimage.maximum_filter(image, size=3))


@pytest.mark.parametrize("found", [[2.0, 1.0], np.ones(3), np.ones(2, np.float32), np.ones(4)[::2], np.ones((2, 1))])
def test_user_data_of_another_type_is_refused(found):
    pytest.importorskip("scipy")
    with pytest.raises(ArgumentError, match=r"the user data of line\(\) is no float64\[2\] array in C order"):
        line.low_level_callable(found)
    with pytest.raises(ArgumentError, match=r"bell\(\) has no array as its last parameter"):
        bell.low_level_callable(np.ones(2))


def test_errors_are_kept_until_they_are_raised():
    x = (ctypes.c_double * 3)(1.0, -2.0, 3.0)
    assert np.isnan(element.ctypes(3, x, 1))
    assert element.failed
    assert np.isnan(element.ctypes(3, x, 7))  # the first one counts
    assert element.ctypes(3, x, 0) == 1.0
    with pytest.raises(ValueError, match="negative") as caught:
        element.raise_failure()
    assert "if x[k] < 0:" in "".join(caught.value.__notes__) or "raise ValueError" in "".join(caught.value.__notes__)
    element.raise_failure()
    assert np.isnan(element.ctypes(3, x, 7))
    with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3"):
        element.raise_failure()


def test_sizes_and_results_that_do_not_fit_are_errors():
    x = (ctypes.c_double * 3)()
    assert np.isnan(element.ctypes(-1, x, 0))
    with pytest.raises(ArgumentError, match=r"C code called element\(\) with a size that does not fit it"):
        element.raise_failure()
    assert small.ctypes(127) == 0
    with pytest.raises(ArgumentError, match=r"its result does not fit its type"):
        small.raise_failure()
    halves = dcpy.cfunc(lambda x, even: x[even - 1], dcpy.float64[even], int)
    assert np.isnan(halves.ctypes(x, 3))
    with pytest.raises(ArgumentError):
        halves.raise_failure()
    assert halves.ctypes(x, 2) == 0.0


def test_threads_keep_one_failure():
    x = (ctypes.c_double * 3)(1.0, -2.0, 3.0)
    threads = [threading.Thread(target=lambda: [element.ctypes(3, x, 1) for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with pytest.raises(ValueError, match="negative"):
        element.raise_failure()


def test_the_address_of_a_program():
    product = dcpy.program(lambda x, y: x * y)
    address = product.address(dcpy.float64, dcpy.int32)
    gc.collect()
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double, ctypes.c_int)(address)(2.5, 2) == 5.0
    assert product.address(dcpy.float64, dcpy.int32) == address
    assert product.address(dcpy.float64, dcpy.float64) != address
    assert product(2, 3) == 6  # which is as it was
    optimized = dcpy.program(total.function, auto_optimize=True)
    assert ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_int, ctypes.c_void_p)(optimized.address())(
        2, WEIGHTS.ctypes.data) == 3.0  # fmt: skip


def test_warnings_are_not_errors():
    divided = dcpy.cfunc(lambda x: np.float64(1.0) / x, dcpy.float64)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert divided.ctypes(0.0) == np.inf
    assert not divided.failed


@pytest.mark.others
def test_by_cffi():
    ffi = pytest.importorskip("cffi").FFI()
    assert ffi.cast("double (*)(int, double *)", total.address)(2, ffi.new("double[]", [1.5, 2.0])) == 3.5


def with_callback(x):
    return outside(x)


@dcpy.callback(returns=dcpy.float64)
def outside(x):
    return x


@pytest.mark.parametrize(("function", "types", "message"), [
    (lambda x: (x, x), [dcpy.float64], "does not return one number, as a C function does"),
    (lambda x: x * 2.0, [dcpy.float64[3]], "does not return one number"),
    (lambda x: x[0], [dcpy.float64[n]], "the size n of 'x' is not known: in C an array is an address"),
    (lambda x: x * WEIGHTS[0], [dcpy.float64], "uses 'WEIGHTS', which C code does not pass"),
    (lambda x: x.real, [dcpy.complex128], "the argument 'x' has no type in C"),
    (lambda *x: 1.0, [], "those return one value, and have a fixed number of parameters"),
    (with_callback, [dcpy.float64], "calls the Python function"),
])  # fmt: skip
def test_refused(function, types, message):
    with pytest.raises(dcpy.DcpyError, match=message):
        dcpy.cfunc(function, *types)


def test_other_refusals():
    with pytest.raises(CodegenError, match="only programs of one process, for CPUs"):
        dcpy.cfunc(bell.function, device="gpu", gpu_backend="simulator")
    with pytest.raises(FrontendError, match="2 types are given for the 1 parameters"):
        dcpy.cfunc(bell.function, dcpy.float64, dcpy.float64)
    with pytest.raises(FrontendError):
        dcpy.program(lambda x: x).address()
    with pytest.raises(dcpy.UnknownName, match="did you mean auto_optimize"):
        dcpy.cfunc(auto_optimise=True)


def test_an_integer_of_few_bits_is_a_size_in_c_only():
    with pytest.raises(FrontendError, match="the parameter 'n' is a size of 'x', and declared as int32") as caught:
        dcpy.program(total.function)(3, np.ones(3))
    assert caught.value.help == "sizes have 64 bits: declare n: dcpy.int64, or name the size otherwise"


def test_the_programs_of_the_page_run(tmp_path):
    pytest.importorskip("scipy")
    path = tmp_path / "page.py"
    path.write_text(peers((DOCS / "guide" / "c-functions.md").read_text())["SciPy"])
    names = runpy.run_path(str(path))
    assert names["area"] == 2.0
    assert names["image"].sum() > 8.0
