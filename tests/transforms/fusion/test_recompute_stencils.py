"""RecomputeStencils: what becomes of chains of stencils, their values, and when a field stays in memory."""

from __future__ import annotations

import pytest

from dcpy.ir.machine_model import Costs
from dcpy.ir.text import print_sdfg
from dcpy.transforms.fusion.recompute_stencils import RecomputeStencils
from dcpy.transforms.history import replay
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.expect import assert_same_values, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], k: i64[N]) symbols(N: size)"
LAPLACE = "map i = 0:N - 1 { tasklet (l <- A[i], r <- A[i + 1]) -> (o -> t[i]) { o = r - l } }"
FLUX = "map j = 0:N - 2 { tasklet (l <- t[j], r <- t[j + 1]) -> (o -> u[j]) { o = select(r > l, r, 0.0) } }"
UPDATE = "map m = 0:N - 3 { tasklet (l <- u[m], r <- u[m + 1]) -> (o -> B[m]) { o = r - l } }"
CHAIN = f"data t: f64[N - 1] transient data u: f64[N - 2] transient state {{ {LAPLACE} {FLUX} {UPDATE} }}"


LARGE = Costs(typical_size=10_000)  # so that arrays of one dimension do not stay in the cache


def recomputed(text, **parameters):
    """A program before and after, and the remarks; its history is replayed."""
    before, after = parse(text), parse(text)
    step = RecomputeStencils(**{"costs": LARGE} | parameters)
    report = run_pipeline(after, Pipeline("only", step), check=True, explain=True)
    again = parse(text)
    replay(again, after.history, check=True)
    assert print_sdfg(again) == print_sdfg(after)
    return before, after, [remark.reason for remark in report.remarks if remark.step == step.name]


def test_a_chain_is_one_map_and_what_two_fluxes_need_is_computed_once():
    before, after, remarks = recomputed(f"{HEAD} {{ {CHAIN} }}")
    assert print_sdfg(after) == print_sdfg(
        parse(f"""{HEAD} {{ state {{
        map m = 0:N - 3 {{
            data u_1: f64 transient data u_2: f64 transient
            data t_1: f64 transient data t_2: f64 transient data t_3: f64 transient
            tasklet (l <- A[m], r <- A[m + 1]) -> (o -> t_1) {{ o = r - l }}
            tasklet (l <- A[m + 1], r <- A[m + 2]) -> (o -> t_2) {{ o = r - l }}
            tasklet (l <- t_1, r <- t_2) -> (o -> u_1) {{ o = select(r > l, r, 0.0) }}
            tasklet (l <- A[m + 2], r <- A[m + 3]) -> (o -> t_3) {{ o = r - l }}
            tasklet (l <- t_2, r <- t_3) -> (o -> u_2) {{ o = select(r > l, r, 0.0) }}
            tasklet (l <- u_1, r <- u_2) -> (o -> B[m]) {{ o = r - l }} }} }} }}
    """)
    )
    assert_same_values(before, after, {"N": [3, 4, 9]})
    assert "'u' is recomputed where it is read" in remarks


def test_a_reader_in_a_later_block_and_in_a_branch():
    text = f"""{HEAD} {{ data t: f64[N - 1] transient state {{ {LAPLACE} }}
        check N >= 3 else ValueError "small"
        if N > 5 {{ state {{ {UPDATE.replace("u[", "t[")} }} }} }}"""
    before, after, _ = recomputed(text)
    assert list(after.body.containers) == ["A", "B", "k"]
    assert_same_values(before, after, {"N": [2, 4, 9]})


