"""Products and reductions over ranks: where they run, what is combined, and that it is the same."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.errors import DcpyError
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.transforms.distributed.grids.specialize_products import SpecializeProducts
from dcpy.transforms.pass_manager import run_pipeline
from dcpy.transforms.pipeline import Pipeline
from tests.support.ranks import check, distributed, localized

SIZES = "symbols(N: size, M: size, P: size{least = 1}) grids(g[P])"
ROWS = f"sdfg @f(A: f64[N, M] on g(block 0, whole), x: f64[N], y: f64[M]) {SIZES}"
BY = "(-((-N) // P))"


def specialized(text):
    sdfg = parse_sdfg(text)
    run_pipeline(sdfg, Pipeline("test", SpecializeProducts()), check=True)
    return [line.strip() for line in print_sdfg(sdfg).splitlines() if line.startswith("  ")]


def test_rows_of_a_transposed_matrix_give_parts():
    lines = specialized(f"{ROWS} {{ blas.gemv (a <- A[0:N, 0:M], x <- x[0:N]) -> (y -> y[0:M]) {{trans_a = true}} }}")
    assert lines == [
        "data y_part: f64[M] transient on g(whole) partial 0 add",
        "state {",
        "blas.gemv (a <- A[0:N, 0:M], x <- x[0:N]) -> (y -> y_part[0:M]) {trans_a = true}",
        "copy y_part[0:M] -> y[0:M]",
        "}",
    ]


def test_rows_of_a_matrix_give_rows():
    lines = specialized(f"{ROWS} {{ blas.gemv (a <- A[0:N, 0:M], x <- y[0:M]) -> (y -> x[0:N]) }}")
    assert lines[0] == f"data x_part: f64[N] transient on g(block 0 by {BY})"
    assert lines[-2] == "copy x_part[0:N] -> x[0:N]"


def test_what_is_added_is_scaled_where_it_lives():
    node = "blas.gemv (a <- A[0:N, 0:M], x <- x[0:N], y <- y[0:M]) -> (y -> y[0:M]) {beta = 0.5, trans_a = true}"
    lines = specialized(f"{ROWS} {{ {node} }}")
    assert "tasklet (old <- y[i]) -> (out -> y[i]) { out = 0.5 * old }" in lines
    assert lines[-3:-1] == [
        "blas.gemv (a <- A[0:N, 0:M], x <- x[0:N]) -> (y -> y_part[0:M]) {trans_a = true}",
        "copy y_part[0:M] -> y[0:M] (add)",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "sdfg @f(A: f64[N, M], x: f64[N], y: f64[M]) {s} "
        "{{ blas.gemv (a <- A[0:N, 0:M], x <- y[0:M]) -> (y -> x[0:N]) }}",
        "sdfg @f(A: f16[N, M] on g(block 0, whole), y: f16[M]) {s} "
        "{{ reduce (x <- A[0:N, 0:M]) -> (out -> y[0:M]) {{axes = (0,)}} }}",
        "sdfg @f(A: f64[N, M] on g(cyclic 0, whole), y: f64[M]) {s} "
        "{{ reduce (x <- A[0:N, 0:M]) -> (out -> y[0:M]) {{axes = (0,)}} }}",
    ],
)
def test_what_runs_where_its_result_lives(text):
    text = text.format(s=SIZES)
    assert specialized(text) == [line.strip() for line in print_sdfg(parse_sdfg(text)).splitlines() if line[:2] == "  "]


FILL = "map f = 0:M {{ tasklet () -> (o -> p[f]) {{ o = {} }} }}"
ADD = "map i = 0:N, j = 0:M {home} {{ tasklet (a <- A[i, j]) -> (o -> p[j] ({op})) {{ o = a }} }}"
HOME = f"home g(block 0 by {BY}, whole)"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (FILL.format(0.0) + ADD.format(home=HOME, op="add"), ""),
        (FILL.format(1.0) + ADD.format(home=HOME, op="add"), "each rank would write it, and it would count for each"),
        (FILL.format(0.0) + ADD.format(home=HOME, op="max"), "a map makes no parts of it that are combined so"),
        (FILL.format(0.0) + "map j = 0:M { tasklet (a <- y[j]) -> (o -> p[j] (add)) { o = a } }", "make all of it"),
        ("copy y[0:M] -> p[0:M]", "a copy makes no parts of it"),
        ("reduce (x <- A[0:N, 0:M]) -> (out -> p[0:M]) {op = \"max\", axes = (0,)}", "a reduce makes no parts of it"),
    ],
)
def test_parts_are_parts(body, message):
    """What is not one rank's part would count once for each rank."""
    data = "data p: f64[M] transient on g(whole) partial 0 add"
    text = f"{ROWS} {{ {data} {body} copy p[0:M] -> y[0:M] }}"
    if not message:
        localized(parse_sdfg(text))
        return
    with pytest.raises(DcpyError) as caught:
        localized(parse_sdfg(text))
    assert message in str(caught.value)


