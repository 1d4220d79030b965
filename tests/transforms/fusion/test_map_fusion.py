"""MapFusion: shape, value, refusal; and random pairs of maps."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dcpy import plugins
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.nodes import Map
from dcpy.ir.text import print_sdfg
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.fusion.map_fusion import MapFusion
from tests.support.expect import assert_same_values, expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N, M], D: f64[M, N], s: f64[]) symbols(N: size, M: size)"


def program(nodes, data="data tmp: f64[N] transient", blocks=""):
    return parse(f"{HEAD} {{ {data} state s {{ {nodes} }} {blocks} }}")


def test_fuses_an_elementwise_producer():
    expect(
        MapFusion(),
        on=program("""
            map i = 0:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } }
            map j = 0:N { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a * 2 } }"""),
    ).becomes(f"""{HEAD} {{
        state s {{ map i = 0:N {{ data tmp: f64 transient
                                tasklet (a <- A[i]) -> (o -> tmp) {{ o = a + 1 }}
                                tasklet (a <- tmp) -> (o -> B[i]) {{ o = a * 2 }} }} }} }}
    """).same_values(N=[0, 1, 7], M=[2])


def test_matches_shifted_and_permuted_parameters():
    expect(
        MapFusion(),
        on=program(
            """map i = 0:N, j = 0:M { tasklet (a <- C[i, j]) -> (o -> tmp[i, j]) { o = a + 1 } }
               map k = 2:M + 2, l = 0:N { tasklet (a <- tmp[l, k - 2]) -> (o -> D[k - 2, l]) { o = a * 2 } }""",
            "data tmp: f64[N, M] transient",
        ),
    ).becomes(f"""{HEAD} {{
        state s {{ map i = 0:N, j = 0:M {{ data tmp: f64 transient
                                tasklet (a <- C[i, j]) -> (o -> tmp) {{ o = a + 1 }}
                                tasklet (a <- tmp) -> (o -> D[j, i]) {{ o = a * 2 }} }} }} }}
    """).same_values(N=[0, 3], M=[1, 4])


def test_keeps_the_dimensions_that_run_inside():
    expect(
        MapFusion(),
        on=program(
            """map i = 0:N { map j = 0:M { tasklet (a <- C[i, j]) -> (o -> tmp[i, j]) { o = a + 1 } } }
               map k = 0:N { map l = 0:M { tasklet (a <- tmp[k, M - 1 - l]) -> (o -> C[k, l]) { o = a * 2 } } }""",
            "data tmp: f64[N, M] transient",
        ),
    ).becomes(f"""{HEAD} {{
        state s {{ map i = 0:N {{ data tmp: f64[M] transient
                     map j = 0:M {{ tasklet (a <- C[i, j]) -> (o -> tmp[j]) {{ o = a + 1 }} }}
                     map l = 0:M {{ tasklet (a <- tmp[M - 1 - l]) -> (o -> C[i, l]) {{ o = a * 2 }} }} }} }} }}
    """).same_values(N=[0, 3], M=[0, 4])


def test_moves_what_stands_between():
    expect(
        MapFusion(),
        on=program("""
            map i = 0:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } }
            tasklet () -> (o -> s) { o = 3.0 }
            map j = 0:N { tasklet (a <- tmp[j], b <- s) -> (o -> B[j]) { o = a * b } }"""),
    ).becomes(f"""{HEAD} {{
        state s {{ tasklet () -> (o -> s) {{ o = 3.0 }}
                   map i = 0:N {{ data tmp: f64 transient
                                tasklet (a <- A[i]) -> (o -> tmp) {{ o = a + 1 }}
                                tasklet (a <- tmp, b <- s) -> (o -> B[i]) {{ o = a * b }} }} }} }}
    """).same_values(N=[0, 1, 7], M=[2])


def test_keeps_a_temporary_that_is_asked_for():
    sdfg = program(
        """map i = 0:N { tasklet (a <- A[i]) -> (o -> B[i]) { o = a + 1 } }
           map j = 0:N { tasklet (a <- B[j]) -> (o -> A[j]) { o = a * 2 } }"""
    )
    expect(MapFusion(), on=sdfg).is_refused(
        "'B' must stay in memory: it is an argument, a result, or has views; keep_intermediate=True fuses and stores it"
    )
    expect(MapFusion(keep_intermediate=True), on=sdfg).becomes(f"""{HEAD} {{
        data tmp: f64[N] transient
        state s {{ map i = 0:N {{ tasklet (a <- A[i]) -> (o -> B[i]) {{ o = a + 1 }}
                                tasklet (a <- B[i]) -> (o -> A[i]) {{ o = a * 2 }} }} }} }}
    """).same_values(N=[0, 1, 7], M=[2])


PRODUCER = "map i = 0:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } }"
REFUSALS = {
    "iteration spaces differ: 0:N and 0:N - 1": (
        PRODUCER + "map j = 0:N - 1 { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a } }"
    ),
    "iteration i writes tmp[i], iteration i + 1 reads tmp[i - 1]": (
        "map i = 1:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } }"
        "map j = 1:N { tasklet (a <- tmp[j - 1]) -> (o -> B[j]) { o = a } }"
    ),
    "iteration i reads A[i - 1], iteration i - 1 writes A[i]": (
        "map i = 1:N { tasklet (a <- A[i - 1]) -> (o -> tmp[i]) { o = a + 1 } }"
        "map j = 1:N { tasklet (a <- tmp[j]) -> (o -> A[j]) { o = a } }"
    ),
    "'tmp' is used by other statements": (
        PRODUCER + "map j = 0:N { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a } } copy tmp[0:N] -> A[0:N]"
    ),
    "'tmp' where the same iteration did not surely write it": (
        "map i = 0:N { if A[i] > 0.0 { state { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a } } } }"
        "map j = 0:N { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a } }"
    ),
    "a node between the maps depends on the first, and the second on it": (
        PRODUCER + "tasklet () -> (o -> A[0]) { o = f64(1) }"
        "map j = 0:N { tasklet (a <- tmp[j], b <- A[j]) -> (o -> B[j]) { o = a + b } }"
    ),
    "schedules differ: @sequential and @parallel": (
        PRODUCER.replace("0:N", "0:N @sequential")
        + "map j = 0:N @parallel { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a } }"
    ),
    "one may raise an exception while the other one writes 'B'": (
        'map i = 0:N { check A[i] > 0.0 else ValueError "no" state { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a } } }'
        "map j = 0:N { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a } }"
    ),
}


@pytest.mark.parametrize("reason", REFUSALS)
def test_refuses(reason):
    expect(MapFusion(), on=program(REFUSALS[reason])).is_refused(reason)


def test_fuses_long_chains_into_one_map():
    length = 40
    names = ["A", *(f"t{k}" for k in range(length - 1)), "B"]
    data = " ".join(f"data {name}: f64[N] transient" for name in names[1:-1])
    nodes = " ".join(
        f"map i{k} = 0:N {{ tasklet (a <- {names[k]}[i{k}]) -> (o -> {names[k + 1]}[i{k}]) {{ o = a + 1 }} }}"
        for k in range(length)
    )
    sdfg = program(nodes, data)
    before = copy_sdfg(sdfg)
    assert apply_repeated(sdfg, MapFusion()) == length - 1
    assert sum(isinstance(node, Map) for node in sdfg.body.walk_nodes()) == 1
    assert_same_values(before, sdfg, {"N": [0, 5], "M": [1]})


# -- random pairs ------------------------------------------------------------------------------------------------------

indices = st.builds(lambda slope, shift: f"{slope}*{{i}} + {shift}", st.integers(0, 2), st.integers(0, 2))


@st.composite
def pairs(draw):
    """Two maps over tmp, A and B, each without races by itself: it writes one container at its own parameter."""

    def one(param, target, sources):
        read = draw(st.sampled_from(sources)) + "[" + draw(indices).replace("{i}", param) + "]"
        shift = draw(st.integers(0, 2))
        domain = draw(st.sampled_from(["0:4", "0:4", "1:5", "0:8:2"]))
        return (
            f"map {param} = {domain} {{ tasklet (a <- {read}, b <- {target}[{param} + {shift}]) "
            f"-> (o -> {target}[{param} + {shift}]) {{ o = a + b * 2 }} }}"
        )

    others = {"A": ["B", "tmp"], "B": ["A", "tmp"], "tmp": ["A", "B"]}
    second = draw(st.sampled_from(["A", "B"]))
    return f"""sdfg @f(A: f64[24], B: f64[24]) {{ data tmp: f64[24] transient
        state {{ map k = 0:24 {{ tasklet () -> (o -> tmp[k]) {{ o = 1.0 }} }} }}
        state {{ {one("i", "tmp", others["tmp"])} {one("j", second, others[second])} }} }}"""


@given(pairs())
def test_fused_maps_mean_the_same_in_any_order(text):
    before = parse(text)
    after = copy_sdfg(before)
    apply_repeated(after, MapFusion(keep_intermediate=True), check=True)
    assert_same_values(before, after, {})


def test_s4_a_step_of_unknown_sign_may_go_both_ways():
    """S4: at s = -2 the dot product reads ``a[6:0:s]``, which the second map writes: 200 before, 149 after fusion."""
    plugins.load()
    sdfg = parse("""sdfg @f(a: f64[9], r: f64[]) symbols(s: i64) {
        data tmp: f64[6] transient
        state {
            map i = 0:6 { tasklet (v <- a[i]) -> (o -> tmp[i]) { o = v + 1 } }
            blas.dot (x <- tmp[0:3], y <- a[6:0:s]) -> (result -> r[])
            map j = 0:6 { tasklet (v <- tmp[j]) -> (o -> a[j]) { o = v * 2 } } } }""")
    expect(MapFusion(keep_intermediate=True), on=sdfg).is_refused("a node between the maps depends on the first")
    sdfg = parse(print_sdfg(sdfg).replace("a[6:0:s]", "a[6:0:-s]").replace("symbols(s: i64)", "symbols(s: size)"))
    expect(MapFusion(keep_intermediate=True), on=sdfg).is_refused("a node between the maps depends on the first")


def test_sizes_that_a_condition_has_found_equal():
    """As contour_integral has them: two names of one size, compared before the loops."""
    head = "sdfg @f(A: f64[N], B: f64[M]) symbols(N: size, M: size)"
    maps = """map i = 0:N { tasklet (a <- A[i]) -> (o -> tmp[i]) { o = a + 1 } }
              map j = 0:M { tasklet (a <- tmp[j]) -> (o -> B[j]) { o = a * 2 } }"""
    on = parse(f"{head} {{ if N - M >= 0 and M - N >= 0 {{ data tmp: f64[N] transient state {{ {maps} }} }} }}")
    expect(MapFusion(), on=on).becomes(f"""{head} {{ if N - M >= 0 and M - N >= 0 {{
        state {{ map i = 0:N {{ data tmp: f64 transient
            tasklet (a <- A[i]) -> (o -> tmp) {{ o = a + 1 }}
            tasklet (a <- tmp) -> (o -> B[i]) {{ o = a * 2 }} }} }} }} }}
    """).same_values(N=[0, 3], M=[0, 3])
    on = parse(f"{head} {{ if N - M >= 0 {{ data tmp: f64[N] transient state {{ {maps} }} }} }}")
    expect(MapFusion(), on=on).is_refused("iteration spaces differ: 0:N and 0:M")
