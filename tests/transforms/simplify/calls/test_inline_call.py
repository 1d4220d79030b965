"""InlineCall: shape, value, refusal."""

from __future__ import annotations

from dcpy.transforms.api import apply_once
from dcpy.transforms.simplify.calls.inline_call import InlineCall
from tests.support.expect import expect, parse

SCALE = """
    sdfg @scale(x: f64[n], by: f64) symbols(n: size) {
      data tmp: f64[n] transient
      state { map i = 0:n { tasklet (a <- x[i], b <- by) -> (o -> tmp[i]) { o = a * b } }
              copy tmp[0:n] -> x[0:n] }
    }"""


def test_whole_containers_take_the_place_of_arguments():
    expect(
        InlineCall(),
        on=parse("""
            sdfg @f(A: f64[N], c: f64, tmp: f64[N]) symbols(N: size) {
              state { map i = 0:N { tasklet () -> (o -> tmp[i]) { o = f64(1) } }
                      call @scale (x = A[0:N], by = c) with (n = N)
                      call @scale (x = tmp[0:N], by = c) with (n = N) }
            }""" + SCALE),
    ).becomes("""
        sdfg @f(A: f64[N], c: f64, tmp: f64[N]) symbols(N: size) {
          data tmp_1: f64[N] transient
          data tmp_2: f64[N] transient
          state { map i = 0:N { tasklet () -> (o -> tmp[i]) { o = f64(1) } }
                  map i_1 = 0:N { tasklet (a <- A[i_1], b <- c) -> (o -> tmp_1[i_1]) { o = a * b } }
                  copy tmp_1[0:N] -> A[0:N]
                  map i_2 = 0:N { tasklet (a <- tmp[i_2], b <- c) -> (o -> tmp_2[i_2]) { o = a * b } }
                  copy tmp_2[0:N] -> tmp[0:N] }
        }""").same_values(N=[0, 4])


def test_parts_become_views_and_scalars_are_copied():
    expect(
        InlineCall(),
        on=parse("""
            sdfg @f(A: f64[N, N]) symbols(N: size) {
              state { call @scale (x = A[1:N:2, 2], by = A[1, 2]) with (n = N // 2) }
            }""" + SCALE),
    ).becomes("""
        sdfg @f(A: f64[N, N]) symbols(N: size) {
          view x: f64[N // 2] of A[1:N:2, 2]
          data by: f64 transient
          data tmp: f64[N // 2] transient
          state { copy A[1, 2] -> by
                  map i = 0:N // 2 { tasklet (a <- x[i], b <- by) -> (o -> tmp[i]) { o = a * b } }
                  copy tmp[0:N // 2] -> x[0:N // 2] }
        }""").same_values(N=[4, 7])


def test_control_flow_splits_the_state():
    expect(
        InlineCall(),
        on=parse("""
            sdfg @f(A: f64[N], c: f64) symbols(N: size) {
              state { tasklet () -> (o -> A[0]) { o = f64(1) }
                      call @g (x = A[0:N], s = c) with (n = N)
                      tasklet () -> (o -> A[0]) { o = f64(2) } }
            }
            sdfg @g(x: f64[n], s: f64) symbols(n: size) {
              if s[] > 0 { state { tasklet () -> (o -> x[1]) { o = f64(7) } } return }
              let k = n - 1
              loop i = 0:k { state { tasklet (a <- x[i]) -> (o -> x[i]) { o = a + 1 } } }
            }"""),
    ).becomes("""
        sdfg @f(A: f64[N], c: f64) symbols(N: size) {
          state { tasklet () -> (o -> A[0]) { o = f64(1) } }
          state { }
          if c[] > 0 { state { tasklet () -> (o -> A[1]) { o = f64(7) } } }
          else {
            let k = N - 1
            loop i = 0:k { state { tasklet (a <- A[i]) -> (o -> A[i]) { o = a + 1 } } }
          }
          state { tasklet () -> (o -> A[0]) { o = f64(2) } }
        }""").same_values(N=[2, 4], c=[-1.0, 1.0])


def test_calls_inside_of_callees_follow():
    sdfg = parse("""
        sdfg @f(A: f64[3]) { state { call @g (x = A[0:3]) } }
        sdfg @g(x: f64[3]) { state { call @h (y = x[0:3]) call @h (y = x[0:3]) } }
        sdfg @h(y: f64[3]) { state { tasklet (a <- y[0]) -> (o -> y[1]) { o = a + 1 } } }""")
    expect(InlineCall(), on=sdfg).becomes("""
        sdfg @f(A: f64[3]) {
          state { tasklet (a <- A[0]) -> (o -> A[1]) { o = a + 1 }
                  tasklet (a <- A[0]) -> (o -> A[1]) { o = a + 1 } }
        }""").same_values()


