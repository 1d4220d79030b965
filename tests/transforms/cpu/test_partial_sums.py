"""Partial sums: chunks within iterations of maps, blocks of chunks where there is one sum."""

from __future__ import annotations

import pytest

from dcpy import plugins
from dcpy.ir.machine_model import Costs
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.cpu.partial_sums import PartialSums
from dcpy.transforms.expand import expand_library_nodes
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.expect import assert_same_text, assert_same_values

plugins.load()
SMALL = Costs(partial_sum=4, sums_per_block=2, rows_per_block=2)
ONE_SUM = """
sdfg @f(x: {t}[N], s: {t}[]) symbols(N: size) {{ data acc: {t} transient state {{
  tasklet () -> (o -> acc) {{ o = 0 }}
  map k = 0:N {{ tasklet (a <- x[k]) -> (o -> acc ({op})) {{ o = {term} }} }}
  tasklet (a <- acc) -> (o -> s[]) {{ o = a }} }} }}
"""


def divided(text, costs=SMALL):
    sdfg = parse_sdfg(text)
    run_pipeline(sdfg, Pipeline("sums", PartialSums(costs)), check=True)
    return sdfg


def test_one_sum_becomes_blocks_of_chunks_with_a_slot_each():
    text = ONE_SUM.format(t="f64", op="add", term="a")
    found = divided(text)
    assert_same_text(print_sdfg(found), print_sdfg(parse_sdfg("""
sdfg @f(x: f64[N], s: f64[]) symbols(N: size) {
  data acc: f64 transient
  data parts: f64[-(-N//8)] transient
  state {
    tasklet () -> (o -> acc) { o = 0.0 }
    map k_tile = 0:N:8 {
      data acc_part: f64 transient
      tasklet () -> (out -> acc_part) { out = -0.0 }
      map k_tile_1 = k_tile:min(N, k_tile + 8):4 {
        data acc_part_part: f64 transient
        tasklet () -> (out -> acc_part_part) { out = -0.0 }
        map k = k_tile_1:min(N, k_tile + 8, k_tile_1 + 4) {
          tasklet (a <- x[k]) -> (o -> acc_part_part (add)) { o = a }
        }
        tasklet (part <- acc_part_part) -> (out -> acc_part (add)) { out = part }
      }
      tasklet (part <- acc_part) -> (out -> parts[k_tile//8]) { out = part }
    }
    map slot = 0:-(-N//8) { tasklet (part <- parts[slot]) -> (out -> acc (add)) { out = part } }
    tasklet (a <- acc) -> (o -> s[]) { o = a }
  }
}""")))  # fmt: skip
    assert_same_values(parse_sdfg(text), found, {"N": [0, 1, 7, 8, 9, 40]})


@pytest.mark.parametrize("operation", ["add", "mul"])
@pytest.mark.parametrize("dtype", ["f32", "f64", "c128"])
def test_sums_and_products_of_floats(dtype, operation):
    text = ONE_SUM.format(t=dtype, op=operation, term="a")
    found = divided(text)
    assert "parts" in found.body.containers
    assert_same_values(parse_sdfg(text), found, {"N": [0, 1, 9, 20]})


@pytest.mark.parametrize(
    "text",
    [
        ONE_SUM.format(t="i64", op="add", term="a"),  # exact in any order
        ONE_SUM.format(t="f64", op="max", term="a"),
        ONE_SUM.format(t="f64", op="add", term="tanh(a)"),  # threads take single terms
        ONE_SUM.format(t="f64", op="add", term="a").replace("N", "4").replace("symbols(4: size)", ""),
    ],
)
def test_what_stays(text):
    assert print_sdfg(divided(text)) == print_sdfg(parse_sdfg(text))


def test_a_sum_into_memory_of_the_caller_stays():
    text = "sdfg @f(x: f64[N], s: f64[]) symbols(N: size) { state { map k = 0:N {" \
           " tasklet (a <- x[k]) -> (o -> s[] (add)) { o = a } } } }"  # fmt: skip
    assert print_sdfg(divided(text)) == print_sdfg(parse_sdfg(text))


def test_two_sums_and_an_array_in_one_map():
    text = """
sdfg @f(x: f64[N], y: f64[N], s: f64[2]) symbols(N: size) {
  data a: f64 transient data b: f64 transient data n: i64 transient state {
  tasklet () -> (p -> a, q -> b, r -> n) { p = 0.0 q = 1.0 r = 0 }
  map k = 0:N { tasklet (v <- x[k]) -> (p -> a (add), q -> b (add), r -> n (add), w -> y[k]) {
    p = v q = v*v r = i64(v > 0.5) w = 2.0*v } }
  tasklet (p <- a, q <- b, r <- n) -> (u -> s[0], v -> s[1]) { u = p + f64(r) v = q } } }
"""
    found = divided(text)
    assert {"parts", "parts_1"} <= set(found.body.containers)
    assert_same_values(parse_sdfg(text), found, {"N": [0, 1, 9, 20]})


def test_rows_and_what_is_inside_of_them():
    text = """
sdfg @f(A: f64[N, M], s: f64[]) symbols(N: size, M: size) { data acc: f64 transient state {
  tasklet () -> (o -> acc) { o = 0.0 }
  map i = 0:N, k = 0:M { tasklet (a <- A[i, k]) -> (o -> acc (add)) { o = a } }
  tasklet (a <- acc) -> (o -> s[]) { o = a } } }
"""
    found = divided(text)
    assert "map i_tile = 0:N:2 {" in print_sdfg(found)
    assert_same_values(parse_sdfg(text), found, {"N": [0, 1, 5], "M": [0, 3, 9]})


@pytest.mark.parametrize(
    "statement",
    [
        "blas.dot (x <- x[0:N], y <- y[0:N]) -> (result -> s[])",
        "reduce (x <- x[0:N]) -> (out -> s[]) {axes = (0,)}",
    ],
)
def test_neutral_expansions_are_recognized(statement):
    text = f"sdfg @f(x: f64[N], y: f64[N], s: f64[]) symbols(N: size) {{ state {{ {statement} }} }}"
    sdfg = parse_sdfg(text)
    expand_library_nodes(sdfg, "maps")
    assert "parts" in divided(print_sdfg(sdfg)).body.containers
