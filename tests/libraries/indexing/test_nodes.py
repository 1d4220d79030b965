"""Nodes of indexing: meaning, expansions, text, JSON, what is refused."""

import re

import numpy as np
import pytest

from dcpy.base.errors import DcpyError
from dcpy.ir.files.json import from_json, to_json
from dcpy.ir.interp.running import interpret
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.verify import verify
from tests.libraries.oracles import LOOPS, expanded, values_of

RNG = np.random.default_rng(3)
COMPRESS = """
sdfg @f(m: bool[{mask}], x: f64[{whole}], out: f64[{packed}]) symbols(N, n) {{
  state {{ indexing.compress (mask <- m[_], x0 <- x[_]) -> (out0 -> out[_]) {{axis = {axis}}} }}
}}
"""
MASKED_STORE = """
sdfg @f(m: bool[{mask}], x: f64[{whole}], v: i32[{packed}]) symbols(N, n) {{
  state {{ indexing.masked_store (out <- x[_], mask <- m[_], values <- v[_]) -> (out -> x[_]) {{axis = {axis}}} }}
}}
"""
GATHER = """
sdfg @f(x: f64[4, 5], i: i64[3], j: i8[3], o: f64[{shape}]) {{
  state {{ indexing.gather (x <- x[_], {indices}) -> (out -> o[_]) {{axes = {axes}, shown = {axes}{fields}}} }}
}}
"""
SCATTER = """
sdfg @f(x: f64[4, 5], i: i64[3], j: i8[3], v: f64[{shape}]) {{
  state {{
    indexing.scatter (out <- x[_], values <- v[_], {indices}) -> (out -> x[_]) {{axes = {axes}, shown = {axes}{fields}}}
  }}
}}
"""
SHAPES = [  # of the mask, of the whole, along which axis
    ("N", "N", 0),
    ("N", "N, 3", 0),
    ("N", "2, N", 1),
    ("N, 3", "N, 3", 0),
    ("N, 3", "2, N, 3", 1),
]


def _whole(text):
    """The program with ``x[_]`` written out: all of x."""
    shapes = dict(re.findall(r"(\w+): \w+\[([^]]*)\]", text))
    ranges = {name: ", ".join(f"0:{size}" for size in shape.split(", ")) for name, shape in shapes.items()}
    return re.sub(r"(\w+)\[_\]", lambda found: f"{found[1]}[{ranges[found[1]]}]", text)


def _packed(mask, whole, axis):
    sizes, rank = whole.split(", "), len(mask.split(", "))
    return ", ".join([*sizes[:axis], "n", *sizes[axis + rank :]])


def _array(shape, n, draw=RNG.random):
    return draw(tuple(n if size == "N" else int(size) for size in shape.split(", ")))


@pytest.mark.parametrize("n", [0, 1, 63, 64, 200])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.9, 1.0])
@pytest.mark.parametrize(("mask", "whole", "axis"), SHAPES)
def test_masks_select_what_numpy_selects(mask, whole, axis, density, n):
    flags, x = _array(mask, n) < density, _array(whole, n)
    place = (*[slice(None)] * axis, flags)
    wanted = x[place]
    fields = {"mask": mask, "whole": whole, "packed": _packed(mask, whole, axis), "axis": axis}
    text = COMPRESS.format(**fields)
    for program in (parse_sdfg(_whole(text)), *map(expanded, [_whole(text)] * 2, LOOPS)):
        found = values_of(program, {"m": flags, "x": x, "out": np.zeros_like(wanted)})
        np.testing.assert_array_equal(found["out"], wanted)
    values = RNG.integers(0, 99, wanted.shape).astype(np.int32)
    x[place] = values
    text = MASKED_STORE.format(**fields)
    for program in (parse_sdfg(_whole(text)), *map(expanded, [_whole(text)] * 2, LOOPS)):
        np.testing.assert_array_equal(values_of(program, {"m": flags, "x": x.copy(), "v": values})["x"], x)


