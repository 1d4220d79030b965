"""MapInlining: shape, value, refusal. S-4b: norms and sums of expressions need no temporary."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.transforms.fusion.map_inlining import MapInlining
from tests.support.expect import expect, parse

HEAD = "sdfg @f(a: f64[N], b: f64[N], c: f64[N, M], s: f64[]) symbols(N: size, M: size)"
SQUARES = "map i = 0:N { tasklet (x <- a[i]) -> (o -> t[i]) { o = x*x } }"


def program(body, data="data t: f64[N] transient data u: f64[N, M] transient data v: f64[M, N] transient"):
    return parse(f"{HEAD} {{ {data} {body} }}")


def test_goes_into_loops_of_another_shape():
    expect(
        MapInlining(),
        on=program(f"""state {{ {SQUARES} tasklet () -> (o -> s) {{ o = 0.0 }}
          map k = 0:N:4 {{ map j = k:min(N, k + 4) {{ tasklet (y <- t[j]) -> (o -> s (add)) {{ o = y }} }} }} }}"""),
    ).becomes(f"""{HEAD} {{ data u: f64[N, M] transient data v: f64[M, N] transient
        state {{ tasklet () -> (o -> s) {{ o = 0.0 }}
          map k = 0:N:4 {{ map j = k:min(N, k + 4) {{ data t_1: f64 transient
             tasklet (x <- a[j]) -> (o -> t_1) {{ o = x*x }}
             tasklet (y <- t_1) -> (o -> s (add)) {{ o = y }} }} }} }} }}""").same_values(N=[0, 1, 9], M=[1])


def test_a_dimension_of_size_one_has_no_parameter():
    """S-1: a program for one level is as short as that for many."""
    data = "data t: f64[N] transient data u: f64[N, M] transient data v: f64[M, N] transient"
    expect(
        MapInlining(),
        on=program(
            """state { map i = 0:N { tasklet (x <- a[i]) -> (o -> w[i, 0]) { o = x + 1.0 } }
               map j = 0:N - 1 { tasklet (y <- w[j + 1, 0]) -> (o -> b[j]) { o = y*2 } } }""",
            f"{data} data w: f64[N, 1] transient",
        ),
    ).becomes(f"""{HEAD} {{ data t: f64[N] transient data u: f64[N, M] transient data v: f64[M, N] transient
        state {{ map j = 0:N - 1 {{ data w_1: f64 transient
             tasklet (x <- a[j + 1]) -> (o -> w_1) {{ o = x + 1.0 }}
             tasklet (y <- w_1) -> (o -> b[j]) {{ o = y*2 }} }} }} }}""").same_values(N=[0, 1, 9], M=[1])


def test_follows_permuted_dimensions_and_shifts():
    expect(
        MapInlining(),
        on=program("""state { map i = 0:M, j = 0:N { tasklet (x <- c[j, i]) -> (o -> u[j, i]) { o = x + f64(i) } }
          map k = 1:M + 1, l = 0:N { tasklet (y <- u[l, k - 1]) -> (o -> a[l] (add)) { o = y*2 } } }"""),
    ).becomes(f"""{HEAD} {{ data t: f64[N] transient data v: f64[M, N] transient
        state {{ map k = 1:M + 1, l = 0:N {{ data u_1: f64 transient
             tasklet (x <- c[l, k - 1]) -> (o -> u_1) {{ o = x + f64(k - 1) }}
             tasklet (y <- u_1) -> (o -> a[l] (add)) {{ o = y*2 }} }} }} }}""").same_values(N=[0, 3], M=[0, 4])


NEIGHBOURS = "map j = 0:N - 1 { tasklet (y <- t[j], z <- t[j + 1]) -> (o -> s (add)) { o = y*z } }"


def test_what_is_cheap_is_computed_for_each_element_that_is_read():
    expect(
        MapInlining(),
        on=program(f"state {{ {SQUARES} tasklet () -> (o -> s) {{ o = 0.0 }} {NEIGHBOURS} }}"),
    ).becomes(f"""{HEAD} {{ data u: f64[N, M] transient data v: f64[M, N] transient
        state {{ tasklet () -> (o -> s) {{ o = 0.0 }}
          map j = 0:N - 1 {{ data t_1: f64 transient data t_2: f64 transient
             tasklet (x <- a[j]) -> (o -> t_1) {{ o = x*x }}
             tasklet (x <- a[j + 1]) -> (o -> t_2) {{ o = x*x }}
             tasklet (y <- t_1, z <- t_2) -> (o -> s (add)) {{ o = y*z }} }} }} }}""").same_values(N=[1, 2, 9], M=[1])


def test_goes_to_readers_side_by_side():
    expect(
        MapInlining(),
        on=program(f"""state {{ {SQUARES} map k = 0:N - 1:2 {{
            tasklet (y <- t[k]) -> (o -> b[k]) {{ o = y }}
            tasklet (y <- t[k + 1]) -> (o -> b[k + 1]) {{ o = y*2 }} }} }}"""),
    ).becomes(f"""{HEAD} {{ data u: f64[N, M] transient data v: f64[M, N] transient
        state {{ map k = 0:N - 1:2 {{ data t_1: f64 transient data t_2: f64 transient
             tasklet (x <- a[k]) -> (o -> t_1) {{ o = x*x }}
             tasklet (y <- t_1) -> (o -> b[k]) {{ o = y }}
             tasklet (x <- a[k + 1]) -> (o -> t_2) {{ o = x*x }}
             tasklet (y <- t_2) -> (o -> b[k + 1]) {{ o = y*2 }} }} }} }}""").same_values(N=[1, 2, 9], M=[1])


def test_goes_into_both_cases_of_a_branch():
    on = program(f"""state {{ {SQUARES} }}
        if N > 3 {{ state {{ map j = 0:N {{ tasklet (y <- t[j]) -> (o -> b[j]) {{ o = y }} }} }} }}
        else {{ state {{ map k = 0:N {{ tasklet (y <- t[k]) -> (o -> b[k]) {{ o = y + 1 }} }} }} }}""")
    found = expect(MapInlining(), on=on)
    assert found.reasons()[0] == ""
    found.same_values(N=[0, 3, 4], M=[1])


READ = "map j = 0:N { tasklet (y <- t[j]) -> (o -> b[j]) { o = y } }"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (f"state {{ {SQUARES} {READ} {READ.replace('b[j]', 's (add)')} }}", "read at 2 places"),
        (
            f"""state {{ {SQUARES} map k = 0:N - 2:2 {{ tasklet (y <- t[k]) -> (o -> b[k]) {{ o = y }}
                tasklet (y <- t[k + 2]) -> (o -> b[k + 1]) {{ o = y }} }} }}""",
            "read at 2 places",
        ),
        (f"state {{ {SQUARES} map q = 0:M {{ {READ.replace('b[j]', 'c[j, q]')} }} }}", "may be read more than once"),
        (
            f"state {{ {SQUARES} map q = 0:M, j = 0:N {{ tasklet (y <- t[j + q]) -> (o -> s (add)) {{ o = y }} }} }}",
            "may be read more than once",
        ),
        (f"state {{ {SQUARES.replace('x*x', 'exp(x)')} {NEIGHBOURS} }}", "may be read more than once"),
        (f"state {{ {SQUARES.replace('x <- a', 'w <- b[i], x <- a')} {NEIGHBOURS} }}", "may be read more than once"),
        (f"state {{ {SQUARES} tasklet () -> (o -> a[0]) {{ o = 1.0 }} {READ} }}", "is written before"),
        (f"state {{ {SQUARES} {READ.replace('b[j]', 'a[j]')} }}", "is written before"),
        (f"state {{ {SQUARES} copy t[0:N] -> b[0:N] }}", "read by a copy"),
        (f"loop q = 0:M {{ state {{ {READ} {SQUARES} }} }}", "is read elsewhere"),
        (f"state {{ {SQUARES.replace('0:N', '1:N')} {READ} }}", "does not compute each element"),
        (f"state {{ {SQUARES.replace('o -> t[i]', 'o -> b[i]')} }}", "must stay in memory"),
        (f"state {{ {SQUARES.replace('t[i])', 't[i] (add))')} {READ} }}", "combines values"),
        (f"let k = 0 state {{ {SQUARES.replace('x*x', 'x*f64(k)')} }} let k = 1 state {{ {READ} }}", "in between"),
        (f"state {{ {SQUARES} }} loop q = 0:M {{ state {{ {READ} }} }}", "may be read more than once"),
    ],
)
def test_refuses(body, reason):
    expect(MapInlining(), on=program(body)).is_refused(reason)


def norm(x):
    return np.linalg.norm(x)


def variance(x, y):
    return np.sum((x - y) ** 2, axis=0) / x.shape[0] + np.max(np.abs(x * y), axis=0)


@pytest.mark.parametrize(("function", "arguments"), [(norm, (np.arange(5.0),)), (variance, (np.ones((4, 3)),) * 2)])
def test_s4b_reductions_of_expressions_have_no_array_between(function, arguments):
    lowered = driver.lower(dcpy.program(function).to_sdfg(*arguments), resolve_options())[0]
    rank = arguments[0].ndim
    arrays = [d for n, d in lowered.containers.items() if getattr(d, "transient", False) and len(d.shape) == rank > 1]
    assert not arrays
    if rank == 1:
        like_x = [desc for desc in lowered.containers.values() if desc.shape == lowered.desc("x").shape]
        assert len(like_x) == 1


@pytest.mark.cc
@pytest.mark.parametrize("size", [0, 1, 7, 1025, 70_000])
def test_s4b_values(size):
    x, y = np.random.default_rng(0).standard_normal((2, size, 3)) + 1
    np.testing.assert_allclose(dcpy.program(norm)(x[:, 0]), norm(x[:, 0]), rtol=1e-13)
    if size:
        np.testing.assert_allclose(dcpy.program(variance)(x, y), variance(x, y), rtol=1e-11)
