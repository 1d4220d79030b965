"""``dcpy.distribute`` in programs: a copy for one rank, and where an array lives for many."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import FrontendError, InvalidSdfg

GRID = dcpy.grid(1)
ROWS = dcpy.on(GRID, "block", None)
N, M = dcpy.symbol("N"), dcpy.symbol("M")


def made(body):
    body.__annotations__ = {"x": dcpy.float64[N, M], "y": dcpy.float64[N, M]}
    return dcpy.program(body).to_sdfg()


def refused(body, message):
    with pytest.raises(FrontendError, match=message) as found:
        made(body)
    assert "test_distribute.py" in str(found.value)
    return str(found.value)


@pytest.mark.parametrize(
    ("body", "where"),
    [
        (lambda x, y: dcpy.distribute(x, ROWS), "block 0, whole"),
        (lambda x, y: dcpy.distribute(x, GRID), "block 0, whole"),
        (lambda x, y: dcpy.distribute(x, GRID, blocks=(None, "cyclic")), "whole, cyclic 0"),
        (lambda x, y: dcpy.distribute(x, GRID, (None, dcpy.cyclic(32))), "whole, cyclic 0 by 32"),
        (lambda x, y: dcpy.distribute(x, dcpy.on(GRID, dcpy.block(100), None)), "block 0 by 100, whole"),
    ],
)
def test_what_is_said_is_in_the_node(body, where):
    assert f"where = [N, M] at [0:N, 0:M] on grid({where}) of [1]" in str(made(body))


def test_it_is_a_copy():
    def f(x, y):
        t = dcpy.distribute(x, ROWS)
        x[0, 0] = -1.0
        y[:] = t + dcpy.zeros(x.shape, on=ROWS) + dcpy.full((x.shape[0], 1), 2, np.float32, on=ROWS)

    x, y = np.arange(6.0).reshape(2, 3), np.zeros((2, 3))
    made(f).interpret(x, y)
    np.testing.assert_array_equal(y, np.arange(6.0).reshape(2, 3) + 2)
    assert x[0, 0] == -1


def test_the_text_is_read_again():
    sdfg = made(lambda x, y: dcpy.distribute(x, ROWS))
    assert str(dcpy.parse(str(sdfg))) == str(sdfg)
    nowhere = str(sdfg).replace(" on grid(block 0, whole) of [1]", "")
    with pytest.raises(InvalidSdfg, match="does not say how its array is dealt out, and on which grid"):
        dcpy.parse(nowhere).validate()
    fewer = str(sdfg).replace("[N, M] at [0:N, 0:M] on grid(block 0, whole)", "[N] at [0:N] on grid(block 0)")
    with pytest.raises(InvalidSdfg, match="has operands of 2 and 2 dimensions, and deals out 1"):
        dcpy.parse(fewer).validate()


def test_what_does_not_fit():
    def few(x, y):
        y[:] = dcpy.distribute(x[0], ROWS)

    def many(x, y):
        y[:] = dcpy.distribute(x, GRID, ("block", "block"))

    def unknown(x, y):
        y[:] = dcpy.distribute(x, GRID, ("rows", None))

    def number(x, y):
        y[:] = dcpy.distribute(x, 4)

    assert "name a way for each dimension" in refused(few, "an array of 1 dimensions does not fit the distribution")
    refused(many, "more dimensions are distributed than the grid has axes, which are 1")
    assert "write 'block', 'cyclic' or None" in refused(unknown, "'rows' is no distribution of a dimension")
    assert "with a grid that is made before" in refused(number, "takes a grid, or what dcpy.on makes, not int")


def test_what_ranks_bring_along_is_known_before():
    def f(x, y):
        y[:] = dcpy.from_local(x, ROWS, (4, 4))

    said = refused(f, r"dcpy.from_local\(\) is not supported")
    assert "known before a program runs" in said
    assert "inside of programs there are dcpy.distribute, zeros, ones, full and empty" in said
