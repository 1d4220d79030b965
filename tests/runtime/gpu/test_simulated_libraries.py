"""Simulated libraries refuse what real ones refuse or take badly: one wrong use each, by the C functions themselves."""

import ctypes
import re

import numpy as np
import pytest

from dcpy.base.options import resolve_options
from dcpy.runtime.gpu.simulator.library import Settings, SimulatedDevice
from dcpy.runtime.gpu.simulator.vendor import simulated_libraries, simulator_services

pytestmark = pytest.mark.cc
OPTIONS = resolve_options({"device": "gpu", "gpu.backend": "simulator"})
place, integer, wide, real = ctypes.c_void_p, ctypes.c_int, ctypes.c_longlong, ctypes.c_double
GEMM = (place, *[integer] * 5, place, place, integer, place, integer, place, place, integer)


class Simulated:
    """A device, and the C functions of its libraries."""

    def __init__(self):
        self.device = SimulatedDevice(OPTIONS, Settings())
        self.library = ctypes.CDLL(simulated_libraries(OPTIONS))
        self.library.dcpy_simulate(place(simulator_services(OPTIONS)))
        self.library.dcpy_why.restype = ctypes.c_char_p
        stream = place()
        self.device._functions.library_stream(self.device.table, ctypes.byref(stream))
        self.stream = stream
        self.space = place(self.device.allocate(4096))
        self.matrix = place(self.device.upload(np.arange(16.0).reshape(4, 4)))

    def call(self, name, *args):
        """The status, and why."""
        status = getattr(self.library, name)(*args)
        return status, self.library.dcpy_why().decode()

    def blas(self, *, stream=True, workspace=True, mode=0, mathematics=0):
        """A handle that has been told so much."""
        handle = place()
        self.library.cublasCreate_v2(ctypes.byref(handle))
        if stream:
            self.library.cublasSetStream_v2(handle, self.stream)
        if workspace:
            self.library.cublasSetWorkspace_v2(handle, self.space, ctypes.c_size_t(4096))
        self.library.cublasSetPointerMode_v2(handle, mode)
        self.library.cublasSetMathMode(handle, mathematics)
        return handle

    def gemm(self, handle, *, ld=4, a=None, m=4, one=None, function="cublasDgemm_v2"):
        one = one or ctypes.byref(real(1.0))
        nothing = ctypes.byref(real(0.0))
        operand = a or self.matrix
        getattr(self.library, function).argtypes = GEMM
        return self.call(
            function, handle, 0, 0, m, 4, 4, ctypes.cast(one, place), operand, ld, self.matrix, 4,
            ctypes.cast(nothing, place), self.space, 4,
        )  # fmt: skip


@pytest.fixture
def simulated():
    found = Simulated()
    yield found
    found.device.close()


def test_a_product_is_a_command_of_the_queue(simulated):
    """Nothing happens before somebody waits; then it is there."""
    assert simulated.gemm(simulated.blas())[0] == 0
    simulated.device.wait()
    found = simulated.device.download(simulated.space.value, np.zeros((4, 4)))
    by_columns = np.arange(16.0).reshape(4, 4).T
    np.testing.assert_array_equal(found.T, by_columns @ by_columns)


