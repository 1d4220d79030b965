"""InLocalStorage and OutLocalStorage: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.memory.in_local_storage import InLocalStorage
from dcpy.transforms.memory.out_local_storage import OutLocalStorage
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N], B: f64[N, M], C: f64[N], k: i64[]) symbols(N: size, M: size)"
TILES = """map t = 0:N:4 { map i = t:min(t + 4, N) { map j = 0:M {
    tasklet (a <- A[i]) -> (o -> B[i, j]) { o = a + f64(j) } } } }"""


def program(nodes, data=""):
    return parse(f"{HEAD} {{ {data} {nodes} }}")


def test_a_tile_is_read_once():
    on = program(f"state {{ {TILES} }}")
    found = expect(InLocalStorage(array="A"), on=on)
    assert found.reasons()[0] == ""
    found.becomes(f"""{HEAD} {{ state {{ map t = 0:N:4 {{ data A_local: f64[min(N, t + 4) - t] transient
        copy A[t:min(N, t + 4)] -> A_local[0:min(N, t + 4) - t]
        map i = t:min(t + 4, N) {{ map j = 0:M {{
            tasklet (a <- A_local[i - t]) -> (o -> B[i, j]) {{ o = a + f64(j) }} }} }} }} }} }}
    """).same_values(N=[0, 3, 4, 9], M=[0, 2])


def test_a_halo_of_a_stencil_and_a_condition():
    on = program("""loop t = 1:N - 5 { state { map i = t:t + 4 {
        tasklet (l <- A[i - 1], r <- A[i + 1]) -> (o -> B[i, 0]) { o = l - r } } }
        if A[t] > 0.0 { state { tasklet () -> (o -> B[0, 0]) { o = 1.0 } } } }""")
    expect(InLocalStorage(), on=on).becomes(f"""{HEAD} {{ loop t = 1:N - 5 {{ data A_local: f64[6] transient
        state {{ copy A[t - 1:t + 5] -> A_local[0:6]
        map i = t:t + 4 {{
            tasklet (l <- A_local[i - t], r <- A_local[i - t + 2]) -> (o -> B[i, 0]) {{ o = l - r }} }} }}
        if A_local[1] > 0.0 {{ state {{ tasklet () -> (o -> B[0, 0]) {{ o = 1.0 }} }} }} }} }}
    """).same_values(N=[0, 7, 9], M=[1])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ("map i = 0:N { map j = 0:M { tasklet (a <- A[i]) -> (o -> B[i, j]) { o = a } } }", "one element of 'A'"),
        ("map i = 0:N { map j = 0:M { tasklet (a <- B[i, j]) -> (o -> B[i, j]) { o = a } } }", "it writes 'B', too"),
        ("map j = 0:M { map i = 1:N { tasklet (a <- A[i]) -> (o -> B[i, j]) { o = a } } }", "may touch nothing of 'A'"),
        ("map j = 0:M { map i = 0:4 { tasklet (a <- A[2*i]) -> (o -> B[i, j]) { o = a } } }", "in steps of one"),
        ("map j = 0:M { copy A[0:4] -> B[0:4, j] }", "it only copies 'A'"),
        (
            "map j = 0:M { let q = k[] state { tasklet (a <- A[q], b <- A[0]) -> (o -> B[j, j]) { o = a*b } } }",
            "is not a box",
        ),
        (
            """map j = 0:M { if j > 0 { state { map i = 0:4 {
               tasklet (a <- A[j + i - 1]) -> (o -> B[i, j]) { o = a } } } } }""",
            "which may not exist",
        ),
    ],
)
def test_in_refusals(nodes, reason):
    expect(InLocalStorage(), on=program(f"state {{ {nodes} }}")).is_refused(reason)


def test_a_tile_is_written_once():
    on = program("""state { map t = 0:N:4 { map j = 0:4 { tasklet () -> (o -> C[t + j]) { o = f64(j) } } } }""")
    expect(OutLocalStorage(), on=on).becomes(f"""{HEAD} {{ state {{ map t = 0:N:4 {{ data C_local: f64[4] transient
        map j = 0:4 {{ tasklet () -> (o -> C_local[j]) {{ o = f64(j) }} }}
        copy C_local[0:4] -> C[t:t + 4] }} }} }}""").same_values(N=[0, 4, 8], M=[1])


def test_what_was_written_may_be_read():
    on = program("""state { map t = 0:M { map j = 0:4 { tasklet () -> (o -> B[j, t]) { o = f64(j) } }
        map i = 0:4 { tasklet (a <- B[i, t], b <- B[3 - i, t]) -> (o -> C[i] (add)) { o = a*b } } } }""")
    expect(OutLocalStorage(array="B"), on=on).becomes(f"""{HEAD} {{ state {{ map t = 0:M {{
        data B_local: f64[4] transient
        map j = 0:4 {{ tasklet () -> (o -> B_local[j]) {{ o = f64(j) }} }}
        map i = 0:4 {{ tasklet (a <- B_local[i], b <- B_local[3 - i]) -> (o -> C[i] (add)) {{ o = a*b }} }}
        copy B_local[0:4] -> B[0:4, t] }} }} }}""").same_values(N=[4, 5], M=[0, 3])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ("map t = 0:M { map j = 0:4 { tasklet () -> (o -> C[j] (add)) { o = 1.0 } } }", "it combines values into 'C'"),
        ("map t = 0:M { copy A[0:4] -> B[0:4, t] }", "it only copies into 'B'"),
        ("map t = 0:M { map j = 0:4:2 { tasklet () -> (o -> B[j, t]) { o = 1.0 } } }", "in steps of one"),
        (
            "map t = 0:M { map j = 0:4 { tasklet (a <- B[j, t]) -> (o -> B[j, t]) { o = a + 1 } } }",
            "what was there before",
        ),
        (
            "map t = 0:M { if k[] > 0 { state { map j = 0:4 { tasklet () -> (o -> B[j, t]) { o = 1.0 } } } } }",
            "does not surely fill",
        ),
        ("map t = 0:M { tasklet () -> (o -> B[0, t]) { o = 1.0 } }", "touches one element of 'B'"),
    ],
)
def test_out_refusals(nodes, reason):
    expect(OutLocalStorage(), on=program(f"state {{ {nodes} }}")).is_refused(reason)


def test_what_ends_an_iteration_early_leaves_the_rest_unwritten():
    on = program("""loop t = 0:M { state { map j = 0:4 { tasklet () -> (o -> B[j, t]) { o = 1.0 } } }
        check t < 2 else ValueError "no" }""")
    expect(OutLocalStorage(), on=on).is_refused("a check may end an iteration early")
