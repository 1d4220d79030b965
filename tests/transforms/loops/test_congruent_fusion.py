"""CongruentFusion: shape, value, refusal, and what it makes of histograms of the same data."""

import numpy as np
import pytest

import dcpy
from dcpy.ir.region import Loop
from dcpy.transforms.loops.congruent_fusion import CongruentFusion
from tests.support.expect import expect, parse
from tests.support.oracles import check_same

FIRST = """
    state { tasklet (a <- A[{i}]) -> (o -> {x}) { o = a * 3.0 } }
    check {x}[] >= 0.0 else ValueError "negative"
    if {x}[] < 2.5 {
      state { tasklet (x <- {x}) -> (o -> {k}) { o = i64(trunc(x)) } }
      let {s} = wrap({k}[], 3, 0)
      state { UPDATE }
    }"""
COUNT = "tasklet (h <- H[{s}]) -> (o -> H[{s}]) { o = h + 1.0 }"
WEIGH = "tasklet (g <- G[{s}], b <- B[{i}]) -> (o -> G[{s}]) { o = g + b }"


def body(update, names, text=FIRST):
    for name, value in zip("ixks", names.split(), strict=True):
        text = text.replace("UPDATE", update).replace(f"{{{name}}}", value)
    return text


FIRST_LOOP, SECOND_LOOP = body(COUNT, "i x k s"), body(WEIGH, "j y q r")


def program(
    second=SECOND_LOOP,
    between="state { map m = 0:3 { tasklet () -> (o -> G[m]) { o = 0.0 } } }",
    domain="0:N",
    first=FIRST_LOOP,
    sums="data G: f64[3] transient",
    behind="",
):
    return parse(f"""
        sdfg @f(A: f64[N], B: f64[N], H: f64[3], C: f64[3]) symbols(N: size) {{
          {sums}
          loop i = 0:N {{
            data x: f64 transient
            data k: i64 transient
            {first}
          }}
          {between}
          loop j = {domain} {{
            data y: f64 transient
            data q: i64 transient
            {second}
          }}
          state {{ copy G[0:3] -> C[0:3] }}
          {behind}
        }}""")


def test_what_both_find_out_is_found_out_once():
    both = body(COUNT + "\n" + WEIGH, "i x k s")
    expect(CongruentFusion(), on=program()).becomes(f"""
        sdfg @f(A: f64[N], B: f64[N], H: f64[3], C: f64[3]) symbols(N: size) {{
          data G: f64[3] transient
          state {{ map m = 0:3 {{ tasklet () -> (o -> G[m]) {{ o = 0.0 }} }} }}
          loop i = 0:N {{
            data x: f64 transient
            data k: i64 transient
            {both}
          }}
          state {{ copy G[0:3] -> C[0:3] }}
        }}""").same_values(N=[0, 1, 7])


SHIFTED = FIRST.replace("a * 3.0", "a * 2.0")
ALSO_X = "tasklet (h <- H[{s}]) -> (o -> H[{s}]) { o = h + 1.0 } tasklet () -> (o -> {x}) { o = 0.0 }"


@pytest.mark.parametrize(
    ("on", "why"),
    [
        (program(second=body(WEIGH, "j y q r", SHIFTED)), "their bodies compute different values"),
        (program(second=body(WEIGH, "j y q r", FIRST.replace("2.5", "2.0"))), "their bodies differ"),
        (program(second=body(WEIGH, "j y q r", FIRST.replace("negative", "below"))), "their bodies differ"),
        (program(second=body(WEIGH, "j y q r", FIRST.replace("3, 0", "2, 0"))), "their bodies differ"),
        (program(domain="1:N"), "another range"),
        (program(second=body(WEIGH.replace("G", "H"), "j y q r")), "one loop writes 'H'"),
        (program(second=body(WEIGH.replace("B[{i}]", "H[0]"), "j y q r")), "one loop writes 'H'"),
        (program(first=body(COUNT.replace("-> H[{s}]", "-> A[{s}]"), "i x k s")), "one loop writes 'A'"),
        (program(first=body(ALSO_X, "i x k s")), "their bodies compute different values"),
        (program(between="state { tasklet (h <- H[0]) -> (o -> G[0]) { o = h } }"), "touches 'H'"),
        (program(between="state { tasklet () -> (o -> A[0]) { o = 1.0 } }"), "touches 'A'"),
        (program(between="state { tasklet () -> (o -> C[0]) { o = 1.0 } }"), "would find what is written between"),
        (program(between="check N < 5 else ValueError \"many\""), "no loop stands before it"),
        (program(second=body(WEIGH.replace("G", "C"), "j y q r")), "would find 'C' written by the second one"),
        (program(behind="if r == 0 { state { tasklet () -> (o -> C[0]) { o = 1.0 } } }"), "needed behind the loop"),
    ],
)
def test_what_may_not_take_turns_is_refused(on, why):
    expect(CongruentFusion(), on=on).is_refused(why)


