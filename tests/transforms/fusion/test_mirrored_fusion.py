"""MirroredFusion: shape, value, refusal, and what it makes of NumPy's updates from an array's own reverse."""

import numpy as np
import pytest

import dcpy
from dcpy.transforms.cpu.lowering import lower_for_cpu
from dcpy.transforms.fusion.mirrored_fusion import MirroredFusion
from tests.support.expect import expect, parse
from tests.support.oracles import check_same


def program(
    first="(y <- Y[N - 1 - i]) -> (o -> t[i]) { o = y * 2.0 }",
    second="(y <- Y[j], t <- t[j]) -> (o -> Y[j]) { o = y + t }",
    domain="0:N",
    between="",
    rows="",
):
    return parse(f"""
        sdfg @f(Y: f64[{rows}N], Z: f64[{rows}N], C: f64) symbols(N: size) {{
          data t: f64[{rows}N] transient
          state {{
            map {"r = 0:3, " if rows else ""}i = {domain} {{ tasklet {first} }}
            {between}
            map {"s = 0:3, " if rows else ""}j = {domain} {{ tasklet {second} }}
          }}
        }}""")


def test_an_iteration_does_what_its_image_does_too():
    expect(MirroredFusion(), on=program()).becomes("""
        sdfg @f(Y: f64[N], Z: f64[N], C: f64) symbols(N: size) {
          state {
            map i = 0:N // 2 {
              data t: f64 transient
              data t_2: f64 transient
              tasklet (y <- Y[N - i - 1]) -> (o -> t) { o = y * 2.0 }
              tasklet (y <- Y[i]) -> (o -> t_2) { o = y * 2.0 }
              tasklet (y <- Y[i], t <- t) -> (o -> Y[i]) { o = y + t }
              tasklet (y <- Y[N - i - 1], t <- t_2) -> (o -> Y[N - i - 1]) { o = y + t }
            }
            map i_1 = N // 2:N - (N // 2) {
              data t_1: f64 transient
              tasklet (y <- Y[N - i_1 - 1]) -> (o -> t_1) { o = y * 2.0 }
              tasklet (y <- Y[i_1], t <- t_1) -> (o -> Y[i_1]) { o = y + t }
            }
          }
        }""").same_values(N=[0, 1, 2, 3, 8, 9])


def test_an_even_number_has_no_middle():
    on = parse("""
        sdfg @f(Y: f64[8]) {
          data t: f64[8] transient
          state {
            map i = 0:8 { tasklet (y <- Y[7 - i]) -> (o -> t[i]) { o = -y } }
            map j = 0:8 { tasklet (t <- t[j]) -> (o -> Y[j]) { o = t } }
          }
        }""")
    expect(MirroredFusion(), on=on).becomes("""
        sdfg @f(Y: f64[8]) {
          state {
            map i = 0:4 {
              data t: f64 transient
              data t_1: f64 transient
              tasklet (y <- Y[-i + 7]) -> (o -> t) { o = -y }
              tasklet (y <- Y[i]) -> (o -> t_1) { o = -y }
              tasklet (t <- t) -> (o -> Y[i]) { o = t }
              tasklet (t <- t_1) -> (o -> Y[-i + 7]) { o = t }
            }
          }
        }""").same_values()


def test_a_part_of_an_array_is_mirrored_in_itself():
    on = program(first="(y <- Y[N - 2 - i]) -> (o -> t[i]) { o = y }", domain="0:N - 1")
    expect(MirroredFusion(), on=on).applies().same_values(N=[1, 2, 5])
    for domain, sizes in (("0:N - 1", [0]), ("1:N - 1", [1, 2, 6]), ("2:N - 2", [1, 3, 4, 9])):
        image = domain.replace(":", " + ") + " - 1 - i"
        inside_out = program(first=f"(y <- Y[{image}]) -> (o -> t[i]) {{ o = y }}", domain=domain)
        expect(MirroredFusion(), on=inside_out).applies().same_values(N=sizes)
    shifted = parse("""
        sdfg @f(Y: f64[N]) symbols(N: size) assumes(N >= 3) {
          data t: f64[N] transient
          state {
            map i = 1:N { tasklet (y <- Y[N - i]) -> (o -> t[i]) { o = y * 2.0 } }
            map j = 0:N - 1 { tasklet (y <- Y[j + 1], t <- t[j + 1]) -> (o -> Y[j + 1]) { o = y + t } }
          }
        }""")
    expect(MirroredFusion(), on=shifted).applies().same_values(N=[3, 4, 9])


