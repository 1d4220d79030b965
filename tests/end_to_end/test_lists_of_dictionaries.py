"""Lists of run-time length whose items are dictionaries with the same keys; lists that change before they are items."""

import pytest

import dcpy
from tests.support.oracles import check_same


def reports(n):
    rows = []
    for month in range(1, n + 1):
        if month % 3 == 0 or month == 1:
            rows.append({"month": month, "interest": round(month / 7, 2), "tag": "x"})
    return rows, len(rows), sum(row["interest"] for row in rows), [row["tag"] for row in rows if row["month"] > 1]


def sorted_reports(n):
    rows = []
    for i in range(n):
        row = {"k": i, "v": i / 2}
        row["v"] += 1
        rows.append(row)
    rows.sort(key=lambda row: -row["k"])
    return rows, [row["k"] for row in rows if row["v"] > 2], rows[0]["v"], rows[-1]


def made_in_one(n):
    return [{"a": i, "b": i * i} for i in range(n)]


def rebound(n):
    out, row = [], [0, 0]
    for i in range(n):
        row[0] = i
        out.append(row)
        row = [0, 0]
    return out


def made_by_a_helper(n):
    def make(i):
        row = [0, 0]
        row[0] = i
        return row

    out = []
    for i in range(n):
        row = make(i)
        row[1] += 1
        out.append(row)
    return out


@pytest.mark.parametrize("function", [reports, sorted_reports, made_in_one, rebound, made_by_a_helper])
def test_dictionaries_in_lists(function):
    check_same(function, 7)


def refused(function):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function)(3)
    return str(caught.value)


def test_refuses_items_that_change():
    def before(n):
        row, out = [0], []
        for i in range(n):
            row[0] += i
            out.append(row)
        return out

    def of_a_dictionary(n):
        row, out = {"a": 0}, []
        for i in range(n):
            row["a"] += i
            out.append(row)
        return out

    def taken_out(n):
        rows = [{"a": i} for i in range(n)]
        rows[0]["a"] = 7
        return rows

    assert "has a copy of it, and would not see what is written" in refused(before)
    assert "has a copy of it, and would not see what is written" in refused(of_a_dictionary)
    assert "at a position known at run time only cannot be changed" in refused(taken_out)
