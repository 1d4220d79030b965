"""SubgraphFusion: shape, value, refusal; softmax keeps one row."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.ir.nodes import Map
from dcpy.transforms.fusion.subgraph_fusion import SubgraphFusion
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], C: f64[N, M], s: f64[N]) symbols(N: size, M: size)"
DATA = "data t: f64[N, M] transient data r: f64[N] transient"
ROWS = """map i = 0:N { data acc: f64 transient tasklet () -> (o -> acc) { o = 0.0 }
            map k = 0:M { tasklet (a <- A[i, k]) -> (o -> acc (add)) { o = a } }
            tasklet (a <- acc) -> (o -> r[i]) { o = a } }"""
LESS = "map j = 0:N, l = 0:M { tasklet (a <- A[j, l], b <- r[j]) -> (o -> t[j, l]) { o = a - b } }"
ONLY = LESS.replace("r[j]", "s[j]")
BACK = "map p = 0:N, q = 0:M { tasklet (a <- t[p, M - 1 - q]) -> (o -> B[p, q]) { o = a*2 } }"


def program(nodes, data=DATA):
    return parse(f"{HEAD} {{ {data} state {{ {nodes} }} }}")


def test_maps_of_different_ranks_meet_at_their_common_prefix():
    expect(SubgraphFusion(), on=program(ROWS + LESS + BACK)).becomes(f"""{HEAD} {{ state {{
        map i = 0:N {{ data acc: f64 transient data r: f64 transient data t: f64[M] transient
            tasklet () -> (o -> acc) {{ o = 0.0 }}
            map k = 0:M {{ tasklet (a <- A[i, k]) -> (o -> acc (add)) {{ o = a }} }}
            tasklet (a <- acc) -> (o -> r) {{ o = a }}
            map l = 0:M {{ tasklet (a <- A[i, l], b <- r) -> (o -> t[l]) {{ o = a - b }} }}
            map q = 0:M {{ tasklet (a <- t[M - 1 - q]) -> (o -> B[i, q]) {{ o = a*2 }} }} }} }} }}
    """).same_values(N=[0, 1, 4], M=[0, 1, 5])


def test_two_readers_of_one_temporary_and_a_shift():
    expect(
        SubgraphFusion(),
        on=program("""map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> t[i, j]) { o = a + 1 } }
            map k = 1:N + 1, l = 0:M { tasklet (a <- t[k - 1, l]) -> (o -> B[k - 1, l]) { o = a*2 } }
            map p = 0:N, q = 0:M { tasklet (a <- t[p, q]) -> (o -> C[p, q]) { o = -a } }"""),
    ).becomes(f"""{HEAD} {{ data r: f64[N] transient state {{
        map i = 0:N, j = 0:M {{ data t: f64 transient
            tasklet (a <- A[i, j]) -> (o -> t) {{ o = a + 1 }}
            tasklet (a <- t) -> (o -> B[i, j]) {{ o = a*2 }}
            tasklet (a <- t) -> (o -> C[i, j]) {{ o = -a }} }} }} }}
    """).same_values(N=[0, 3], M=[1, 4])


def test_what_stands_between_steps_aside():
    """The independent tasklet goes before, what reads the result of a member stays behind."""
    between = (
        "tasklet (a <- s[0]) -> (o -> s[1]) { o = a } map z = 0:N { tasklet (a <- B[z, 0]) -> (o -> s[z]) { o = a } }"
    )
    on = program(f"{LESS.replace('r[j]', 'A[j, 0]')} {BACK} {between}")
    expect(SubgraphFusion(), on=on).same_values(N=[2, 3], M=[1, 4])
    moved = program(
        f"{LESS.replace('r[j]', 'A[j, 0]')} {between.replace('B[z, 0]', 's[0]').partition('map')[0]} {BACK}"
    )
    found = expect(SubgraphFusion(), on=moved).becomes(f"""{HEAD} {{ data r: f64[N] transient state {{
        tasklet (a <- s[0]) -> (o -> s[1]) {{ o = a }}
        map j = 0:N {{ data t: f64[M] transient
            map l = 0:M {{ tasklet (a <- A[j, l], b <- A[j, 0]) -> (o -> t[l]) {{ o = a - b }} }}
            map q = 0:M {{ tasklet (a <- t[M - 1 - q]) -> (o -> B[j, q]) {{ o = a*2 }} }} }} }} }}""")
    found.same_values(N=[2, 3], M=[1, 4])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        (BACK, "writes no temporary"),
        (LESS + "copy t[0:N, 0:M] -> B[0:N, 0:M]", "writes no temporary that only maps"),
        (
            LESS + BACK.replace("0:N", "0:N - 1"),
            "outer parameters run through different values: 0:N, 0:M and 0:N - 1, 0:M",
        ),
        (
            LESS + BACK.replace("t[p, M - 1 - q]", "t[N - 1 - p, q]"),
            "iteration j writes t[j, l], another one reads t[N - j - 1, q]",
        ),
        (LESS + BACK + "map z = 0:M { tasklet (a <- t[0, z]) -> (o -> s[z] (add)) { o = a } }", "used by other"),
        (LESS.replace("0:M", "1:M") + BACK, "did not surely write it"),
        (ROWS + "map j = 0:N, l = 0:M { tasklet (b <- r[j]) -> (o -> B[j, l]) { o = b } }", "pass small=True"),
        (ONLY + BACK.replace("-> B[p, q]", "-> A[N - 1 - p, q]"), "another one writes A[N - j - 1, q]"),
    ],
)
def test_refusals(nodes, reason):
    expect(SubgraphFusion(), on=program(nodes)).is_refused(reason)


def test_larger_private_buffers_are_asked_for():
    head = "sdfg @f(A: f64[N, M, M], B: f64[N, M, M]) symbols(N: size, M: size)"
    on = parse(f"""{head} {{ data t: f64[N, M, M] transient state {{
        map i = 0:N, j = 0:M, k = 0:M {{ tasklet (a <- A[i, j, k]) -> (o -> t[i, j, k]) {{ o = a + 1 }} }}
        map p = 0:N, q = 0:M, r = 0:M {{ tasklet (a <- t[p, r, q]) -> (o -> B[p, q, r]) {{ o = a*2 }} }} }} }}""")
    expect(SubgraphFusion(), on=on).is_refused("each iteration needs 2 dimensions of 't'")
    expect(SubgraphFusion(rank=2), on=on).becomes(f"""{head} {{ state {{ map i = 0:N {{ data t: f64[M, M] transient
        map j = 0:M, k = 0:M {{ tasklet (a <- A[i, j, k]) -> (o -> t[j, k]) {{ o = a + 1 }} }}
        map q = 0:M, r = 0:M {{ tasklet (a <- t[r, q]) -> (o -> B[i, q, r]) {{ o = a*2 }} }} }} }} }}
    """).same_values(N=[0, 2], M=[0, 3])


L, M, N = (dcpy.symbol(name) for name in "LMN")


def softmax(x: dcpy.float32[L, M, N]):
    top = np.max(x, axis=-1, keepdims=True)
    powers = np.exp(x - top)
    return powers / np.sum(powers, axis=-1, keepdims=True)


def optimized():
    sdfg = dcpy.program(softmax).to_sdfg()
    return sdfg.auto_optimize()


def test_softmax_is_one_map_with_a_row_of_its_own():
    """One parallel region, one read and one write of memory, no temporary of the size of the operand."""
    sdfg = optimized()
    nodes = [node for block in sdfg.body.blocks for node in getattr(block, "nodes", ())]
    assert [type(node) for node in nodes] == [Map]
    assert list(sdfg.body.containers) == ["x", "__return"]
    largest = max(len(desc.shape) for region in nodes[0].regions() for desc in region.containers.values())
    assert largest == 1
    x = np.random.default_rng(0).random((2, 3, 5), np.float32)
    np.testing.assert_allclose(sdfg.interpret(x), softmax(x), rtol=1e-6)


@pytest.mark.cc
def test_softmax_compiled():
    """Rows of any length, also longer than a partial sum; the buffer of a row is allocated before the loops."""
    sdfg = optimized()
    for shape in ((2, 3, 5), (1, 1, 1), (2, 1, 3000), (0, 2, 4)):
        x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
        np.testing.assert_allclose(sdfg(x), softmax(x), rtol=2e-6)
    from dcpy.base.options import resolve_options
    from dcpy.codegen.signature import default_signature

    text = driver.artifact_of(sdfg, default_signature(sdfg), resolve_options()).units[0].text
    assert text.count("dcpy_team([=") == 1
    assert text.index("dcpy_heap_buffer<float> powers") < text.index("#pragma omp for")
