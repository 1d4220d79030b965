"""Masked updates and reductions without packing, packing of many operands at once: shapes, values, refusals."""

import numpy as np
import pytest

from dcpy import plugins
from dcpy.libraries.indexing.passes.masked_update import MaskedUpdateToPredicatedMap
from dcpy.libraries.indexing.passes.merge_compressions import MergeCompressions
from dcpy.libraries.reduce.masked_reduction import MaskedReduction
from tests.support.expect import expect, parse
from tests.support.oracles import check_same

plugins.load()
HEAD = "sdfg @f(m: bool[N], p: bool[N], a: f64[N], b: f64[N], s: f64[]) symbols(N: size)"
COUNT = "data c: i64 transient state { reduce (x <- m[0:N]) -> (out -> c) {axes = (0,)} } let n = c[]"
DATA = "data t: f64[n] transient data u: f64[n] transient"
PACK = "indexing.compress (mask <- m[0:N], x0 <- a[0:N]) -> (out0 -> t[0:n])"
STORE = "indexing.masked_store (out <- a[0:N], mask <- m[0:N], values <- u[0:n]) -> (out -> a[0:N])"
SUM = "reduce (x <- u[0:n]) -> (out -> s[]) {axes = (0,)}"


def program(*nodes, data=DATA):
    return parse(f"{HEAD} {{ {data} {COUNT} state {{ {' '.join(nodes)} }} }}")


def mapped(code="v * v", reads=""):
    return f"map k = 0:n {{ tasklet (v <- t[k]{reads}) -> (o -> u[k]) {{ o = {code} }} }}"


def test_an_update_chooses_where_the_elements_are():
    expect(MaskedUpdateToPredicatedMap(), on=program(PACK, mapped(), STORE)).becomes(
        f"""{HEAD} {{ state {{ map i = 0:N {{
            data u_1: f64 transient
            tasklet (v <- a[i]) -> (o -> u_1) {{ o = v * v }}
            tasklet (x0 <- m[i], x1 <- u_1, x2 <- a[i]) -> (out -> a[i]) {{ out = select(x0, x1, x2) }}
        }} }} }}"""
    ).same_values(N=[0, 1, 70])


def test_what_was_counted_and_packed_stays_where_it_is_needed():
    other = "map k = 0:n { tasklet (v <- t[k]) -> (o -> s[] (add)) { o = v + f64(n) } }"
    on = program(PACK, mapped(), other, STORE)
    counted = COUNT.replace("data c: i64 transient", "")
    expect(MaskedUpdateToPredicatedMap(), on=on).becomes(
        f"""{HEAD} {{ data t: f64[n] transient data c: i64 transient {counted} state {{ {PACK} {other} map i = 0:N {{
            data u_1: f64 transient
            tasklet (v <- a[i]) -> (o -> u_1) {{ o = v * v }}
            tasklet (x0 <- m[i], x1 <- u_1, x2 <- a[i]) -> (out -> a[i]) {{ out = select(x0, x1, x2) }}
        }} }} }}"""
    ).same_values(N=[0, 5])


UNFIT_UPDATES = {
    "not all of it was selected by one mask": (PACK.replace("<- m", "<- p"), mapped(), STORE),
    "is written in between": (
        PACK, "map j = 0:N { tasklet () -> (o -> a[j]) { o = 0.0 } }", mapped(), STORE,
    ),
    "'b' must stay in memory": (PACK, mapped(reads=", w <- b[k]"), STORE),
    "the number of an element": (PACK, mapped(code="v + f64(k)"), STORE),
    "is read at other places": (PACK, mapped(reads=", w <- a[0]"), STORE),
    "units of work per element": (PACK, mapped(code="atan2(sinh(v), exp(v))"), STORE),
    "nothing of it was selected": ("map k = 0:n { tasklet () -> (o -> u[k]) { o = 1.0 } }", STORE),
    "has the memory of the mask": (
        "indexing.compress (mask <- m[0:N], x0 <- p[0:N]) -> (out0 -> q[0:n])",
        STORE.replace("u[0:n]", "q[0:n]").replace("a[0:N]", "m[0:N]"),
    ),
    "at other places": (
        PACK.replace("x0 <- a[0:N]", "x0 <- r[0:N]"), mapped(), STORE,
    ),
}  # fmt: skip


@pytest.mark.parametrize("reason", UNFIT_UPDATES)
def test_updates_that_are_refused(reason):
    data = f"{DATA} data q: bool[n] transient view r: f64[N] of a[N - 1:-1:-1]"
    expect(MaskedUpdateToPredicatedMap(), on=program(*UNFIT_UPDATES[reason], data=data)).is_refused(reason)


