"""Trip counts: 64 bits hold those of loops that threads divide as one, and C++ compilers see those that are numbers."""

import numpy as np
import pytest

import dcpy
from tests.support.compiled import source_of

LOOPS = """
    sdfg @f(A: f64[1], B: f64[{shape}]) symbols(N: size, M: size) {{
      state {{ map i = 0:N, j = 0:M @parallel {{
        state {{ tasklet (a <- A[0]) -> (o -> B[{place}]) {{ o = a + 1 }} }} check A[0] > 0.0 else ValueError "small" ()
      }} }}
    }}"""
TEST = "if (dcpy_counted(dcpy_product(N, M)) == 9223372036854775807) return"


def test_what_is_not_proved_is_tested():
    code = source_of(LOOPS.format(shape="1", place="0"))
    assert "omp for collapse(2)" in code
    assert TEST in code


def test_the_axes_of_an_argument_are_counted():
    code = source_of(LOOPS.format(shape="N, M", place="i, j"))
    assert "omp for collapse(2)" in code
    assert "dcpy_product" not in code


def test_tiles_of_the_axes_of_an_argument_are_counted():
    tiles = LOOPS.replace("i = 0:N, j = 0:M", "i = 0:N:8, j = 0:M:8")
    code = source_of(tiles.format(shape="N, M", place="i, j"))
    assert "omp for collapse(2)" in code
    assert "dcpy_product" not in code


def hits(table, n: int, m: int):
    count = np.zeros(1)
    for i, j in dcpy.map[0:n, 0:m]:
        count[0] += np.sin(table[(i * j) % 4])
    return count


@pytest.mark.cc
def test_loops_that_64_bits_do_not_count_overflow():
    run = dcpy.program(hits, auto_optimize=True)
    assert "collapse(2)" in run.to_sdfg(np.ones(4), 3, 2).code()
    np.testing.assert_allclose(run(np.ones(4), 3, 2), 6 * np.sin(1.0))
    with pytest.raises(OverflowError, match="a loop over i, j has more iterations than 64 bits count"):
        run(np.ones(4), 2**32, 2**32)  # 2**64, which is 0 in 64 bits


def tiles(part: str) -> str:
    return source_of(f"""sdfg @f(A: f64[N]) symbols(N: size) {{ state {{ map i = 0:N:8 @sequential {{
      map j = {part} @vector {{ tasklet () -> (o -> A[j]) {{ o = 1.0 }} }} }} }} }}""")


def test_a_tile_is_counted_from_zero():
    """Where `i + 8` may wrap around, a loop from `i` to it has no trip count that g++ sees."""
    assert "for (int64_t count = 0; count < 8; count++) {" in tiles("i:i + 8")
    assert "const int64_t j = i + count;" in tiles("i:i + 8")


@pytest.mark.parametrize("part", ["0:8", "i:i + 1", "i:min(N, i + 8)", "i:i + 8:2"])
def test_other_loops_are_as_they_are_written(part):
    assert "int64_t count = 0;" not in tiles(part).partition("f_program(")[2]