NODES = {
    "gemv": "blas.gemv (a <- A[0:N, 0:M], x <- y[0:M], y <- x[0:N]) -> (y -> x[0:N]) {alpha = 2.0, beta = 0.5}",
    "gemv.T": "blas.gemv (a <- A[0:N, 0:M], x <- x[0:N], alpha <- s) -> (y -> y[0:M]) {trans_a = true}",
    "gemv.T+": "blas.gemv (a <- A[0:N, 0:M], x <- x[0:N], y <- y[0:M], beta <- s) -> (y -> y[0:M]) {trans_a = true}",
    "ger": "blas.ger (x <- x[0:N], y <- y[0:M], a <- A[0:N, 0:M]) -> (a -> A[0:N, 0:M]) {alpha = 2.0}",
    "dot": "blas.dot (x <- x[0:N], y <- x[0:N]) -> (result -> s[])",
    "matmul": "blas.matmul (a <- x[0:N], b <- A[0:N, 0:M]) -> (c -> y[0:M])",
    "gemm": "blas.gemm (a <- A[0:N, 0:M], b <- A[0:N, 0:M]) -> (c -> C[0:M, 0:M]) {trans_a = true}",
    "sum": "reduce (x <- A[0:N, 0:M]) -> (out -> s[]) {axes = (0, 1)}",
    "rows": "reduce (x <- A[0:N, 0:M]) -> (out -> x[0:N]) {axes = (1,)}",
    "min": 'reduce (x <- A[0:N, 0:M]) -> (out -> y[0:M]) {op = "min", axes = (0,)}',
    "max": 'reduce (x <- A[0:N, 0:M]) -> (out -> s[]) {op = "max", axes = (0, 1)}',
    "prod": 'reduce (x <- x[0:N]) -> (out -> s[]) {op = "mul", axes = (0,)}',
    "any": 'reduce (x <- q[0:N]) -> (out -> b[]) {op = "or", axes = (0,)}',
    "all": 'reduce (x <- q[0:N]) -> (out -> b[]) {op = "and", axes = (0,)}',
    "wcr": "map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> s[] (add)) { o = a } }",
}
PLAN = {"A": "g(block 0, block 1)", "x": "g(block 0)", "q": "g(block 1)", "C": "g(whole, block 0)"}


@pytest.mark.parametrize("name", NODES)
def test_they_are_the_same_on_ranks(name):
    head = "sdfg @f(A: f64[N, M], C: f64[M, M], x: f64[N], y: f64[M], q: bool[N], s: f64[], b: bool[])"
    sdfg = parse_sdfg(f"{head} symbols(N: size, M: size) {{ {NODES[name]} }}")
    draw = np.random.default_rng(4)
    for plan in (PLAN, {"A": PLAN["A"]}, {"A": "g(whole, block 0)", "y": "g(block 1)"}):
        made = distributed(sdfg, plan, {"g": ("Px", "Py")})
        local = localized(made)
        for (px, py), n, m in (((2, 2), 5, 3), ((3, 1), 2, 4), ((1, 3), 1, 0), ((7, 1), 8, 3)):
            arguments = {"A": draw.uniform(size=(n, m)), "C": np.zeros((m, m)), "x": draw.uniform(size=n),
                         "y": draw.uniform(size=m), "q": draw.uniform(size=n) > 0.5,
                         "s": np.array(0.25), "b": np.array(False)}  # fmt: skip
            symbols = {"N": n, "M": m, "Px": px, "Py": py}
            # in strict mode, each rank sums in an order of its own, and copies would differ
            exact = name in ("min", "max", "any", "all")
            check(sdfg, made, arguments, symbols, px * py, local=local, exact=exact, strict=n == 5 and name != "wcr")


