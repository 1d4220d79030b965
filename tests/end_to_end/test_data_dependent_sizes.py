"""Arrays whose size is known only while the program runs: selected by masks, and counted."""

import gc
import subprocess
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy.cli.sdfgcc import main as sdfgcc
from tests.support.c_compiler import c_compiler
from tests.support.oracles import assert_equal, check_same

pytestmark = pytest.mark.cc

A = np.arange(8.0)
M = np.arange(12.0).reshape(3, 4) % 5
DTYPES = ["bool", "int8", "int32", "uint64", "float32", "float64", "complex64", "complex128"]


def selected(a):
    return a[a > 3]


@pytest.mark.parametrize(
    "a", [A, A - 100, A + 100, A[:0], A[::2], M, M.T, M[:, 1:3]], ids=lambda a: str(a.shape)
)
def test_a_mask_selects_some_none_and_all(a):
    check_same(selected, a)


@pytest.mark.parametrize("dtype", DTYPES)
def test_of_every_kind_of_number(dtype):
    def f(a):
        return a[a != 0], np.flatnonzero(a)

    check_same(f, (np.arange(8) % 3).astype(dtype))


def test_rows_that_a_mask_selects():
    def f(a, m):
        return a[m], a[m].sum(axis=0), a[m, 1]

    check_same(f, M, np.array([True, False, True]))
    check_same(f, M, np.array([False, False, False]))


def test_positions():
    def f(a):
        return np.nonzero(a), np.flatnonzero(a > 2), np.argwhere(a > 2), a[np.nonzero(a)]

    check_same(f, M)
    check_same(f, np.zeros((2, 3)))


def test_computing_with_a_selection():
    def f(a):
        b = a[a > 3]
        c = 2 * b + 1
        c[0] = -1
        return b.sum(), c, len(b), c @ b, b.size + c.shape[0]

    check_same(f, A)


def test_stores_through_a_mask():
    def f(a, b):
        a[a > 3] = -1
        b[b > 2] *= 10
        return a[a < 0]

    check_same(f, A, M)


def test_each_iteration_has_its_own_size():
    def f(a):
        total = 0.0
        for i in range(9):
            b = a[a >= i]
            c = b * i
            total += c.sum() - b.size
        return total

    check_same(f, A)


def test_a_selection_in_another_function():
    def larger(a, limit):
        return a[a > limit]

    def f(a):
        b = larger(a, 2)
        return larger(b, 4), b

    check_same(f, A)


def test_one_selection_in_several_places():
    def f(a):
        b = a[a > 3]
        return b, (b, a, a[1:]), a[a < 3], b.sum()

    check_same(f, A)
    result = dcpy.program(f)(A)
    assert result[0] is result[1][0]


def test_results_of_another_size_on_each_path():
    def f(a, k):
        for i in range(k):
            b = a[a > i]
            if b.size < 5:
                return b * 2
        if k > 1:
            return a[a < k]
        return np.ones(int(a[k]))

    for k in (0, 1, 2, 3, 5, 8):
        check_same(f, A, k)


def test_a_search_that_returns_from_an_endless_loop():
    def f(a):
        k = 0
        while True:
            b = a[a > k]
            if b.size < 4:
                return b
            k += 1

    check_same(f, A)


def test_sizes_that_are_computed():
    def f(a):
        n = int(a[3])
        out = np.zeros((n, 2 * n))
        n += 1
        for i in range(n - 1):
            out[i, i] = a[i]
        return out, np.empty((n - 4, 3)), np.arange(n)

    check_same(f, A)


def test_what_is_returned_is_an_ordinary_array():
    got = dcpy.program(selected)(A)
    got += 1
    assert got.flags.c_contiguous
    assert got.flags.writeable
    got = got[1:].copy()
    assert_equal(got, np.array([6.0, 7.0, 8.0]))


def test_different_elements():
    def f(a):
        values, counts = np.unique(a, return_counts=True)
        return values, counts, np.sort(a[a > 1]), np.intersect1d(a, values[1:])

    check_same(f, M.astype(int))


def test_selections_inside_a_parallel_map():
    def f(a):
        out = np.zeros(8)
        for i in dcpy.map[0:8]:
            b = a[a > i]
            out[i] = b.sum() - b.size
        return out

    check_same(f, A)


def test_what_is_raised_after_the_selection():
    def f(a):
        b = a[a > 3]
        if b.size > 2:
            raise ValueError("many")
        return b

    check_same(f, A)
    check_same(f, A[:5])


