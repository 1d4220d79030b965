"""DoubleBuffering: shape, value, refusal."""

from __future__ import annotations

import pytest

from dcpy.transforms.memory.double_buffering import DoubleBuffering
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[N, M], B: f64[N, M], k: i64[]) symbols(N: size, M: size)"
USE = "map j = 0:M { tasklet (a <- b[j], c <- b[M - 1 - j]) -> (o -> B[t, j]) { o = a - c*2 } }"


def program(blocks):
    return parse(f"{HEAD} {{ {blocks} }}")


def test_a_row_is_copied_one_iteration_earlier():
    expect(
        DoubleBuffering(),
        on=program(f"loop t = 1:N:2 {{ data b: f64[M] transient state {{ copy A[t, 0:M] -> b[0:M] {USE} }} }}"),
    ).becomes(f"""{HEAD} {{ data b: f64[2, M] transient
        if index(1) < N {{ state {{ copy A[1, 0:M] -> b[0, 0:M] }} }}
        loop t = 1:N:2 {{
          if t + 2 < N {{ state {{ copy A[t + 2, 0:M] -> b[((t + 1) // 2) % 2, 0:M] }} }}
          state {{ {USE.replace("b[", "b[((t - 1) // 2) % 2, ")} }} }} }}
    """).same_values(N=[0, 1, 2, 5, 8], M=[0, 3])


def test_conditions_read_the_half_of_their_iteration():
    on = program("""loop t = 0:N { data b: f64[3] transient state { copy A[t, 0:3] -> b[0:3] }
        if b[1] > 0.0 { state { tasklet (a <- b[2]) -> (o -> B[t, 0]) { o = a } } } }""")
    found = expect(DoubleBuffering(), on=on)
    assert found.reasons() == [""]
    from dcpy.transforms.api import apply_repeated

    assert apply_repeated(found.after, DoubleBuffering(), check=True) == 1
    found.same_values(N=[0, 1, 4], M=[3, 5])


@pytest.mark.parametrize(
    ("blocks", "reason"),
    [
        (f"data b: f64[M] transient loop t = 0:N {{ state {{ copy A[t, 0:M] -> b[0:M] {USE} }} }}", "no buffer of"),
        (
            f"loop t = 0:N {{ data b: f64[M] transient state {{ copy B[t, 0:M] -> b[0:M] {USE} }} }}",
            "the loop writes 'B', which the copy reads",
        ),
        (
            f"loop t = 0:N {{ data b: f64[M] transient state {{ copy A[t, 0:1] -> b[0:1] {USE} }} }}",
            "not all that fills 'b'",
        ),
        (
            f"""loop t = 0:N {{ data b: f64[M] transient state {{ copy A[t, 0:M] -> b[0:M] {USE} }}
            if t > 2 {{ break }} }}""",
            "may end an iteration early",
        ),
        (f"loop t = N - 1:-1:-1 {{ data b: f64[M] transient state {{ copy A[t, 0:M] -> b[0:M] {USE} }} }}", "positive"),
        (
            f"""let q = 0 loop t = 0:N {{ data b: f64[M] transient state {{ copy A[q, 0:M] -> b[0:M] {USE} }}
            let q = t }}""",
            "a symbol that the copy uses changes",
        ),
        ("loop t = 0:N { state { tasklet () -> (o -> B[t, 0]) { o = 1.0 } } }", "does not begin with a copy"),
    ],
)
def test_refusals(blocks, reason):
    expect(DoubleBuffering(), on=program(blocks)).is_refused(reason)
