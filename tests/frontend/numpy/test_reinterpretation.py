"""The same bytes as other numbers: views of parts of arrays, and `np.frombuffer`."""

import numpy as np
import pytest

import dcpy
from tests.support.lowering import refusal, same
from tests.support.oracles import check_same

A = np.arange(6.0)
M = np.arange(12.0).reshape(3, 4)
OCTETS = np.arange(24, dtype=np.uint8)


def test_parts_of_arrays_as_fewer_larger_numbers():
    def f(a, m, octets):
        pairs = m[1:].view(np.complex128)
        pairs[0] = 1j
        return a[2:6].view(np.complex128) + 0, pairs.imag + 0, octets[8:].view(np.float32) + 0, a[2:2].view("c16") + 0

    same(f, A, M, OCTETS)


@pytest.mark.cc
def test_parts_as_larger_numbers_compiled():
    def f(m, octets):
        pairs = m[1:].view(np.complex128)
        pairs += 1
        np.frombuffer(octets, np.int32, 3, 4)[1:] = 7
        return pairs.sum(), np.frombuffer(octets, np.uint16, offset=2).sum()

    check_same(f, M, OCTETS)


def test_parts_that_begin_between_larger_numbers_are_refused_with_a_rewrite():
    def f(a):
        return a[1:5].view(np.complex128)

    assert "copy the part first: x[1:].copy().view(...)" in refusal(f, A)
    same(lambda a: a[1:5].copy().view(np.complex128) + 0, A)


@pytest.mark.parametrize(
    ("dtype", "count", "offset"),
    [("u1", -1, 0), ("f8", -1, 0), ("i4", 4, 8), ("i2", -1, 2), ("f8", 3, 0), ("f4", 0, 0), ("c16", 1, 16)],
)
def test_frombuffer(dtype, count, offset):
    def f(octets):
        found = np.frombuffer(octets, dtype, count, offset)
        return found + 0, found.size

    same(f, OCTETS)


def test_frombuffer_gives_floats_unless_told():
    same(lambda octets: np.frombuffer(octets) + 0, OCTETS)


def test_frombuffer_shows_the_memory():
    def f(m):
        bits = np.frombuffer(m, dtype=np.int64)
        bits[1] = 0
        m[0, 0] = 5
        return bits + 0

    same(f, M)


@pytest.mark.parametrize("arguments", [("f8", 9), ("f8", 1, 24), ("u1", -1, 25), ("u1", -1, -1)], ids=str)
def test_frombuffer_of_too_few_bytes(arguments):
    same(lambda octets: np.frombuffer(octets, *arguments), OCTETS)
    same(lambda octets: np.frombuffer(octets, "f8"), OCTETS[:23].copy())


def test_frombuffer_of_bytes_takes_no_writes():
    def written():
        found = np.frombuffer(b"abcdefgh", np.int32)
        found[0] = 1

    same(lambda: np.frombuffer(b"abcdefgh", np.int32) + 0)
    assert "read-only" in refusal(written)


def test_frombuffer_of_what_has_gaps_is_refused_with_a_rewrite():
    def f(m):
        return np.frombuffer(m.T)

    assert "np.frombuffer(x.copy(), ...)" in refusal(f, M)
    same(lambda m: np.frombuffer(m.T.copy()) + 0, M)
    with pytest.raises(dcpy.FrontendError, match="takes an array or bytes"):
        dcpy.program(lambda x: np.frombuffer(x))(1.5)