@pytest.mark.parametrize("shape", [(0,), (5,), (64,), (130,), (7, 3), (0, 4), (2, 3, 4)])
def test_positions(shape):
    flags = RNG.random(shape) < 0.4
    wanted, rank = np.nonzero(flags), len(shape)
    sizes = ", ".join(map(str, shape))
    outs = ", ".join(f"p{k}: i64[{len(wanted[0])}]" for k in range(rank))
    nodes = ", ".join(f"out{k} -> p{k}[_]" for k in range(rank))
    text = f"sdfg @f(m: bool[{sizes}], {outs}) {{ state {{ indexing.nonzero (mask <- m[_]) -> ({nodes}) }} }}"
    for program in (parse_sdfg(_whole(text)), *map(expanded, [_whole(text)] * 2, LOOPS)):
        found = values_of(program, {"m": flags} | {f"p{k}": np.zeros_like(p) for k, p in enumerate(wanted)})
        for k, places in enumerate(wanted):
            np.testing.assert_array_equal(found[f"p{k}"], places)


INDEXED = [  # the shape of what is selected, the connectors, the fields, NumPy's key
    ("3, 5", "i0 <- i[_]", "(0,)", "", lambda i, j: (i,)),
    ("4, 3", "i0 <- j[_]", "(1,)", ", first = 1", lambda i, j: (slice(None), j)),
    ("3", "i0 <- i[_], i1 <- j[_]", "(0, 1)", "", lambda i, j: (i, j)),
    ("3", "i0 <- i[_], i1 <- j[_]", "(0, 1)", ", proved = (0,)", lambda i, j: (abs(i), j)),
]


@pytest.mark.parametrize(("shape", "indices", "axes", "fields", "key"), INDEXED)
@pytest.mark.parametrize(("i", "j"), [((0, 3, 3), (-5, 4, 4)), ((1, 1, 1), (0, 0, 0))])
def test_index_arrays(shape, indices, axes, fields, key, i, j):
    x, i, j = RNG.random((4, 5)), np.array(i), np.array(j, np.int8)
    place = key(i, j)
    wanted = x[place]
    text = GATHER.format(shape=shape, indices=indices, axes=axes, fields=fields)
    for program in (parse_sdfg(_whole(text)), *map(expanded, [_whole(text)] * 2, LOOPS)):
        found = values_of(program, {"x": x, "i": i, "j": j, "o": np.zeros_like(wanted)})
        np.testing.assert_array_equal(found["o"], wanted)
    values = RNG.random(wanted.shape)
    x[place] = values
    text = SCATTER.format(shape=shape, indices=indices, axes=axes, fields=fields)
    for program in (parse_sdfg(_whole(text)), *map(expanded, [_whole(text)] * 2, LOOPS)):
        np.testing.assert_array_equal(values_of(program, {"x": x.copy(), "i": i, "j": j, "v": values})["x"], x)


def test_each_index_counts_where_values_are_combined():
    x, i, values = RNG.random((4, 5)), np.array([1, 1, -3]), RNG.random((3, 5))
    wanted = x.copy()
    np.add.at(wanted, i, values)
    text = SCATTER.format(shape="3, 5", indices="i0 <- i[_]", axes="(0,)", fields=', op = "add"')
    for program in (parse_sdfg(_whole(text)), *map(expanded, [_whole(text)] * 2, LOOPS)):
        found = values_of(program, {"x": x, "i": i, "j": np.zeros(3, np.int8), "v": values})["x"]
        np.testing.assert_allclose(found, wanted, rtol=1e-15)


