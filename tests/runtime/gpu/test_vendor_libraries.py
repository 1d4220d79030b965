"""Which libraries are there, what is said where one is missing, and the names and numbers of AMD's."""

import ctypes

import pytest

from dcpy.base.errors import DeviceError
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import resolve_options
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.runtime.gpu import vendor_libraries
from dcpy.runtime.gpu.simulator.library import Settings, SimulatedDevice
from dcpy.runtime.loading.shared_libraries import library_of


def options(backend, **others):
    return resolve_options({"device": "gpu", "gpu.backend": backend, **others})


@pytest.fixture
def none_installed(monkeypatch):
    monkeypatch.setattr(vendor_libraries, "find_library", lambda name: "")


def test_programs_call_what_is_installed(none_installed, monkeypatch):
    assert vendor_libraries.expansions_there(options("simulator")) == ("cublas", "cusolver", "cufft")
    assert vendor_libraries.expansions_there(options("simulator", **{"gpu.libraries": False})) == ()
    assert vendor_libraries.expansions_there(options("cuda")) == ()
    there = ("libcufft.so", "libhipblas.so")
    monkeypatch.setattr(vendor_libraries, "find_library", lambda name: name if name in there else "")
    assert vendor_libraries.expansions_there(options("cuda")) == ("cufft",)
    assert vendor_libraries.expansions_there(options("hip")) == ("cublas",)


@pytest.mark.parametrize(("backend", "name"), [("cuda", "cuSOLVER"), ("hip", "hipSOLVER")])
def test_a_missing_library_is_said_with_what_to_install(backend, name, none_installed):
    """A program that was compiled where it was installed."""
    with pytest.raises(DeviceError, match=f"the program calls {name}, which is not installed") as failure:
        vendor_libraries.open_libraries(None, ["gpu.solver"], Backend(backend), options(backend))
    assert "[gpu-libraries]" in str(failure.value)


HIP = """
#include <cstdint>
#include <cstring>
extern "C" {
static double seen[16];
static int last;
int hipblasCreate(void **handle) { *handle = &last; return 0; }
int hipblasDestroy(void *) { return 0; }
int hipblasSetStream(void *, void *) { return 0; }
int hipblasSetPointerMode(void *, int mode) { seen[15] = mode; return 0; }
int hipblasDgemm(void *, int a, int b, int m, int n, int k, const double *alpha, const void *, int lda, const void *,
                 int ldb, const double *beta, void *, int ldc)
{
    const double now[] = {double(a),   double(b),   double(m), double(n),  double(k), *alpha,
                          double(lda), double(ldb), *beta,     double(ldc)};
    memcpy(seen, now, sizeof now);
    return last;
}
int hipblasCtrsm(void *, int side, int half, int op, int unit, int m, int n, const float *alpha, const void *, int lda,
                 void *, int ldb)
{
    const double now[] = {double(side), double(half), double(op),  double(unit), double(m),
                          double(n),    alpha[0],     alpha[1],    double(lda),  double(ldb)};
    memcpy(seen, now, sizeof now);
    return 0;
}
int hipfftCreate(void **) { return last; }
int hipfftSetAutoAllocation(void *, int) { return 0; }
int hipfftDestroy(void *) { seen[14] += 1; return 0; }
const double *said() { return seen; }
void answer(int status) { last = status; }
}
"""


@pytest.fixture
def hip(monkeypatch):
    """A device whose hipBLAS notes what it is asked."""
    here = options("simulator")
    unit = Unit("hipblas.cpp", HIP, "C++", ("-std=c++17",))
    path = str(library_of(Artifact(Signature("hipblas", ()), (unit,)), here))
    monkeypatch.setattr(vendor_libraries, "find_library", lambda name: path)
    monkeypatch.setitem(vendor_libraries.WORKSPACE, Backend.HIP, 1 << 16)
    device = SimulatedDevice(here, Settings())
    vendor_libraries.open_libraries(device, ["gpu.blas", "gpu.fft"], Backend.HIP, here)
    yield _Hip(device, ctypes.CDLL(path))
    device.close()


_CALL = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 2, ctypes.c_int32, *[ctypes.c_void_p] * 3)


class _Libraries(ctypes.Structure):
    _fields_ = (("call", _CALL), ("close", ctypes.c_void_p))


class _Hip:
    def __init__(self, device, library):
        self.device, self.library = device, library
        library.said.restype = ctypes.POINTER(ctypes.c_double)

    def call(self, function, numbers, factors):
        """The status of a call of the table, whose places are null."""
        address = self.device._functions.libraries
        found = _Libraries.from_address(address)
        given = (ctypes.c_int64 * len(numbers))(*numbers), (ctypes.c_double * len(factors))(*factors)
        places = (ctypes.c_void_p * 3)()
        return found.call(address, self.device.table, function, *(ctypes.addressof(one) for one in (*given, places)))

    def said(self, count):
        return [self.library.said()[k] for k in range(count)]


@pytest.mark.cc
def test_operations_have_numbers_of_amd(hip):
    assert hip.call(0, (ord("d"), 0, 1, 3, 4, 5, 6, 7, 8), (2, 0, 0.5, 0)) == 0
    assert hip.said(10) == [111, 112, 3, 4, 5, 2, 6, 7, 0.5, 8]
    assert hip.call(3, (ord("c"), 1, 1, 2, 1, 3, 4, 5, 6), (1, 0)) == 0
    assert hip.said(10) == [142, 122, 113, 132, 3, 4, 1, 0, 5, 6]


@pytest.mark.cc
def test_what_a_library_lacks_or_refuses_is_said(hip):
    assert hip.call(4, (ord("s"), 0, 1, 1, 1, 1, 1), (1, 0, 0, 0)) != 0
    assert hip.device.message() == "the installed library is too old: it has no hipblasSgemv"
    assert hip.call(0, (ord("d"), 0, 0, 2**31, 1, 1, 1, 1, 1), (1, 0, 0, 0)) != 0
    assert hip.device.message() == "the installed library is too old: it has no hipblasDgemm_64"
    hip.library.answer(6)
    assert hip.call(0, (ord("d"), 0, 0, 1, 1, 1, 1, 1, 1), (1, 0, 0, 0)) != 0
    assert hip.device.message() == "hipblasDgemm answers with status 6"



@pytest.mark.cc
def test_plans_that_cannot_be_made_are_none(hip):
    forward = (ord("d"), 0, 4, 1, 0, 0, 1, 4, 4, 1, 1)
    hip.library.answer(2)
    assert hip.call(10, forward, (1,)) == 1
    assert hip.device.message() == "hipfftCreate answers with status 2"
    hip.library.answer(0)
    assert hip.call(10, forward, (1,)) != 0
    assert hip.device.message() == "the installed library is too old: it has no hipfftSetStream"
    assert hip.said(15)[14] == 1  # destroyed