def test_rows_of_a_matrix_are_mirrored_each():
    on = program(
        "(y <- Y[r, N - 1 - i], c <- C) -> (o -> t[r, i]) { o = y * c }",
        "(y <- Y[s, j], t <- t[s, j]) -> (o -> Y[s, j]) { o = y + t }",
        rows="3, ",
    )
    expect(MirroredFusion(), on=on).applies().same_values(N=[0, 1, 4, 5])


def test_what_the_maps_read_beside_it_may_be_anywhere():
    on = program(first="(y <- Y[N - 1 - i], z <- Z[i // 2]) -> (o -> t[i]) { o = y * z }")
    expect(MirroredFusion(), on=on).applies().same_values(N=[0, 1, 2, 7])


def test_both_elements_may_be_read_twice():
    on = program(first="(y <- Y[N - 1 - i], own <- Y[i]) -> (o -> t[i]) { o = y - own }")
    expect(MirroredFusion(), on=on).applies().same_values(N=[1, 2, 7])


@pytest.mark.parametrize(
    ("on", "why"),
    [
        (program(first="(y <- Y[i]) -> (o -> t[i]) { o = y }"), "mirror image"),
        (program(first="(y <- Y[(i + 1) % N]) -> (o -> t[i]) { o = y }"), "mirror image"),
        (program(second="(y <- Y[j], t <- t[N - 1 - j]) -> (o -> Y[j]) { o = y + t }"), "one element of 't'"),
        (program(second="(t <- t[j]) -> (o -> Y[j] (add)) { o = t }"), "one element of 'Y'"),
        (program(between="tasklet (t <- t[0]) -> (o -> Z[0]) { o = t }"), "'t' is used by other statements"),
        (program(between="tasklet (y <- t[0]) -> (o -> Y[0]) { o = y }"), "'t' is used by other statements"),
        (program(domain="0:N:2"), "no box"),
    ],
)
def test_other_dependences_are_refused(on, why):
    expect(MirroredFusion(), on=on).is_refused(why)


def test_what_stands_between_is_moved_or_refused():
    on = program(between="tasklet (c <- C) -> (o -> Z[0]) { o = c }", domain="0:N")
    expect(MirroredFusion(), on=on).applies().same_values(N=[1, 2, 5])
    on = program(first="(y <- Y[N - 1 - i], z <- Z[i]) -> (o -> t[i]) { o = y * z }", between="copy Y -> Z")
    expect(MirroredFusion(), on=on).is_refused("a node between")


def test_two_arrays_are_refused():
    on = parse("""
        sdfg @f(Y: f64[N], Z: f64[N]) symbols(N: size) {
          data t: f64[N] transient
          state {
            map i = 0:N { tasklet (y <- Y[N - 1 - i]) -> (o -> t[i]) { o = y } }
            map j = 0:N { tasklet (t <- t[j]) -> (o -> Y[j], p -> Z[j]) { o = t; p = t } }
          }
        }""")
    expect(MirroredFusion(), on=on).is_refused("one array")


def levinson(y, alpha, k):
    y[:k] += alpha * np.flip(y[:k])
    return y


def symmetric(x):
    x[:] = (x + x[::-1]) / 2


def by_rows(A, c):
    A -= c * A[:, ::-1]


def by_columns(A, c):
    A *= A[::-1, :] + c


@pytest.mark.parametrize("size", [0, 1, 2, 3, 10, 67])
def test_updates_from_the_own_reverse(size):
    rng = np.random.default_rng(size)
    check_same(levinson, rng.random(size), 0.3, size, optimized=True)
    check_same(levinson, rng.random(size), 0.3, size // 2, optimized=True)
    check_same(symmetric, rng.random(size), optimized=True)
    check_same(by_rows, rng.random((3, size)), 0.5, optimized=True)
    check_same(by_columns, rng.random((size, 5)), 0.5, optimized=True)


def test_no_temporary_is_left():
    sdfg = dcpy.program(by_rows).to_sdfg(np.ones((3, 9)), 2.0)
    sdfg.auto_optimize()
    lower_for_cpu(sdfg)
    regions = sdfg.body.walk_regions()
    transients = [desc for region in regions for desc in region.containers.values() if desc.transient]
    assert transients
    assert all(not desc.shape for desc in transients)
