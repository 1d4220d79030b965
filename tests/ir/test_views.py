"""Views whose base is replaced: slices follow the base, other views keep their strides."""

from dataclasses import replace

from dcpy.ir import types
from dcpy.ir.data import Array, View
from dcpy.ir.editing.view_rebasing import rebased
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ONE, ZERO, sym

N = sym("N")
MATRIX = Array.packed(types.complex64, (N, N))
FORTRAN = Array.packed(types.complex64, (N, N), order="F")
ROWS = View.slice("x", Array.packed(types.complex64, (N + 2, N)), Subset((Range(ONE * 2, N + 2), Range(ZERO, N))))


def test_a_slice_takes_the_strides_of_its_base():
    row = View.slice("x", MATRIX, Subset((ONE, Range(ZERO, N))))
    assert row.strides == (ONE,)
    assert rebased(row, FORTRAN, MATRIX).strides == (N,)


def test_a_diagonal_keeps_its_strides():
    diagonal = View("x", types.complex64, (N,), (N + 1,))
    assert rebased(diagonal, MATRIX, MATRIX) == diagonal
    assert rebased(diagonal, FORTRAN, MATRIX) is None


def test_an_offset_moves_with_the_base():
    part = View("x", types.complex64, (N * N - N,), (ONE,), N)
    assert rebased(part, ROWS, MATRIX).offset is N * 3
    assert rebased(rebased(part, ROWS, MATRIX), MATRIX, ROWS) == part


def test_offsets_count_elements_of_the_view():
    imaginary = View("x", types.float32, (N, N), (N * 2, ONE * 2), ONE)
    assert rebased(imaginary, ROWS, MATRIX).offset is N * 4 + 1


def test_a_reshape_follows_strides_that_symbols_name():
    strided = Array(types.float64, (N,), (sym("s"),))
    rows = View("x", types.float64, (N // 4, ONE * 4), (sym("s") * 4, sym("s")))
    twin = rebased(rows, Array.packed(types.float64, (N,)), strided)
    assert twin.strides == (ONE * 4, ONE)
    inner = View("rows", types.float64, (N,), (sym("s"),))
    assert rebased(inner, twin, rows).strides == (ONE,)


def test_a_reshape_of_a_reversed_part():
    strided, packed = Array(types.float64, (N,), (sym("s"),)), Array.packed(types.float64, (N,))
    back = Subset((Range(N - 1, ZERO, ONE * -1),))
    here, there = (View.slice("x", desc, back) for desc in (strided, packed))
    row = View("y", types.float64, (ONE, N - 1), (sym("s") * (1 - N), sym("s") * -1), sym("s") * (N - 1))
    assert rebased(row, there, here) == replace(row, strides=(1 - N, ONE * -1), offset=N - 1)


def test_other_strides_have_to_agree():
    """A number is no name of a stride, a size neither; products of strides show no elements."""
    packed, s = Array.packed(types.float64, (N, N)), sym("s")
    for strides, told in (((N * 2, ONE * 2), ONE * 2), ((s, ONE * 3), s), ((s, sym("t")), s * sym("t"))):
        view = View("x", types.float64, (N,), (told,))
        assert rebased(view, packed, Array(types.float64, (N, N), strides)) is None


def test_a_diagonal_and_imaginary_parts_in_other_strides():
    strided = Array(types.complex64, (N, N), (sym("s"), sym("t")))
    diagonal = View("x", types.complex64, (N,), (sym("s") + sym("t"),))
    assert rebased(diagonal, MATRIX, strided).strides == (N + 1,)
    imaginary = View("x", types.float32, (N, N), (sym("s") * 2, sym("t") * 2), ONE)
    found = rebased(imaginary, MATRIX, strided)
    assert (found.strides, found.offset) == ((N * 2, ONE * 2), ONE)
