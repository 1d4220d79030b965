"""CompactionToPoints: worklists whose points are followed one by one: shape, values, refusals."""

import numpy as np
import pytest

import dcpy
from benchmarks.npbench import kernels
from dcpy import plugins
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.libraries.indexing.passes.compaction_to_points import CompactionToPoints
from dcpy.transforms.api import apply_repeated
from tests.support.expect import assert_same_values, expect, parse
from tests.support.oracles import assert_equal, check_same

plugins.load()

HEAD = """
    data z: f64[N] transient
    data at: i64[N] transient
    data n: i64 transient
    state {
      map p = 0:N { tasklet (x <- a[p]) -> (o -> z[p]) { o = x } }
      map q = 0:N { tasklet () -> (o -> at[q]) { o = q } }
    }
    let left = N"""
BODY = """
        data gone: bool[k] transient
        data keep: bool[k] transient
        data c: i64 transient
        data d: i64 transient
        data u: f64[m] transient
        data v: i64[m] transient
        data w: f64[r] transient
        data x: i64[r] transient
        state {
          map i = 0:k { tasklet (s <- z[i], e <- h) -> (o -> z[i]) { o = s * e + 0.25 } }
          map j = 0:k { tasklet (s <- z[j]) -> (o -> gone[j]) { o = s > 1.0 } }
          reduce (x <- gone[0:k]) -> (out -> c) {axes = (0,)}
        }
        let m = c[]
        state {
          indexing.compress (mask <- gone[0:k], x0 <- z[0:k], x1 <- at[0:k]) -> (out0 -> u[0:m], out1 -> v[0:m])
          indexing.scatter (out <- b[0:N], values <- u[0:m], i0 <- v[0:m]) -> (out -> b[0:N])
            {axes = (0,), shown = (0,)}
          map l = 0:k { tasklet (g <- gone[l]) -> (o -> keep[l]) { o = not g } }
          reduce (x <- keep[0:k]) -> (out -> d) {axes = (0,)}
        }
        let r = d[]
        state {
          indexing.compress (mask <- keep[0:k], x0 <- z[0:k], x1 <- at[0:k]) -> (out0 -> w[0:r], out1 -> x[0:r])
        }
        let left = r
        state { copy w[0:r] -> z[0:r] copy x[0:r] -> at[0:r] }"""


def program(body=BODY, head=HEAD, after="", around="{}"):
    loop = f"loop t = 0:9 {{ let k = left if not k != 0 {{ break }} else {{ {body} }} }}"
    return parse(f"""
        sdfg @f(a: f64[N], b: f64[N], h: f64) symbols(N: size) {{
          {head}
          {around.replace("{}", loop)}
          {after}
        }}""")


def test_each_point_runs_through_the_loop_alone():
    """Where a point is, what fills ``at`` says: it is not carried."""
    expect(CompactionToPoints(), on=program()).becomes(f"""
        sdfg @f(a: f64[N], b: f64[N], h: f64) symbols(N: size) {{
          {HEAD}
          state {{
            map point = 0:left {{
              data z_1: f64 transient
              state {{ tasklet (a <- z[point]) -> (out -> z_1) {{ out = a }} }}
              loop t = 0:9 {{
                data gone_1: bool transient
                data gone_2: bool transient
                data u_1: f64 transient
                data keep_1: bool transient
                data keep_2: bool transient
                data w_1: f64 transient
                state {{
                  tasklet (s <- z_1, e <- h) -> (o -> z_1) {{ o = s * e + 0.25 }}
                  tasklet (s <- z_1) -> (o -> gone_1) {{ o = s > 1.0 }}
                  tasklet (a <- gone_1) -> (out -> gone_2) {{ out = a }}
                  tasklet (a <- z_1) -> (out -> u_1) {{ out = a }}
                }}
                if gone_2[] {{ state {{ tasklet (a <- u_1) -> (out -> b[point]) {{ out = a }} }} }}
                state {{
                  tasklet (g <- gone_1) -> (o -> keep_1) {{ o = not g }}
                  tasklet (a <- keep_1) -> (out -> keep_2) {{ out = a }}
                  tasklet (a <- z_1) -> (out -> w_1) {{ out = a }}
                  tasklet (a <- w_1) -> (out -> z_1) {{ out = a }}
                }}
                if not keep_2[] {{ break }}
              }}
            }}
          }}
        }}""").same_values(N=[0, 1, 9])


