"""AccumulateTransient: shape, value, refusal; partial sums of long reductions."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.ir.interp import run
from dcpy.ir.text import print_sdfg
from dcpy.transforms.cpu.partial_sums import PartialSums
from dcpy.transforms.memory.accumulate_transient import AccumulateTransient
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.expect import expect, parse

HEAD = "sdfg @f(A: f64[K, M], C: f64[N, M], s: f64[], n: i64[M]) symbols(K: size, N: size, M: size)"


def program(nodes, data=""):
    return parse(f"{HEAD} {{ {data} state {{ {nodes} }} }}")


def test_a_scalar():
    expect(
        AccumulateTransient(),
        on=program("map k = 0:K, j = 0:M { tasklet (a <- A[k, j]) -> (o -> s (add)) { o = a } }"),
    ).becomes(f"""{HEAD} {{ data s_part: f64 transient state {{
        tasklet () -> (out -> s_part) {{ out = -0.0 }}
        map k = 0:K, j = 0:M {{ tasklet (a <- A[k, j]) -> (o -> s_part (add)) {{ o = a }} }}
        tasklet (part <- s_part) -> (out -> s (add)) {{ out = part }} }} }}
    """).same_values(K=[0, 1, 5], M=[0, 3], N=[1])


def test_the_sign_of_zero_stays():
    on = program("map k = 0:K, j = 0:M { tasklet (a <- A[k, j]) -> (o -> s (add)) { o = a } }")
    after = expect(AccumulateTransient(), on=on)
    after.same_values(K=[0], M=[0], N=[1])
    s = np.array(-0.0)
    run(after.after, {"A": np.zeros((0, 1)), "C": np.zeros((1, 1)), "s": s, "n": np.zeros(1, int)}, {})
    assert np.signbit(s)


def test_a_row_inside_of_a_loop():
    expect(
        AccumulateTransient(),
        on=program("""map i = 0:N { map k = 1:3, j = 2:M {
            tasklet (a <- A[k, j]) -> (o -> C[i, j] (max)) { o = a*f64(i) } } }"""),
    ).becomes(f"""{HEAD} {{ state {{ map i = 0:N {{ data C_part: f64[M - 2] transient
        map j_1 = 2:M {{ tasklet () -> (out -> C_part[j_1 - 2]) {{ out = -inf }} }}
        map k = 1:3, j = 2:M {{ tasklet (a <- A[k, j]) -> (o -> C_part[j - 2] (max)) {{ o = a*f64(i) }} }}
        map j_2 = 2:M {{ tasklet (part <- C_part[j_2 - 2]) -> (out -> C[i, j_2] (max)) {{ out = part }} }} }} }} }}
    """).same_values(K=[3], M=[2, 5], N=[1, 2])


OPERATIONS = {
    "bool": ("and", "or", "xor", "bitand", "bitor", "bitxor"),
    "i64": ("add", "mul", "min", "max", "bitand", "bitor", "bitxor"),
    "u8": ("add", "mul", "min", "max", "bitand", "bitor", "bitxor"),
    "f32": ("add", "mul", "min", "max"),
    "c128": ("add", "mul"),
}


@pytest.mark.parametrize(("dtype", "wcr"), [(dtype, wcr) for dtype, all_of in OPERATIONS.items() for wcr in all_of])
def test_all_operations_start_from_what_changes_nothing(dtype, wcr):
    text = f"sdfg @f(A: {dtype}[K], s: {dtype}[]) symbols(K: size)"
    on = parse(f"{text} {{ state {{ map k = 0:K {{ tasklet (a <- A[k]) -> (o -> s ({wcr})) {{ o = a }} }} }} }}")
    found = expect(AccumulateTransient(), on=on)
    assert found.reasons() == [""]
    from dcpy.transforms.api import apply_repeated

    assert apply_repeated(found.after, AccumulateTransient(), check=True) == 1
    found.same_values(K=[0, 1, 6])


@pytest.mark.parametrize(
    ("nodes", "reason"),
    [
        ("map k = 0:K { tasklet (a <- A[k, 0]) -> (o -> C[k, 0]) { o = a } }", "does not just combine values"),
        ("map k = 0:K { tasklet (a <- C[k, 0]) -> (o -> C[0, 0] (add)) { o = a } }", "it reads 'C', too"),
        ("map k = 0:K, j = 0:M { tasklet () -> (o -> C[k, j] (add)) { o = 1.0 } }", "an element of its own"),
        ("map k = 0:K { tasklet () -> (o -> C[2*k, 0] (add)) { o = 1.0 } }", "neither fixed nor a parameter"),
        ("map k = 0:K, j = 0:M { tasklet () -> (o -> C[0, j] (add)) { o = 1.0 } }", "the element may not exist"),
        (
            """map k = 0:2 { tasklet () -> (o -> C[0, 0] (add)) { o = 1.0 }
                             tasklet () -> (o -> C[0, 1] (add)) { o = 1.0 } }""",
            "does not just combine values into one index",
        ),
        ("map k = 0:K { let q = n[k] state { tasklet () -> (o -> C[q, 0] (add)) { o = 1.0 } } }", "changes inside"),
        ("map k = 0:K { data t: f64 transient tasklet () -> (o -> t) { o = 1.0 } }", "'t' is private to it"),
    ],
)
def test_refusals(nodes, reason):
    expect(AccumulateTransient(), on=program(nodes)).is_refused(reason)


def test_its_own_transient_is_no_target():
    data = "data t: f64 transient"
    nodes = "tasklet () -> (o -> t) { o = 0.0 } map k = 0:K { tasklet (a <- A[k, 0]) -> (o -> t (add)) { o = a } }"
    expect(AccumulateTransient(), on=program(nodes, data)).is_refused("a transient of the scope around the map already")
    expect(AccumulateTransient(array="s"), on=program(nodes, data)).is_refused("it does not write 's'")


ROWS = """sdfg @f(A: f32[N, K], B: f32[N, K, 2], r: f64[N]) symbols(N: size, K: size) { state { map i = 0:N {
    data acc: f64 transient tasklet () -> (o -> acc) { o = 0.0 }
    map k = 0:K { tasklet (a <- A[i, k]) -> (o -> acc (add)) { o = f64(a) } }
    tasklet (a <- acc) -> (o -> r[i]) { o = a } } } }"""


def test_long_sums_are_sums_of_sums():
    sdfg = parse(ROWS)
    run_pipeline(sdfg, Pipeline("sums", PartialSums()), check=True)
    text = print_sdfg(sdfg)
    assert "map k_tile = 0:K:1024" in text
    assert "map k = k_tile:min(K, k_tile + 1024)" in text
    assert "acc_part (add)" in text
    short = parse(ROWS.replace("0:K", "0:1024"))
    run_pipeline(short, Pipeline("sums", PartialSums()))
    assert "tile" not in print_sdfg(short)


def test_long_sums_keep_their_values():
    sdfg = parse(ROWS)
    run_pipeline(sdfg, Pipeline("sums", PartialSums()), check=True)
    rng = np.random.default_rng(0)
    for count in (0, 1, 1030):
        rows, r = rng.random((2, count), np.float32), np.zeros(2)
        run(sdfg, {"A": rows, "B": np.zeros((2, count, 2), np.float32), "r": r}, {})
        np.testing.assert_allclose(r, rows.astype(np.float64).sum(axis=1), rtol=1e-13)