@pytest.mark.parametrize(
    ("nodes", "parameters", "reason"),
    [
        (
            f"state {{ {LAPLACE} {UPDATE.replace('u[', 't[')} }}",
            {"costs": Costs(recomputed=2, typical_size=10_000)},
            "3 units of work would be done again",
        ),
        (f"state {{ {LAPLACE} {UPDATE.replace('u[', 't[')} }}", {"reads": 1}, "read at 2 places"),
        (f"state {{ {LAPLACE} }} loop s = 0:3 {{ state {{ {UPDATE.replace('u[', 't[')} }} }}", {}, "more iterations"),
        (
            f"state {{ {LAPLACE} map m = 0:N - 3 {{ let p = k[m] "
            "state { tasklet (l <- t[p]) -> (o -> B[m]) { o = l } } } }",
            {},
            "more iterations",
        ),
        (f"state {{ {LAPLACE} {UPDATE.replace('u[', 't[').replace('B', 'A')} }}", {}, "written before its result"),
        (f"state {{ {LAPLACE.replace('r - l', 'exp(r)')} {UPDATE.replace('u[', 't[')} }}", {}, "'exp' would be"),
        (f"state {{ {LAPLACE} {UPDATE.replace('u[m]', 't[2*m]').replace('u[', 't[')} }}", {}, "more iterations"),
    ],
)
def test_fields_that_stay(nodes, parameters, reason):
    before, after, remarks = recomputed(f"{HEAD} {{ data t: f64[N - 1] transient {nodes} }}", **parameters)
    assert print_sdfg(after) == print_sdfg(before)
    assert any(reason in remark for remark in remarks), remarks


def test_a_field_that_may_be_broadcast_is_computed_at_clamped_places():
    text = """sdfg @f(A: f64[N, N], B: f64[N, N], C: f64[k]) symbols(N: size, k: size) {
        data t: f64[N, max(1, k)] transient state {
        map i = 0:N, j = 0:max(1, k) { tasklet (a <- A[i, j]) -> (o -> t[i, j]) { o = 2.0*a } }
        map m = 0:N, n = 0:N { tasklet (l <- t[m, min(n, max(1, k) - 1)]) -> (o -> B[m, n]) { o = l } } } }"""
    before, after, remarks = recomputed(text)
    assert list(after.body.containers) == ["A", "B", "C"]
    assert "'t' is recomputed where it is read" in remarks
    assert_same_values(before, after, {"N": [3, 5], "k": [0, 1, 3]})


def test_what_stays_in_the_cache_stays():
    """Small arrays, and rows that are private to an iteration of another map."""
    head = "sdfg @f(A: f64[9], B: f64[7])"
    text = f"""{head} {{ data t: f64[8] transient state {{
        map i = 0:8 {{ tasklet (l <- A[i], r <- A[i + 1]) -> (o -> t[i]) {{ o = r - l }} }}
        map j = 0:7 {{ tasklet (l <- t[j], r <- t[j + 1]) -> (o -> B[j]) {{ o = r - l }} }} }} }}"""
    _, _, remarks = recomputed(text)
    assert any("'t' fits into the cache" in remark for remark in remarks)
    rows = """sdfg @f(A: f64[N, N], B: f64[N, N]) symbols(N: size) { state { map r = 0:N { data t: f64[N] transient
        map i = 0:N { tasklet (a <- A[r, i]) -> (o -> t[i]) { o = exp(a) } }
        map j = 0:N - 1 { tasklet (l <- t[j], m <- t[j + 1]) -> (o -> B[r, j]) { o = m - l } } } } }"""
    assert any("'t' fits into the cache" in remark for remark in recomputed(rows)[2])


def test_elements_that_lie_far_apart_are_gathered_once():
    text = """sdfg @f(A: f64[N, N], B: f64[N]) symbols(N: size) { data t: f64[N] transient state {
        map i = 0:N { tasklet (a <- A[i, 3]) -> (o -> t[i]) { o = 2.0*a } }
        map j = 0:N - 1 { tasklet (l <- t[j], r <- t[j + 1]) -> (o -> B[j]) { o = r - l } } } }"""
    assert any("'A' that lie far apart" in remark for remark in recomputed(text)[2])