@pytest.mark.parametrize(
    ("i", "j", "message"),
    [
        ((0, 4, 7), (0, 0, 0), "index 4 is out of bounds for axis 0 with size 4"),
        ((0, 1, -5), (9, 0, 0), "index -5 is out of bounds for axis 0 with size 4"),
        ((0, 1, 2), (0, 9, 0), "index 9 is out of bounds for axis 1 with size 5"),
    ],
)
def test_an_index_that_is_out_of_range_is_found_before_anything_is_written(i, j, message):
    fields = {"shape": "3", "indices": "i0 <- i[_], i1 <- j[_]", "axes": "(0, 1)", "fields": ""}
    x, i, j = RNG.random((4, 5)), np.array(i), np.array(j, np.int8)
    before = x.copy()
    with pytest.raises(IndexError, match=message):
        x[i, j]
    for text in (GATHER.format(**fields), SCATTER.format(**fields)):
        for program in (parse_sdfg(_whole(text)), *map(expanded, [_whole(text)] * 2, LOOPS)):
            given = {name: {"x": x, "i": i, "j": j}.get(name, np.zeros(3)) for name in program.arguments}
            with pytest.raises(IndexError, match=message):
                interpret(program, given)
            np.testing.assert_array_equal(x, before)


GATHERED = "indexing.gather (x <- x[_], i0 <- p[_]) -> (out -> w[_]) {axes = (0,), shown = (0,), "
SCATTERED = "indexing.scatter (out <- x[_], values <- w[_], i0 <- p[_]) -> (out -> x[_]) {axes = (0,), shown = (0,), "
REFUSED = [
    ("indexing.compress (mask <- m[_], x0 <- x[_]) -> (out0 -> x[0:3, 1])", "does not select"),
    ("indexing.compress (mask <- m[_], x0 <- x[_]) -> (out0 -> u[0:3, 0:3])", "differ beside"),
    ("indexing.compress (x0 <- x[_]) -> (out0 -> v[_])", "inputs mask"),
    ("indexing.compress (mask <- m[_], x0 <- x[_]) -> (out -> v[_])", "outputs out0"),
    ("indexing.nonzero (mask <- m[_]) -> (out1 -> p[_])", "one output for each"),
    ("indexing.masked_store (out <- x[_], mask <- m[_], values <- v[_]) -> (out -> v[_])", "same memlet"),
    ("indexing.masked_store (mask <- m[_], values <- v[_]) -> (out -> x[_])", "connectors"),
    ("indexing.gather (x <- x[_]) -> (out -> v[_])", "index array"),
    ("indexing.gather (x <- x[_], i0 <- p[_]) -> (out -> v[_]) {axes = (2,), shown = (2,)}", "do not fit"),
    ("indexing.gather (x <- x[_], i0 <- p[_]) -> (out -> w[_]) {axes = (0,), shown = ()}", "shown"),
    (SCATTERED + 'op = "or"}', "none of"),
    (SCATTERED + "first = 9}", "stand at"),
    (GATHERED + "proved = (1,)}", "among them"),
]


@pytest.mark.parametrize(("node", "reason"), REFUSED)
def test_nodes_that_do_not_fit_are_refused(node, reason):
    text = f"""
    sdfg @f(m: bool[3], x: f64[3, 2], v: f64[3, 2], w: f64[4, 2], u: f64[3, 3], p: i64[4]) {{ state {{ {node} }} }}
    """
    with pytest.raises(DcpyError, match=reason):
        verify(parse_sdfg(_whole(text)))


@pytest.mark.parametrize(
    "text",
    [
        COMPRESS.format(mask="N", whole="N", packed="n", axis=0),
        GATHER.format(shape="4, 3", indices="i0 <- j[_]", axes="(1,)", fields=", first = 1, checked = false"),
    ],
)
def test_text_and_json_give_the_same_node_back(text):
    sdfg = parse_sdfg(_whole(text))
    assert print_sdfg(parse_sdfg(print_sdfg(sdfg))) == print_sdfg(sdfg)
    assert print_sdfg(from_json(to_json(sdfg))) == print_sdfg(sdfg)