def test_choices_of_complex_numbers_wait_until_all_is_fused():
    text = f"{HEAD} {{ {DATA} {COUNT} state {{ {PACK} {mapped()} {STORE} }} }}".replace("f64", "c128")
    expect(MaskedUpdateToPredicatedMap(structures=False), on=parse(text)).is_refused("no vectors")
    expect(MaskedUpdateToPredicatedMap(), on=parse(text))


def test_a_sum_takes_the_identity_for_the_others():
    expect(MaskedReduction(), on=program(PACK, mapped(), SUM)).becomes(
        f"""{HEAD} {{ data u_1: f64[N] transient state {{ map i = 0:N {{
            data u_2: f64 transient
            tasklet (v <- a[i]) -> (o -> u_2) {{ o = v * v }}
            tasklet (x0 <- m[i], x1 <- u_2) -> (out -> u_1[i]) {{ out = select(x0, x1, 0.0) }}
        }} reduce (x <- u_1[0:N]) -> (out -> s[]) {{axes = (0,)}} }} }}"""
    ).same_values(N=[0, 1, 70])


@pytest.mark.parametrize(
    ("reason", "nodes"),
    [
        ("nothing of it was selected", ("map k = 0:n { tasklet () -> (o -> u[k]) { o = 1.0 } }", SUM)),
        ("must stay in memory", ("reduce (x <- a[0:N]) -> (out -> s[]) {axes = (0,)}",)),
        ("only a part", (PACK, mapped(), SUM.replace("0:n", "1:n"))),
        ("units of work", (PACK, mapped(code="sinh(tan(v))"), SUM)),
        ("not computed by one map", (SUM,)),
        ("not computed by one map", (PACK, mapped(), mapped(), SUM)),
    ],
)
def test_sums_that_are_refused(reason, nodes):
    expect(MaskedReduction(), on=program(*nodes)).is_refused(reason)


SECOND = "indexing.compress (mask <- m[0:N], x0 <- b[0:N]) -> (out0 -> u[0:n])"
USES = "map k = 0:n { tasklet (v <- t[k], w <- u[k]) -> (o -> s[] (add)) { o = v * w } }"


def test_operands_of_one_mask_are_packed_at_once():
    both = "indexing.compress (mask <- m[0:N], x0 <- a[0:N], x1 <- b[0:N]) -> (out0 -> t[0:n], out1 -> u[0:n])"
    on = program(PACK, SECOND, USES)
    expect(MergeCompressions(), on=on).becomes(f"{HEAD} {{ {DATA} {COUNT} state {{ {both} {USES} }} }}").same_values(
        N=[0, 3, 70]
    )


@pytest.mark.parametrize(
    ("reason", "between"),
    [
        ("it stays behind what it depends on", "map j = 0:N { tasklet () -> (o -> b[j]) { o = 0.0 } }"),
        ("it stays behind what it depends on", "map j = 0:N { tasklet () -> (o -> m[j]) { o = true } }"),
    ],
)
def test_operands_that_change_are_packed_apart(reason, between):
    expect(MergeCompressions(), on=program(PACK, between, SECOND, USES)).is_refused(reason)


def chained(a, b, mask):
    a[mask] = a[mask] * b[mask] + 1
    b[b < 0.5] *= 2
    return a[mask].sum(), b[b > 1].mean() if np.any(b > 1) else np.float64(0.0), np.count_nonzero(mask)


def rows(x, mask):
    x[mask] = x[mask] - x[mask][:, :1]
    x[:, mask[:3]] = x[:, mask[:3]] * 2
    return x[mask].max(), x[:, mask[:3]].sum(axis=1), x[mask].prod(axis=0)


def shapes(z, mask):
    z[mask] = z[mask] ** 2 + z[mask].conj()
    return z[mask].sum(), abs(z)[mask].min()


@pytest.mark.cc
def test_programs():
    random = np.random.default_rng(8)
    for n in (1, 63, 1000):
        a, b = random.random(n), random.random(n)
        a[0] = np.nan
        check_same(chained, a, b, random.random(n) < 0.5, rtol=1e-12, optimized=True)
    mask = np.array([True, False, True, True, False])
    check_same(rows, random.random((5, 3)), mask, rtol=1e-12, optimized=True)
    z = random.random((7, 5)) + 1j * random.random((7, 5))
    check_same(shapes, z, np.abs(z) < 0.9, rtol=1e-12, optimized=True)
