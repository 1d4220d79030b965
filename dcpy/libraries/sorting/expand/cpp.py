"""Sorting by C++'s standard library, which every program has: rows of packed numbers, one after the other."""

from __future__ import annotations

from dcpy.ir.expr import Index
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.symbolic import ONE
from dcpy.libraries.api import Environment, ForeignLibrary, Fragment, expands
from dcpy.libraries.sorting.nodes import Sort

_SOURCE = """
#include <algorithm>

namespace dcpy {
template <class T> void sort_rows(const T *x, T *out, int64_t rows, int64_t n) {
    std::copy(x, x + rows * n, out);
    for (T *row = out; row != out + rows * n; row += n)  // NaN goes to the end first: nothing compares with it
        std::sort(row, std::partition(row, row + n, [](T value) { return value == value; }));
}
}
"""

STANDARD = ForeignLibrary("c++.sort", lambda: Environment("c++.sort", declarations=_SOURCE))


@expands(Sort, "cpp", environment="c++.sort")
def sort_rows(node: Sort, f: Fragment) -> None:
    """One call for all rows."""
    x, out = f.input("x"), f.output("out")
    rows, n = x.shape
    if x.strides != (n, ONE) or out.strides != (n, ONE):
        f.decline("takes packed rows only")
    arguments = ("x", "out", Index(rows), Index(n))
    f.add(ForeignCall("dcpy::sort_rows", arguments, {"x": x.memlet}, {"out": out.memlet}, "c++.sort"))