REFUSED = {
    "the number of an element among those": ("s * e + 0.25", "s * e + f64(i)"),
    "is not over all elements": ("map j = 0:k", "map j = 1:k"),
    "'z' is not touched element by element": ("tasklet (s <- z[j]) ->", "tasklet (s <- z[k - 1 - j]) ->"),
    "'b' is not touched element by element": ("e <- h", "e <- b[0]"),
    "'b' combines values": ("(o -> gone[j]) { o = s > 1.0 }", "(o -> gone[j], e -> b[0] (add)) { o = s > 1.0; e = s }"),
    "two points may write the same element of 'b'": ("x1 <- at[0:k]) -> (out0 -> u", "x1 <- idx[0:k]) -> (out0 -> u"),
    "'at', which says where points write, changes": (
        "reduce (x <- gone", "map e = 0:k { tasklet (p <- at[e]) -> (o -> at[e]) { o = p // 2 } } reduce (x <- gone"
    ),
    "'z' does not shrink with the others": ("copy w[0:r] -> z[0:r]", ""),
    "stores at places that one mask has not packed": ("i0 <- v[0:m]) ->", "i0 <- at[0:m]) ->"),
    "does more than to store single elements": ("axes = (0,), shown = (0,)}", 'axes = (0,), shown = (0,), op = "add"}'),
    "goes on after arrays have shrunk": (
        "copy x[0:r] -> at[0:r] }", "copy x[0:r] -> at[0:r] tasklet () -> (o -> c) { o = 1 } }"
    ),
    "there is a branch inside": ("let m = c[]", "let m = c[] if m > 3 { state { tasklet () -> (o -> c) { o = 1 } } }"),
    "'left' does not count what a mask selects": ("let left = r", "let left = r - 1"),
    "it reduces what is no mask of all elements": ("reduce (x <- keep[0:k])", "reduce (x <- keep[0:k - 1])"),
}  # fmt: skip


@pytest.mark.parametrize(("reason", "change"), REFUSED.items(), ids=REFUSED)
def test_points_that_are_not_alone(reason, change):
    old, new = change
    assert old in BODY
    head = HEAD
    if "idx" in new:
        head = HEAD.replace("data n: i64 transient", "data idx: i64[N] transient").replace(
            "let left", "state { map e = 0:N { tasklet () -> (o -> idx[e]) { o = e // 2 } } } let left"
        )
    expect(CompactionToPoints(), on=program(BODY.replace(old, new, 1), head)).is_refused(reason)


def test_what_is_left_is_used_after_the_loop():
    after = "state { copy z[0] -> b[0] }"
    expect(CompactionToPoints(), on=program(after=after)).is_refused("'z' is used after the loop")
    after = "if left > 2 { state { copy a[0] -> b[0] } }"
    expect(CompactionToPoints(), on=program(after=after)).is_refused("'left', a number of elements, is used elsewhere")


def test_a_loop_that_runs_again_goes_on_with_what_is_left():
    on = program(around="loop e = 0:2 { {} }")
    expect(CompactionToPoints(), on=on).is_refused("'z' goes through the loop more than once")
    inside = f"loop e = 0:2 {{ {HEAD.replace('let left = N', '')} {{}} }}"
    on = program(head="let left = N", around=inside)
    expect(CompactionToPoints(), on=on).is_refused("the loop goes on with what is left of an earlier run")
    on = program(head="", around=f"loop e = 0:2 {{ {HEAD} {{}} }}")
    assert apply_repeated(on, CompactionToPoints(), check=True) == 1


