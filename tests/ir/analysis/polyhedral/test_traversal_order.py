"""Orders of accesses: loops that are cut, renamed, interchanged or masked."""

from __future__ import annotations

import pytest

from dcpy.ir.analysis.polyhedral.traversal_order import same_order
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Ranges, const, min_of, sym

N, M = sym("N"), sym("M")
i, j, t, u = (sym(name) for name in "ijtu")
SIZES = Ranges({"N": (ZERO, None), "M": (ZERO, None)})


def up(stop, step=1):
    return Range(ZERO, stop, const(step))


ROWS = (Subset.point(i, j), (("i", up(N)), ("j", up(M))))
LINE = (Subset.point(i), (("i", up(N)),))
TILED = (Subset.point(t + u), (("t", up(N, 16)), ("u", up(min_of(const(16), N - t)))))
TWICE = (Subset.point(i), (("j", up(const(2))), ("i", up(N))))


@pytest.mark.parametrize(
    ("ours", "theirs", "reason"),
    [
        (LINE, (Subset.point(t), (("t", up(N)),)), None),
        (LINE, TILED, None),
        (TILED, LINE, None),
        (ROWS, (Subset.point(t, u), (("t", up(N)), ("u", up(M)))), None),
        (ROWS, (Subset.point(i, j), (("j", up(M)), ("i", up(N)))), "the elements come in another order"),
        (LINE, (Subset.point(N - 1 - i), (("i", up(N)),)), "the elements come in another order"),
        (LINE, (Subset.point(i), (("i", up(N - 1)),)), "they are not the same elements"),
        (LINE, TWICE, "an element comes more than once"),
        (LINE, ROWS, "they differ in rank"),
        (LINE, (Subset.point(i), (("i", Range(N - 1, const(-1), const(-1))),)), "a loop goes down"),
        (LINE, (Subset.point(i * i), (("i", up(N)),)), "i'*i' is not affine in i'"),
    ],
)
def test_orders(ours, theirs, reason):
    found = same_order(*ours, *theirs, SIZES)
    assert str(found) == str(reason)