def test_refuses_what_is_to_stay_a_function():
    text = "sdfg @f(A: f64[N]) symbols(N: size) { call @scale (x = A[0:N], by = A[0]) with (n = N) outlined }" + SCALE
    expect(InlineCall(), on=parse(text)).is_refused("scale is to stay a function of its own")


def test_refuses_a_return_from_a_loop():
    sdfg = parse("""
        sdfg @f(A: f64[3]) { state { call @g (x = A[0:3]) } }
        sdfg @g(x: f64[3]) {
          loop i = 0:3 { if x[i] > 0 { return } state { tasklet () -> (o -> x[i]) { o = f64(1) } } }
        }""")
    expect(InlineCall(), on=sdfg).is_refused("it returns from inside of a loop")


def test_refuses_when_several_ways_go_on_together():
    sdfg = parse("""
        sdfg @f(A: f64[3]) { state { call @g (x = A[0:3]) } }
        sdfg @g(x: f64[3]) {
          if x[0] > 0 { return }
          elif x[1] > 0 { state { tasklet () -> (o -> x[1]) { o = f64(1) } } }
          state { tasklet () -> (o -> x[0]) { o = f64(1) } }
        }""")
    expect(InlineCall(), on=sdfg).is_refused("the others go on together")


def test_constants_are_shared_by_all_calls():
    sdfg = parse("""
        sdfg @f(A: f64[3]) { loop i = 0:3 { state { call @g (x = A[i]) call @g (x = A[0]) } } }
        sdfg @g(x: f64[]) {
          constant w: f64[2] = {0.5, 0.25}
          data w: f64[2] transient
          state { tasklet (a <- w[1]) -> (o -> x (add)) { o = a } }
        }""")
    expect(InlineCall(), on=sdfg).becomes("""
        sdfg @f(A: f64[3]) {
          constant w: f64[2] = {0.5, 0.25}
          data w: f64[2] transient
          loop i = 0:3 {
            view x: f64[] of A[i]
            view x_1: f64[] of A[0]
            state { tasklet (a <- w[1]) -> (o -> x (add)) { o = a }
                    tasklet (a <- w[1]) -> (o -> x_1 (add)) { o = a } }
          }
        }""").same_values()


STRIDED = """
    sdfg @f(A: f64[N, N]) symbols(N: size) { state { call @g (x = A[0:N, 1]) with (n = N) } }
    sdfg @g(x: f64[n]) symbols(n: size) {
      view tail: f64[n - 1] of x[1:n]
      view flip: f64[n - 1] of tail[n - 2:-1:-1]
      state { tasklet () -> (o -> flip[0]) { o = f64(7) }
              tasklet () -> (o -> tail[0]) { o = f64(8) } }
    }"""


def test_views_of_arguments_follow_the_callers_layout():
    sdfg = parse(STRIDED)
    expect(InlineCall(), on=sdfg).becomes("""
        sdfg @f(A: f64[N, N]) symbols(N: size) {
          view x: f64[N] of A[0:N, 1]
          view tail: f64[N - 1] of x[1:N]
          view flip: f64[N - 1] of tail[N - 2:-1:-1]
          state { tasklet () -> (o -> flip[0]) { o = f64(7) }
                  tasklet () -> (o -> tail[0]) { o = f64(8) } }
        }""").same_values(N=[2, 3, 5])
    apply_once(sdfg, InlineCall())
    layout = [(str(desc.offset), str(desc.strides[0])) for desc in list(sdfg.containers.values())[1:]]
    assert layout == [("1", "N"), ("N + 1", "N"), ("N*N - N + 1", "-N")]


def test_refuses_a_reshape_of_what_is_not_contiguous():
    text = """
        sdfg @f(A: f64[N, N]) symbols(N: size) { state { call @g (x = A[0:N, 1]) with (n = N) } }
        sdfg @g(x: f64[n]) symbols(n: size) {
          view square: f64[1, n] of x
          state { tasklet () -> (o -> square[0, 0]) { o = f64(7) } }
        }"""
    expect(InlineCall(), on=parse(text)).is_refused("the view 'square' in g needs another memory layout")
    contiguous = parse(text.replace("A[0:N, 1]", "A[1, 0:N]"))
    expect(InlineCall(), on=contiguous).becomes("""
        sdfg @f(A: f64[N, N]) symbols(N: size) {
          view x: f64[N] of A[1, 0:N]
          view square: f64[1, N] of x
          state { tasklet () -> (o -> square[0, 0]) { o = f64(7) } }
        }""").same_values(N=[2, 3])
