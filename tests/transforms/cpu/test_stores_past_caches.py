"""stores-past-caches: large results, of loops that wait for memory, are stored past the caches."""

from __future__ import annotations

import pytest

from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.cpu.stores_past_caches import StoresPastCaches
from tests.support.expect import assert_same_text

PROGRAM = """
    sdfg @f(A: f64[N, M], B: f64[N, M], c: f64[M], T: i64) symbols(N: size, M: size) {{
      state {{ map i = 0:N @parallel {{ map j = {row} {schedule} {{ {body} }} }} }}
    }}"""
POINTWISE = "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a * 2.0 }"
ABOVE = "@vector{streamed_above = 33554432}"


def applied(text: str) -> str:
    sdfg = parse_sdfg(text)
    StoresPastCaches().run(Rewriter(sdfg, "test"))
    return print_sdfg(sdfg)


@pytest.mark.parametrize("row", ["0:M", "1:M - 1"])
@pytest.mark.parametrize("body", [POINTWISE, "tasklet (a <- A[i, j], b <- c[j]) -> (o -> B[i, j]) { o = a * b }"])
def test_rows_of_vectors(body, row):
    before = PROGRAM.format(schedule="@vector", body=body, row=row)
    after = PROGRAM.format(schedule=ABOVE, body=body, row=row)
    assert_same_text(applied(before), print_sdfg(parse_sdfg(after)))


def test_what_threads_and_vectors_share_is_divided_first():
    program = "sdfg @f(a: f64[N], b: f64[N]) symbols(N: size) {{ state {{ {map} }} }}"
    body = "tasklet (x <- a[i]) -> (o -> b[i]) { o = x + 1.0 }"
    before = program.format(map=f"map i = 0:N @parallel{{above = 60000, width = 0}} {{ {body} }}")
    after = program.format(
        map="map i_tile = 0:N:1024 @parallel{above = 60000} { "
        f"map i = i_tile:min(i_tile + 1024, N) @vector{{streamed_above = 33554432}} {{ {body} }} }}"
    )
    assert_same_text(applied(before).replace("width = 0, ", ""), print_sdfg(parse_sdfg(after)))


@pytest.mark.parametrize(
    ("row", "schedule", "body", "why"),
    [
        ("0:M", "@sequential", POINTWISE, "no vectors"),
        ("0:M", "@vector{streamed_above = 64}", POINTWISE, "somebody said from where on"),
        ("0:M:2", "@vector", POINTWISE, "rows with gaps"),
        ("M - 8:M", "@vector", POINTWISE, "short rows"),
        ("1:M", "@vector", "tasklet (a <- A[i, j], b <- A[i, j - 1]) -> (o -> B[i, j]) { o = a + b }", "neighbours"),
        ("0:M", "@vector", "tasklet (a <- B[i, j]) -> (o -> B[i, j]) { o = a + 1.0 }", "read where it is written"),
        ("0:M", "@vector", "tasklet (a <- A[i, j]) -> (o -> B[j, i]) { o = a }", "columns"),
        ("0:M", "@vector", "tasklet (a <- A[i, j]) -> (o -> c[j]) { o = a }", "written again and again"),
        ("0:M", "@vector", "tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = sin(cos(sin(cos(sin(a))))) }", "work"),
    ],
)
def test_others_stay(row, schedule, body, why):
    text = PROGRAM.format(row=row, schedule=schedule, body=body)
    assert_same_text(applied(text), print_sdfg(parse_sdfg(text)))


@pytest.mark.parametrize(
    "text",
    [
        """sdfg @small(A: f64[1000, 1000], B: f64[1000, 1000]) {
          state { map i = 0:1000 @parallel { map j = 0:1000 @vector {
            tasklet (a <- A[i, j]) -> (o -> B[i, j]) { o = a * 2.0 } } } } }""",
        """sdfg @cubes(A: f64[N, N, N], B: f64[N, N, N]) symbols(N: size) {
          state { map i = 0:N, j = 0:N @parallel { map k = 0:N @vector {
            tasklet (a <- A[i, j, k]) -> (o -> B[i, j, k]) { o = a * 2.0 } } } } }""",
        """sdfg @as_often_as_it_is_long(a: f64[N], b: f64[N]) symbols(N: size) {
          loop t = 0:N { state { map i = 0:N @vector { tasklet (x <- a[i]) -> (o -> b[i]) { o = x * 2.0 } } } } }""",
    ],
)
def test_results_that_are_small_or_have_short_rows_or_take_days_stay(text):
    assert_same_text(applied(text), print_sdfg(parse_sdfg(text)))


def test_a_loop_over_time_does_not_matter():
    text = """sdfg @f(a: f64[N], b: f64[N], T: i64) symbols(N: size) {{
      loop t = 0:T {{ state {{ map i = 0:N {schedule} {{
        tasklet (x <- a[i]) -> (o -> b[i]) {{ o = x * 2.0 }} }} }} }} }}"""
    assert_same_text(applied(text.format(schedule="@vector")), print_sdfg(parse_sdfg(text.format(schedule=ABOVE))))


def test_explanations_name_megabytes():
    rw = Rewriter(parse_sdfg(PROGRAM.format(schedule="@vector", body=POINTWISE, row="0:M")), "test")
    rw.remarks = []
    StoresPastCaches().run(rw)
    (remark,) = rw.remarks
    assert remark.reason == "'B' is written straight to memory if it has more than 33.6 MB"