def test_places_outside_of_the_array_are_not_proved():
    head = HEAD.replace("o = q }", "o = q + 1 }")
    expect(CompactionToPoints(), on=program(head=head)).is_refused("is not proved to be an index of 'b'")


def test_points_that_have_the_same_place_are_seen():
    head = HEAD.replace("o = q }", "o = q // 2 }")
    expect(CompactionToPoints(), on=program(head=head)).is_refused("two points may write the same element")


# -- programs ----------------------------------------------------------------------------------------------------------


def escape(c, steps):
    """Of growing arrays and one size, as programs write it."""
    at = np.arange(c.size)
    z = np.zeros(c.size)
    out, count = np.zeros(c.size), np.zeros(c.size, np.int64)
    for t in range(steps):
        if not len(z):
            break
        z = z * z + c
        gone = np.abs(z) > 2.0
        out[at[gone]] = z[gone]
        count[at[gone]] = t + 1
        keep = ~gone
        z, c, at = z[keep], c[keep], at[keep]
    return out, count


def grid(n, m, steps):
    """Places are pairs of indices, and complex numbers are looked at by their size."""
    i, j = np.mgrid[0:n, 0:m]
    c = (i / n - 1.5) + (j / m - 0.5) * 1j
    out = np.zeros(c.shape, np.complex128)
    count = np.zeros(c.shape, np.int64)
    i.shape = j.shape = c.shape = n * m
    z = np.zeros(c.shape, np.complex128)
    for t in range(steps):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        gone = abs(z) > 2.0
        count[i[gone], j[gone]] = t + 1
        out[i[gone], j[gone]] = z[gone]
        np.logical_not(gone, gone)
        z = z[gone]
        i, j = i[gone], j[gone]
        c = c[gone]
    return out, count


@pytest.mark.parametrize(("function", "arguments"), [(escape, (np.linspace(-3, 1, 50), 9)), (grid, (5, 4, 8))])
def test_programs_keep_their_values(function, arguments):
    before = dcpy.program(function, auto_optimize=True).to_sdfg(*arguments)
    after = copy_sdfg(before)
    assert apply_repeated(after, CompactionToPoints(), check=True) == 1
    sizes = {"N": [0, 1, 50], "steps": [9]} if function is escape else {"n": [1, 5], "m": [3], "steps": [8]}
    assert_same_values(before, after, sizes)


@pytest.mark.cc
def test_compiled_programs_are_numpys():
    for size in (0, 1, 100):
        check_same(escape, np.linspace(-3, 1, size), 20)
    check_same(escape, np.linspace(-3, 1, 100), 0)
    check_same(grid, 5, 4, 15, rtol=1e-9)  # NumPy may round a product of complex numbers once, not twice
    points = np.linspace(-3, 1, 3000)  # too many for the interpreter
    assert_equal(dcpy.program(escape)(points.copy(), 20), escape(points, 20))
    assert_equal(dcpy.program(grid)(30, 20, 15), grid(30, 20, 15), rtol=1e-9)


def test_arrays_may_be_filled_through_views():
    head = HEAD.replace("data z: f64[N] transient", "data z: f64[N] transient view s: f64[1, N] of z")
    filled = head.replace("(o -> z[p])", "(o -> s[0, p])")
    expect(CompactionToPoints(), on=program(head=filled)).applies().same_values(N=[0, 1, 6])
    used = program(head=filled, after="state { copy s[0, 0:N] -> b[0:N] }")
    expect(CompactionToPoints(), on=used).is_refused("'z' is not an array of its own with one dimension")


def test_a_worklist_with_arrays_of_another_shape_at_first():
    kernel = kernels()["mandelbrot2"]
    sdfg = dcpy.program(kernel.function).to_sdfg(*kernel.initialize("XS").values())
    assert apply_repeated(sdfg, CompactionToPoints(), check=True) == 1
