"""Views whose base is replaced: slices follow the base, other views keep their strides."""

from dcpy.ir import types
from dcpy.ir.data import Array, View
from dcpy.ir.editing.views import rebased
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
