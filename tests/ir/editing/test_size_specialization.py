"""Sizes become numbers: everywhere, or with the reason why they cannot be these."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import SymbolicError, UnknownName
from dcpy.ir.editing.size_specialization import specialize
from dcpy.ir.text import parse_sdfg, print_sdfg

TEXT = """
sdfg @f(x: f64[N, M], y: f64[N], k: i64) symbols(N: size, M: size, k: i64) {
  data t: f64[M + 1] transient
  state {
    map i = 0:N {
      copy x[i, M - 1] -> y[i]
    }
  }
}"""


def test_a_size_is_a_number_everywhere():
    sdfg = parse_sdfg(TEXT.replace(", k: i64", ""))
    specialize(sdfg, {"M": 7})
    text = print_sdfg(sdfg)
    assert "x: f64[N, 7]" in text
    assert "data t: f64[8]" in text
    assert "copy x[i, 6]" in text
    assert list(sdfg.symbols) == ["N"]
    assert sdfg.sizes == ["N"]


def test_indices_are_as_simple_as_they_are_for_numbers():
    """What was clamped, for nobody knew which size is larger, is an index of the map now."""
    sdfg = parse_sdfg(
        "sdfg @f(x: f64[N], y: f64[M]) symbols(N: size, M: size) "
        "{ state { map i = 0:min(N, M) { copy x[min(i, N - 1)] -> y[min(i, M - 1)] } } }"
    )
    specialize(sdfg, {"N": 7, "M": 9})
    assert "copy x[i] -> y[i]" in print_sdfg(sdfg)


@pytest.mark.parametrize(
    ("sizes", "error", "message"),
    [
        ({"Q": 3}, UnknownName, "no symbol is called 'Q'"),
        ({"N": -1}, SymbolicError, "'N' is a size, which cannot be -1"),
    ],
)
def test_what_cannot_be(sizes, error, message):
    with pytest.raises(error, match=message):
        specialize(parse_sdfg(TEXT.replace(", k: i64", "")), sizes)


def test_what_users_assume_holds():
    N = dcpy.symbol("N", multiple_of=8)

    def twice(x: dcpy.float64[N]):
        return x + x

    with pytest.raises(SymbolicError, match="the program assumes more of 'N': 12 is not a multiple of 8"):
        dcpy.program(twice).to_sdfg().specialize({"N": 12})


def test_an_argument_stays_one():
    def scaled(n: dcpy.int64, x: dcpy.float64[5]):
        return np.zeros(n) + x[0]

    with pytest.raises(SymbolicError, match="'n' is an argument"):
        dcpy.program(scaled).to_sdfg().specialize({"n": 3})


def test_products_of_known_sizes_are_systolic():
    def product(A, B):
        return A @ B

    A, B = np.ones((8, 6), np.float32), np.ones((6, 4), np.float32)
    sdfg = dcpy.program(product).to_sdfg(A, B)
    sdfg.specialize(dict(zip(sdfg.symbols, (8, 6, 4), strict=True))).expand_library_nodes("systolic", pes=2)
    assert "process pe " in str(sdfg)