WRONG = {
    "no handle": (lambda s: s.gemm(place(12345)), "was not created"),
    "no queue": (lambda s: s.gemm(s.blas(stream=False)), "it would use the default one"),
    "no workspace": (lambda s: s.gemm(s.blas(workspace=False)), "would allocate one of its own"),
    "TF32": (lambda s: s.gemm(s.blas(mathematics=3)), "not that of exact products"),
    "a factor of the device": (lambda s: s.gemm(s.blas(), one=s.matrix), "of the other side"),
    "a factor of the host": (lambda s: s.gemm(s.blas(mode=1)), "of the other side"),
    "a matrix of the host": (
        lambda s: s.gemm(s.blas(), a=place(np.zeros(16).ctypes.data)), "a: 0x.* is a place of the host"
    ),
    "a leading dimension": (lambda s: s.gemm(s.blas(), ld=3), "a leading dimension is too small"),
    "beyond the end": (lambda s: s.gemm(s.blas(), ld=5), "a: the access reaches"),
    "a negative size": (lambda s: s.gemm(s.blas(), m=-1), "a size is negative"),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use_of_products(name, simulated):
    use, reason = WRONG[name]
    status, why = use(simulated)
    assert status != 0
    assert re.search(reason, why), why


def test_a_change_of_the_queue_takes_the_workspace_away(simulated):
    handle = simulated.blas()
    simulated.library.cublasSetStream_v2(handle, simulated.stream)
    assert "would allocate one of its own" in simulated.gemm(handle)[1]


def test_a_handle_belongs_to_one_device(simulated):
    other = Simulated()
    status, why = simulated.call("cublasSetStream_v2", simulated.blas(), other.stream)
    assert status != 0
    assert "of another program" in why
    other.device.close()


def test_what_is_destroyed_is_gone(simulated):
    handle = simulated.blas()
    assert simulated.call("cublasDestroy_v2", handle)[0] == 0
    assert "was not created, or has been destroyed" in simulated.gemm(handle)[1]
    assert "destroyed twice" in simulated.call("cublasDestroy_v2", handle)[1]


def _potrf(simulated, handle, elements, n=4):
    info = place(simulated.space.value + 2048)
    return simulated.call("cusolverDnDpotrf", handle, 0, n, simulated.matrix, 4, simulated.space, elements, info)


def test_solvers_get_the_memory_that_was_asked_for(simulated):
    handle, elements = place(), integer()
    simulated.library.cusolverDnCreate(ctypes.byref(handle))
    assert "given no queue" in _potrf(simulated, handle, 8)[1]
    simulated.library.cusolverDnSetStream(handle, simulated.stream)
    assert "nobody has asked how much memory" in _potrf(simulated, handle, 8)[1]
    simulated.library.cusolverDnDpotrf_bufferSize(handle, 0, 4, simulated.matrix, 4, ctypes.byref(elements))
    assert elements.value > 1
    assert "a workspace of 1 elements" in _potrf(simulated, handle, 1)[1]
    assert _potrf(simulated, handle, elements.value)[0] == 0


def _solver(simulated):
    handle = place()
    simulated.library.cusolverDnCreate(ctypes.byref(handle))
    simulated.library.cusolverDnSetStream(handle, simulated.stream)
    return handle


def _gesvd(simulated, handle, m, n, *, elements=None, job=78, ld=4):
    """With the workspace that the library asks for, or another one; 78 is N."""
    asked, s, info = integer(), place(simulated.space.value + 1024), place(simulated.space.value + 2048)
    simulated.library.cusolverDnDgesvd_bufferSize(handle, m, n, ctypes.byref(asked))
    return simulated.call(
        "cusolverDnDgesvd", handle, job, job, m, n, simulated.matrix, ld, s, simulated.matrix, 1, simulated.matrix, 1,
        simulated.space, asked.value if elements is None else elements, s, info,
    )  # fmt: skip


def test_wrong_use_of_decompositions(simulated):
    handle = _solver(simulated)
    assert _gesvd(simulated, handle, 4, 4)[0] == 0
    assert "no matrix with more columns than rows" in _gesvd(simulated, handle, 2, 4)[1]
    assert "a workspace of 3 elements" in _gesvd(simulated, handle, 4, 4, elements=3)[1]
    assert "a leading dimension is too small" in _gesvd(simulated, handle, 4, 4, ld=3)[1]
    assert "a leading dimension is too small" in _gesvd(simulated, handle, 4, 4, job=65)[1]
    asked, tau, info = integer(), place(simulated.space.value + 1024), place(simulated.space.value + 2048)
    simulated.library.cusolverDnDorgqr_bufferSize(handle, 3, 4, 3, simulated.matrix, 4, tau, ctypes.byref(asked))
    wide = simulated.call(
        "cusolverDnDorgqr", handle, 3, 4, 3, simulated.matrix, 4, tau, simulated.space, asked.value, info
    )
    assert "a size is wrong" in wide[1]
    simulated.library.cusolverDnDsyevd_bufferSize(handle, 1, 0, 4, simulated.matrix, 4, tau, ctypes.byref(asked))
    host = (ctypes.c_double * 4)()
    assert "w: " in simulated.call(
        "cusolverDnDsyevd", handle, 1, 0, 4, simulated.matrix, 4, host, simulated.space, asked.value, info
    )[1]  # fmt: skip


def _plan(simulated, *, allocates=0, stream=True):
    plan, size = integer(), ctypes.c_size_t()
    library = simulated.library
    library.cufftCreate(ctypes.byref(plan))
    library.cufftSetAutoAllocation(plan, allocates)
    if stream:
        library.cufftSetStream(plan, simulated.stream)
    n = wide(4)
    library.cufftMakePlanMany64.argtypes = (
        integer, integer, place, place, wide, wide, place, wide, wide, integer, wide, place,
    )  # fmt: skip
    length, found = ctypes.addressof(n), ctypes.addressof(size)
    assert library.cufftMakePlanMany64(plan, 1, length, length, 1, 4, length, 1, 4, 0x69, 2, found) == 0
    return plan


def test_wrong_use_of_transforms(simulated):
    def run(plan, area=True, function="cufftExecZ2Z"):
        if area:
            simulated.library.cufftSetWorkArea(plan, simulated.space)
        return simulated.call(function, plan, simulated.matrix, simulated.matrix, -1)

    assert run(_plan(simulated))[0] == 0
    assert "given no queue" in run(_plan(simulated, stream=False))[1]
    assert "memory of its own" in run(_plan(simulated, allocates=1))[1]
    assert "the work area" in run(_plan(simulated), area=False)[1]
    assert "another type" in run(_plan(simulated), function="cufftExecC2C")[1]
    plan = _plan(simulated)
    assert simulated.call("cufftDestroy", plan)[0] == 0
    assert "has been destroyed" in run(plan, area=False)[1]
