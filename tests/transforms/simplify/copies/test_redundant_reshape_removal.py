"""RedundantReshapeRemoval: shape, value, refusal. S-4b: what is returned in another shape is not copied."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.transforms.simplify.copies.redundant_reshape_removal import RedundantReshapeRemoval
from tests.support.expect import expect, parse

FILL = "map i = 0:N, j = 0:3 { tasklet (x <- a[i]) -> (o -> g[i, j]) { o = x } }"
COPY = "copy v[0:3*N] -> r[0:3*N]"
CHECK = 'check N > 2 else ValueError "few"'
DATA = "data g: f64[N, 3] transient view v: f64[3*N] of g"


def program(body, result="-> (r: array)", r="data r: f64[3*N]"):
    return parse(f"sdfg @f(a: f64[N]) symbols(N: size) {result} {{ {DATA} {r} {body} }}")


def update(body):
    return parse(f"sdfg @f(a: f64[N], r: f64[3*N]) symbols(N: size) {{ {DATA} {body} }}")


def test_computes_in_the_result():
    expect(RedundantReshapeRemoval(), on=program(f"state {{ {FILL} {COPY} }}")).becomes(f"""
        sdfg @f(a: f64[N]) symbols(N: size) -> (r: array) {{
          view g: f64[N, 3] of r view v: f64[3*N] of g data r: f64[3*N] state {{ {FILL} }} }}
    """).same_values(N=[0, 1, 4])


def test_reads_after_the_copy_are_fine():
    read = "tasklet (x <- g[0, 0]) -> (o -> a[0]) { o = x }"
    expect(RedundantReshapeRemoval(), on=program(f"state {{ {FILL} {COPY} {read} }}")).same_values(N=[1, 4])


@pytest.mark.parametrize("before", ["", "map k = 0:N { tasklet (x <- r[3*k]) -> (o -> a[k]) { o = x + 1.0 } }"])
@pytest.mark.parametrize("behind", ["", "tasklet () -> (o -> r[0]) { o = 1.0 }"])
def test_an_array_that_is_overwritten_takes_what_is_computed(before, behind):
    body = f"{CHECK} state {{ {before} {FILL} {{}} {behind} }}"
    expect(RedundantReshapeRemoval(), on=update(body.replace("{}", COPY))).becomes(f"""
        sdfg @f(a: f64[N], r: f64[3*N]) symbols(N: size) {{
          view g: f64[N, 3] of r view v: f64[3*N] of g {body.replace("{}", "")} }}
    """).same_values(N=[3, 5])


def test_in_each_iteration_of_a_loop():
    read = "map k = 0:N { tasklet (x <- r[3*k]) -> (o -> a[k]) { o = x + 1.0 } }"
    body = f"loop t = 0:3 {{ {DATA} state {{ {read} {FILL} {COPY} }} }}"
    loop = f"sdfg @f(a: f64[N], r: f64[3*N]) symbols(N: size) {{ {body} }}"
    expect(RedundantReshapeRemoval(), on=parse(loop)).applies().same_values(N=[1, 4])


@pytest.mark.parametrize(
    ("sdfg", "reason"),
    [
        (program(f"state {{ {FILL} {COPY} {FILL} }}"), "'g' is written after the copy"),
        (update(f"state {{ {FILL} tasklet (x <- r[0]) -> (o -> a[0]) {{ o = x }} {COPY} }}"), "touched elsewhere"),
        (update(f"state {{ {FILL} {COPY} {FILL} }}"), "no new array"),
        (update(f"state {{ {FILL} }} {CHECK} state {{ {COPY} }}"), "no new array"),
        (program(f"state {{ {FILL} }} if N > 2 {{ state {{ {COPY} }} }}"), "several times, or not at all"),
        (program(f"state {{ {FILL} copy v[0:N] -> r[0:N] }}"), "not all of a temporary"),
    ],
)
def test_refuses(sdfg, reason):
    expect(RedundantReshapeRemoval(), on=sdfg).is_refused(reason)


def create_grid(n):
    g = np.zeros((n, n, 3))
    g[:, :, 0] = np.arange(n)[:, None]
    g[:, :, 1] = np.arange(n)[None, :]
    return g.reshape((n * n, 3))


def kept_and_returned(n):
    g = np.ones((n, 2)) * n
    flat = g.reshape(-1)
    flat[0] = 7
    return flat, g[0, 0]


@pytest.mark.cc
@pytest.mark.parametrize("function", [create_grid, kept_and_returned])
def test_s4b_reshapes_at_the_return(function):
    program = dcpy.program(function)
    for n in (1, 3):
        first, again = program(n), program(n)
        for mine, numpys in ((first, function(n)), (again, function(n))):
            pairs = zip(mine, numpys, strict=True) if isinstance(numpys, tuple) else [(mine, numpys)]
            for one, other in pairs:
                np.testing.assert_array_equal(one, other, strict=True)
    assert "copy" not in {node.kind for node in dcpy.program(create_grid).to_sdfg(3).body.walk_nodes()}
