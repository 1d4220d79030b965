"""The paper's DistributeElementWiseArrayOp: figure 10, and the same values on virtual ranks."""

from __future__ import annotations

import numpy as np
import pytest

import dcpy
from dcpy.ir.text import parse_sdfg
from dcpy.transforms.api import apply_repeated
from dcpy.transforms.distributed.grids.distribute_element_wise import DistributeElementWiseArrayOp
from tests.support.expect import expect
from tests.support.ranks import check, localized

HEAD = "sdfg @f(alpha: f64, A: f64[N, M], B: f64[N, M], x: f64[N])"
SCALE = "tasklet (a <- A[i, j], f <- alpha) -> (o -> B[i, j]) { o = f * a }"


def test_figure_10():
    after = f"""{HEAD} symbols(N: size, M: size, g_p0: size{{least = 1}}) grids(g[g_p0]) {{
      data B_part: f64[N, M] transient on g(block 0 by ((N + g_p0 - 1) // g_p0), whole)
      map i = 0:N, j = 0:M home g(block 0 by ((N + g_p0 - 1) // g_p0), whole) {{
        tasklet (a <- A[i, j], f <- alpha) -> (o -> B_part[i, j]) {{ o = f * a }} }}
      copy B_part[0:N, 0:M] -> B[0:N, 0:M] }}"""
    sdfg = parse_sdfg(f"{HEAD} {{ map i = 0:N, j = 0:M {{ {SCALE} }} }}")
    after = parse_sdfg(after.replace("((N + g_p0 - 1) // g_p0)", "(-((-N) // g_p0))"))
    made = expect(DistributeElementWiseArrayOp(), on=sdfg)
    assert apply_repeated(made.after, DistributeElementWiseArrayOp(), check=True) == 1
    assert str(dcpy.SDFG.of(made.after)) == str(dcpy.SDFG.of(after))


@pytest.mark.parametrize(("dims", "ranks"), [(1, 1), (1, 4), (2, 6)])
def test_it_means_the_same(dims, ranks):
    sdfg = parse_sdfg(f"{HEAD} {{ map i = 0:N, j = 0:M {{ {SCALE} }} }}")
    made = expect(DistributeElementWiseArrayOp(), on=sdfg).after
    apply_repeated(made, DistributeElementWiseArrayOp(dims=dims), check=True)
    draw = np.random.default_rng(1)
    for n, m in ((0, 1), (3, 2), (7, 5)):
        symbols = {"N": n, "M": m, "g_p0": ranks // dims, **({"g_p1": 2} if dims == 2 else {})}
        arguments = {"alpha": 2.5, "A": draw.uniform(size=(n, m)), "B": np.zeros((n, m)), "x": np.zeros(n)}
        check(sdfg, made, arguments, symbols, ranks, local=localized(made))


def test_users_apply_it_by_its_name():
    sdfg = dcpy.parse(f"{HEAD} {{ map i = 0:N, j = 0:M {{ {SCALE} }} }}")
    sdfg.apply(dcpy.DistributeElementWiseArrayOp)
    assert "home g(block 0" in str(sdfg)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("map i = 0:N - 1 { tasklet (a <- A[i, 0]) -> (o -> x[i + 1]) { o = a } }", "no operation on elements"),
        ("map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> x[i] (add)) { o = a } }", "no operation on elements"),
        ("map t = 0:2 { map i = 0:N, j = 0:M { %s } }" % SCALE, "inside of another map"),  # noqa: UP031
        ("data t: f64[0] transient map i = 0:0 { tasklet () -> (o -> t[i]) { o = 1.0 } }", "no elements"),
    ],
)
def test_what_is_not_element_wise(body, reason):
    expect(DistributeElementWiseArrayOp(), on=parse_sdfg(f"{HEAD} {{ {body} }}")).is_refused(reason)


def test_operands_at_a_root_are_scattered():
    head = HEAD.replace("A: f64[N, M]", "A: f64[N, M] on g(whole, whole) root 0")
    sdfg = parse_sdfg(f"{head} symbols(P: size) grids(g[P]) {{ map i = 0:N, j = 0:M {{ {SCALE} }} }}")
    plain = parse_sdfg(f"{HEAD} {{ map i = 0:N, j = 0:M {{ {SCALE} }} }}")
    apply_repeated(sdfg, DistributeElementWiseArrayOp(), check=True)
    assert "copy A[0:N, 0:M] -> A_part[0:N, 0:M]" in str(dcpy.SDFG.of(sdfg))
    arguments = {"alpha": 2.5, "A": np.arange(10.0).reshape(5, 2), "B": np.zeros((5, 2)), "x": np.zeros(5)}
    traffic = check(plain, sdfg, arguments, {"N": 5, "M": 2, "P": 3}, 3, local=localized(sdfg))
    assert traffic.messages == 2 + 3 * 2  # a scatter, an allgather


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("body", ["(a <- x[i]) -> (o -> S[i, i]) { o = a }", "(a <- S[i, i]) -> (o -> x[i]) { o = a }"])
def test_a_diagonal_is_in_rows_that_ranks_have_whole(body, ranks):
    """One axis of the grid cannot cut both dimensions; a fuzzer found it."""
    sdfg = parse_sdfg(f"sdfg @f(x: f64[N], S: f64[N, N]) {{ map i = 0:N {{ tasklet {body} }} }}")
    made = expect(DistributeElementWiseArrayOp(), on=sdfg).after
    apply_repeated(made, DistributeElementWiseArrayOp(), check=True)
    arguments = {"x": np.arange(5.0), "S": np.arange(25.0).reshape(5, 5)}
    check(sdfg, made, arguments, {"N": 5, "g_p0": ranks}, ranks, local=localized(made))
