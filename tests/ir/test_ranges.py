"""What follows from bounds of symbols."""

import pytest

from dcpy.ir.symbolic import Ranges, as_expr, max_of, min_of, sym, where_positive

N, M, i = sym("N"), sym("M"), sym("i")
RANGES = Ranges().bind("N", 0).bind("M", 0).bind("i", 0, N - 1)


@pytest.mark.parametrize(
    "value",
    [
        N,
        N - 1 - i,
        max_of(N, 3) - 3,
        max_of(-N, i),
        min_of(N, M),
        N - min_of(N, M),
        max_of(N, M) - M,
        i // 2,
        i % (N + 1),
    ],
)
def test_what_is_never_negative(value):
    assert RANGES.proves_nonneg(value)


@pytest.mark.parametrize(
    "value", [as_expr(-1), N - 1, N - M, min_of(N, -1), -max_of(N, 1), min_of(N, M) - N, -(i // 2)]
)
def test_what_may_be_negative(value):
    assert not RANGES.proves_nonneg(value)


def test_facts_hold_of_what_bounds_a_symbol():
    """With i below M and K at least M, K - i - 1 is never negative."""
    ranges = Ranges({"i": (as_expr(0), M - 1)}, (sym("K") - M,))
    assert ranges.proves_nonneg(sym("K") - i - 1)
    assert not ranges.proves_nonneg(sym("K") - i - 2)


def test_a_case_is_looked_at_only_where_it_matters():
    """Proofs about sizes of broadcast arrays branch often: nested ones must not multiply."""
    few = min_of(M, N - 1)
    size = broadcast(broadcast(few - 1, sym("n")), sym("k"))
    ranges = CountingRanges({"N": (as_expr(0), None), "M": (as_expr(0), None)})
    assert not ranges.proves_ne(size, few)
    assert ranges.asked < 150


def broadcast(a, b):
    return max_of(a, b) * min_of(1, a, b)


class CountingRanges(Ranges):
    """Counts the steps of proofs."""

    asked = 0

    def _nonneg(self, expr, depth):
        self.asked += 1
        return super()._nonneg(expr, depth)


def test_what_is_clamped_is_itself_where_sizes_are_positive():
    size = max_of(N - 1, 0)
    assert where_positive(M * size, [M, size]) is M * (N - 1)
    assert where_positive(M * size, [2 * size * M]) is M * (N - 1)
    assert where_positive(M * size, [N - 1, max_of(N - 2, 0), max_of(M, 3)]) is M * size
    assert where_positive(M * size, [size + 1]) is M * size


def test_a_size_of_two_equal_ones_is_that_size():
    known = Ranges({"N": (as_expr(0), None)})
    assert known.simplify(broadcast(N, N)) is N
    assert known.simplify(M * min_of(1, N) * N) is M * N
    assert known.simplify(M * min_of(1, N)) is not M
    assert Ranges().simplify(min_of(1, N) * N) is not N


def test_a_proof_has_a_number_of_steps(monkeypatch):
    """One that does not succeed tried each order of the sizes: 9! of 9."""
    steps = []
    step = Ranges._nonneg
    monkeypatch.setattr(Ranges, "_nonneg", lambda *args: steps.append(args[1]) or step(*args))
    sizes = [sym(f"N{k}") for k in range(32)]
    elements = as_expr(1)
    for size in sizes:
        elements = elements * size
    known = Ranges({size.name: (as_expr(0), None) for size in sizes})
    assert not known.proves_le(elements, 4096)
    assert len(steps) < 2000
    assert known.proves_nonneg(elements)