def test_sizes_beyond_memory():
    def result(a):
        n = int(a[0]) + 1
        a[0] = 0
        return np.zeros((n, n))

    def buffer(a):
        b = np.zeros((int(a[0]), int(a[0])))
        b[0] = a[0]
        return b.sum()

    for function in (result, buffer):
        program = dcpy.program(function)
        with pytest.raises(MemoryError, match="no memory is left"):
            program(np.array([2.0**22]))
        for size in (2.0**32, 2.0**61):  # NumPy says the latter
            with pytest.raises((MemoryError, ValueError), match=r"no memory is left|array is too big"):
                program(np.array([size]))
        assert_equal(program(np.array([2.0])), function(np.array([2.0])))


USE_FROM_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include "large.h"
int main(void) {
    double a[5] = {1, 7, 2, 9, 8}, *large_ones;
    int64_t size;
    if (large_init() != 0 || large(a, &large_ones, &size, 5) != 0) return 1;
    for (int64_t i = 0; i < size; i++) printf("%g ", large_ones[i]);
    free(large_ones);
    large_exit();
    return 0;
}
"""


def test_results_that_c_frees(tmp_path):
    def large(a: dcpy.float64[dcpy.symbol("N")]):
        return a[a > 5]

    sdfg = dcpy.program(large).to_sdfg()
    sdfg.save(tmp_path / "large.sdfg")
    assert sdfgcc([str(tmp_path / "large.sdfg"), "-o", str(tmp_path / "liblarge.so")]) == 0
    (tmp_path / "use.c").write_text(USE_FROM_C)
    link = [f"-L{tmp_path}", "-llarge", f"-Wl,-rpath,{tmp_path}"]
    subprocess.run([*c_compiler(), "-Wall", "-Werror", "use.c", "-o", "use", *link], check=True, cwd=tmp_path)
    assert (
        subprocess.run(["./use"], check=True, cwd=tmp_path, capture_output=True, text=True).stdout == "7 9 8 "
    )


def test_optimized():
    def f(a):
        b = a[a > 3]
        total = 0.0
        for i in range(b.size):
            total += b[i] * b[i]
        return total, b + 1

    assert_equal(dcpy.program(f, auto_optimize=True)(A), f(A))


def memory_in_use() -> int:
    """Bytes that the process holds in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_memory_is_freed_whatever_happens():
    def f(a, k):
        b = a[a >= 0]
        for i in range(3):
            c = a[a >= i]
            if c[k] < 0:
                return c
        return b * 2

    program = dcpy.program(f)
    big = np.arange(1 << 17, dtype=np.float64)

    def call(times: int) -> None:
        for _ in range(times):
            program(big, 0)
            with pytest.raises(IndexError):
                program(big, 1 << 30)

    call(5)
    gc.collect()
    before = memory_in_use()
    call(100)  # would hold 100 MiB of results
    assert memory_in_use() - before < 30 << 20


def test_what_comes_behind_a_raise_may_have_any_size():
    def counted(n):
        if n < 0:
            raise ValueError("less than nothing")
        return np.zeros(n)

    def f(a):
        found = counted(int(a[0]))
        return found, len(found)

    check_same(f, np.array([3]))
    check_same(f, np.array([-3]))


def test_sizes_that_depend_on_the_same_number():
    def f(a, z):
        return a[z > 0, z < 5], np.zeros((int(z[()]), int(z[()]) + 1))

    check_same(f, A, np.array(2))
    check_same(f, A, np.array(0))


def test_results_of_paths_that_never_run():
    """Who would assign their sizes is gone; a fuzzer found it."""

    def in_a_branch(a, b):
        found = np.argwhere(a)
        if not b[0] > -1:
            return found.astype(np.float32)
        return None

    def in_a_loop(a, b):
        for _ in range(0):
            return np.argwhere(a)
        return None

    def behind_a_return(a, b):
        if b[0] > -1:
            return b[0]
        return a[a > 0]

    for f in (in_a_branch, in_a_loop, behind_a_return):
        check_same(f, M, np.array([3], np.uint8))


def last_of_other_shapes(x, base, levels):
    for i in range(levels):
        weights = np.ones((base, base**i, base ** (levels - i - 1)))
        w = np.reshape(np.reshape(x, (base, base**i, base ** (levels - i - 1))) * weights, x.shape)
    return w


def test_an_array_that_outlives_the_loop_has_the_shape_of_its_last_iteration():
    check_same(last_of_other_shapes, np.arange(16.0), 2, 4)
    check_same(last_of_other_shapes, np.arange(27.0), 3, 3)
