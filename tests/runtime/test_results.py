"""Memory of large results: what one array gives back, the next one gets."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from numpy._core.multiarray import get_handler_name

from dcpy.codegen.artifact import ArrayArg, Dim, FreshArray, Signature
from dcpy.runtime.dispatch import Dispatcher

pytestmark = [pytest.mark.cc, pytest.mark.skipif(sys.platform != "linux", reason="needs the memory of NumPy on Linux")]

LARGE = (4 << 20) // 8  # numbers from which on NumPy asks for huge pages


@pytest.fixture
def doubled(compiled) -> Dispatcher:
    return compiled(
        Signature("twice", (ArrayArg("a", "float64", (Dim("N"),)),), ("N",), (FreshArray("float64", 1),), 0),
        "for (int64_t i = 0; i < symbols[0]; i++) RESULT(double, 0)[i] = 2 * ARRAY(double, 0)[i];",
        shapes="numbers[0] = symbols[0];",
    )


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def test_what_one_result_gives_back_is_the_next_ones(doubled):
    a = np.arange(float(LARGE + 100))
    first = doubled(a)
    place = address(first)
    assert first.flags.owndata
    assert get_handler_name(first) == "dcpy"
    second = doubled(a + 1)
    assert address(second) != place
    np.testing.assert_array_equal(first, 2 * a)
    del first
    third = doubled(a - 1)
    assert address(third) == place
    np.testing.assert_array_equal(second, 2 * (a + 1))
    np.testing.assert_array_equal(third, 2 * (a - 1))


def test_results_of_hardly_another_size_share_memory_and_much_smaller_ones_do_not(doubled):
    place = address(doubled(np.zeros(2 * LARGE)))
    assert address(doubled(np.zeros(2 * LARGE - LARGE // 8))) == place
    assert address(doubled(np.zeros(LARGE))) != place


def test_small_results_have_numpys_memory(doubled):
    assert get_handler_name(doubled(np.zeros(LARGE - 1))) == "default_allocator"
    doubled(np.zeros(LARGE))
    assert get_handler_name(np.empty(LARGE)) == "default_allocator"  # and what others allocate afterwards


def test_results_can_be_resized(doubled):
    a = np.arange(float(LARGE))
    result = doubled(a)
    result.resize(2 * LARGE)
    np.testing.assert_array_equal(result[:LARGE], 2 * a)
    assert not result[LARGE:].any()
    result.resize(10)
    np.testing.assert_array_equal(result, 2 * a[:10])
    assert get_handler_name(result) == "dcpy"


def memory_mapped() -> int:
    """Bytes of address space that this process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * 4096


def test_only_a_few_are_kept(doubled):
    a = np.zeros(LARGE)
    results = [doubled(a) for _ in range(40)]
    gc.collect()
    before = memory_mapped()
    del results
    assert before - memory_mapped() > 30 * 8 * LARGE


def test_threads_get_memory_of_their_own(doubled):
    wrong = []

    def work(number: int) -> None:
        a = np.full(LARGE, float(number))
        for _ in range(20):
            if not (doubled(a) == 2 * number).all():
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


class Handler(ctypes.Structure):
    """NumPy's, as NEP 49 has it; its functions are those of the C library."""

    _fields_ = (
        *(("name", ctypes.c_char * 127), ("version", ctypes.c_uint8), ("context", ctypes.c_void_p)),
        *((name, ctypes.c_void_p) for name in ("malloc", "calloc", "realloc", "free")),
    )


LIBC = ctypes.CDLL(None)
MALLOC = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
FREE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t)
ALLOCATED = MALLOC(lambda _, size: LIBC.malloc(ctypes.c_size_t(size)))
FREED = FREE(lambda _, data, size: LIBC.free(ctypes.c_void_p(data)))


@pytest.fixture
def handler_of_the_caller() -> Iterator[Callable[[], None]]:
    """Sets a handler of memory that is not NumPy's own, and afterwards takes it away."""
    LIBC.malloc.restype = ctypes.c_void_p
    functions = [ctypes.cast(function, ctypes.c_void_p).value for function in (ALLOCATED, ALLOCATED, ALLOCATED, FREED)]
    handler = Handler(b"the caller's", 1, None, *functions)
    capsule = ctypes.pythonapi.PyCapsule_New
    capsule.restype, capsule.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, (ctypes.py_object, ctypes.c_char_p)
    table = ctypes.cast(pointer(np._core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))
    set_handler = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.py_object)(table[304])
    before = set_handler(capsule(ctypes.addressof(handler), b"mem_handler", None))
    yield lambda: set_handler(before)
    set_handler(before)


def test_a_handler_that_the_caller_has_set_is_used(doubled, handler_of_the_caller):
    result = doubled(np.ones(LARGE))
    assert get_handler_name(result) == "the caller's"
    assert (result == 2).all()
    del result