def test_a_branch_that_assigns_another_symbol_is_refused():
    """The second loop's `r` is the first one's `s` in one case, and its `t` in the other one."""
    text = """
        if A[{i}] < 0.5 { let {r} = 0 } else { let {t} = 1 }
        state { UPDATE }"""
    first = text.replace("{i}", "i").replace("{r}", "s").replace("{t}", "t")
    second = text.replace("{i}", "j").replace("{r}", "r").replace("{t}", "r")
    first = first.replace("UPDATE", "tasklet (h <- H[t]) -> (o -> H[t]) { o = h + 1.0 }")
    second = second.replace("UPDATE", "tasklet (g <- G[r]) -> (o -> G[r]) { o = g + 1.0 }")
    expect(CongruentFusion(), on=program(first=first, second=second)).is_refused("their bodies differ")


def test_what_the_first_loop_has_left_is_no_name_of_the_second_one():
    """The second loop asks for the first one's last `s` where the first one asks for that of the iteration."""
    text = """
        let {s} = N - {i}
        state { tasklet (a <- A[{i}]) -> (o -> {x}) { o = a } }
        if s < 3 { state { UPDATE } }"""
    first = body(COUNT.replace("{s}", "0"), "i x k s", text)
    second = text.replace("{i}", "j").replace("{s}", "r").replace("{x}", "y")
    second = second.replace("UPDATE", WEIGH.replace("{s}", "0").replace("{i}", "j"))
    expect(CongruentFusion(), on=program(first=first, second=second)).is_refused("a symbol of the first one")


def test_a_range_that_the_first_loop_changes_is_another_one():
    on = parse("""
        sdfg @f(A: f64[N], H: f64[1], G: f64[1]) symbols(N: size) {
          let n = N
          loop i = 0:n {
            data x: f64 transient
            let n = i
            state { tasklet (a <- A[i]) -> (o -> x) { o = a }
                    tasklet (x <- x, h <- H[0]) -> (o -> H[0]) { o = h + x } }
          }
          loop j = 0:n {
            data y: f64 transient
            let n = j
            state { tasklet (a <- A[j]) -> (o -> y) { o = a }
                    tasklet (y <- y, g <- G[0]) -> (o -> G[0]) { o = g + y } }
          }
        }""")
    expect(CongruentFusion(), on=on).is_refused("a symbol of the first one")


def test_loops_without_anything_in_common_are_refused():
    first = "state { tasklet (a <- A[i]) -> (o -> H[0]) { o = a } }"
    second = "state { tasklet (b <- B[j]) -> (o -> G[0]) { o = b } }"
    expect(CongruentFusion(), on=program(first=first, second=second)).is_refused("nothing in common")


def means(x, w, bins):
    counts = np.histogram(x, bins)[0]
    sums = np.histogram(x, bins, weights=w)[0]
    return sums / counts


def other_bins(x, w, bins):
    return np.histogram(x, bins)[0], np.histogram(x, bins + 1, weights=w)[0]


def other_data(x, w, bins):
    return np.histogram(x, bins)[0], np.histogram(w, bins)[0]


def loops_of(function, *arguments):
    sdfg = dcpy.program(function).to_sdfg(*arguments, as_called=True)
    sdfg.auto_optimize()
    return sum(isinstance(block, Loop) for block in sdfg.body.walk_blocks())


def test_histograms_of_the_same_data_are_one_loop():
    x, w = np.random.default_rng(0).random((2, 100))
    assert loops_of(means, x, w, 7) == 1
    assert loops_of(other_bins, x, w, 7) == 2
    assert loops_of(other_data, x, w, 7) == 2


@pytest.mark.parametrize("size", [1, 2, 10, 1000])
@pytest.mark.parametrize("function", [means, other_bins, other_data])
def test_histograms(function, size):
    x, w = np.random.default_rng(size).random((2, size))
    with np.errstate(all="ignore"):
        check_same(function, x, w, 5, optimized=True, rtol=1e-12)


def test_an_exception_comes_first():
    x = np.array([1.0, np.nan])
    for auto in (False, True):
        with pytest.raises(ValueError, match="not finite"):
            dcpy.program(means, auto_optimize=auto)(x, x, 3)