@pytest.mark.parametrize(("kind", "axes"), [("min", (0,)), ("max", (1,)), ("min", (0, 1)), ("max", (0, 1))])
def test_extrema_are_at_the_first_place(kind, axes):
    out = "p[]" if len(axes) == 2 else "q[0:M]" if axes == (0,) else "r[0:N]"
    fields = f'op = "{kind}", axes = ({", ".join(map(str, axes))},)'
    node = f"argreduce (x <- A[0:N, 0:M]) -> (out -> {out}) {{{fields}}}"
    sdfg = parse_sdfg(f"sdfg @f(A: f64[N, M], p: i64[], q: i64[M], r: i64[N]) {{ {node} }}")
    draw = np.random.default_rng(8)
    for plan in ({"A": "g(block 0, block 1)"}, {"A": "g(block 0, block 1)", "q": "g(block 1)", "r": "g(block 0)"}):
        made = distributed(sdfg, plan, {"g": ("Px", "Py")})
        local = localized(made)
        assert [node.kind for node in local.body.walk_nodes()].count("comm.allreduce") == 2  # values, then places
        for (px, py), n, m in (((2, 2), 5, 3), ((3, 1), 2, 4), ((7, 1), 9, 2)):
            values = draw.integers(0, 3, (n, m)).astype(float)  # with equal ones
            values[n // 2, m // 2] = np.nan if n > 2 else -0.0
            arguments = {"A": values, "p": np.zeros((), int), "q": np.zeros(m, int), "r": np.zeros(n, int)}
            symbols = {"N": n, "M": m, "Px": px, "Py": py}
            check(sdfg, made, arguments, symbols, px * py + 1, local=local)


@pytest.mark.parametrize(("op", "axis"), [("add", 0), ("mul", 1), ("max", 0), ("add", 1)])
def test_scans_go_on_where_the_block_before_ends(op, axis):
    node = f'scan (x <- A[0:N, 0:M]) -> (out -> B[0:N, 0:M]) {{op = "{op}", axis = {axis}}}'
    sdfg = parse_sdfg(f"sdfg @f(A: f64[N, M], B: f64[N, M]) {{ {node} }}")
    draw = np.random.default_rng(9)
    for where, carried in (("block 0, block 1", 1), ("block 1, block 0", 1), ("cyclic 0, cyclic 1", 0)):
        made = distributed(sdfg, {"A": f"g({where})", "B": f"g({where})"}, {"g": ("Px", "Py")})
        local = localized(made)
        assert [node.kind for node in local.body.walk_nodes()].count("comm.exscan") == carried
        for (px, py), n, m in (((2, 2), 5, 3), ((3, 1), 2, 4), ((7, 1), 9, 2), ((2, 2), 0, 3)):
            arguments = {"A": draw.uniform(size=(n, m)), "B": np.zeros((n, m))}
            symbols = {"N": n, "M": m, "Px": px, "Py": py}
            check(sdfg, made, arguments, symbols, px * py + 1, local=local, exact=op == "max")


def test_nans_reach_the_minimum():
    sdfg = parse_sdfg('sdfg @f(x: f64[N], s: f64[]) { reduce (x <- x[0:N]) -> (out -> s[]) {op = "min", axes = (0,)} }')
    made = distributed(sdfg, {"x": "g(block 0)"}, {"g": ("P",)})
    x = np.array([3.0, np.nan, 1.0, 2.0, 0.5])
    check(sdfg, made, {"x": x, "s": np.array(1.0)}, {"N": 5, "P": 3}, 4)
