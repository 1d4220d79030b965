"""Propagated boxes hold every element that is touched, and where they are called certain no other."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from dcpy.ir import types
from dcpy.ir.analysis.accesses.access_relations import seen_from_outside
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.data import Array
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Copy, Map
from dcpy.ir.region import Region, State
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import const, max_of, min_of, sym

FAR = 40  # elements beyond are not asked about: a whole dimension is a box too
i_, j_, N, M = (sym(name) for name in "ijNM")

numbers = st.integers(-2, 3)
leaves = st.sampled_from([i_, j_, N, M, const(1), const(4)])


@st.composite
def indices(draw):
    """An index over the parameters i, j and the sizes N, M."""
    linear = draw(numbers) * i_ + draw(numbers) * j_ + draw(numbers)
    match draw(st.sampled_from(["linear", "linear", "min", "max", "div", "mod", "product"])):
        case "min":
            return min_of(linear, draw(leaves))
        case "max":
            return max_of(linear, draw(leaves))
        case "div":
            return linear // draw(st.integers(1, 3))
        case "mod":
            return linear % draw(st.integers(1, 3))
        case "product":
            return linear * draw(leaves)
    return linear


@st.composite
def dims(draw):
    index = draw(indices())
    if draw(st.booleans()):
        return index
    return Range(index, index + draw(st.sampled_from([const(0), const(2), N, M, j_])), const(draw(st.integers(1, 2))))


@st.composite
def domains(draw):
    outer = draw(st.sampled_from([Range.of(0, N), Range.of(1, N, 2), Range.of(N - 1, -1, -1), Range.of(2, M + 1)]))
    inner = [Range.of(0, M), Range.of(0, i_), Range.of(i_, N), Range.of(M, 0, -2), Range.of(0, 3)]
    return outer, draw(st.sampled_from(inner))


def elements(subset, values):
    """The points of a subset, for given symbols."""
    axes = []
    for dim in subset.dims:
        edges = (dim.start, dim.stop, dim.step) if isinstance(dim, Range) else None
        axes.append(range(*(edge.evaluate(values) for edge in edges)) if edges else (dim.evaluate(values),))
    return set(itertools.product(*axes))


def touched(subset, domain, sizes):
    found = set()
    outer, inner = domain
    for i, in elements(Subset((outer,)), sizes):
        for j, in elements(Subset((inner,)), {**sizes, "i": i}):
            found |= elements(subset, {**sizes, "i": i, "j": j})
    return found


@given(st.lists(dims(), min_size=1, max_size=2), domains())
def test_boxes_hold_what_is_touched(subset_dims, domain):
    subset = Subset(tuple(subset_dims))
    sdfg = Sdfg("f")
    for size in "NM":
        sdfg.add_symbol(size, size=True)
    sdfg.add_argument("x", Array.packed(types.float64, (const(FAR),) * subset.rank))
    copy = Copy(Memlet("x", subset), Memlet("x", subset))
    node = Map(("i", "j"), domain, Region([State(nodes=[copy])]))
    sdfg.body.add(State(nodes=[node]))
    access = seen_from_outside(node, Uses(sdfg))[0]
    for n, m in itertools.product(range(5), range(4)):
        sizes = {"N": n, "M": m}
        box, real = elements(access.subset, sizes), touched(subset, domain, sizes)
        inside = {point for point in real if all(0 <= index < FAR for index in point)}
        assert inside <= box
        if access.certain:
            assert box == real
