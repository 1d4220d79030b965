"""PlaceComputation: what becomes a kernel, what stays on the host, and what is said about it."""

import pytest

from dcpy.base.errors import InvalidSdfg
from dcpy.transforms.gpu.lowering import lower_for_gpu
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.expect import parse
from tests.support.passes import Passed


def placed(text):
    return Passed(text, PlaceComputation())


def test_maps_are_kernels_and_scalars_join_them_where_they_touch_the_device():
    placed("""
        sdfg @f(alpha: f64, A: f64[N], B: f64[N], s: f64[1]) symbols(N: size {least = 2}) {
          data t: f64 transient
          data u: f64 transient
          state {
            tasklet (a <- alpha) -> (o -> t) { o = 2.0 * a }
            map i = 0:N { tasklet (a <- A[i], b <- t) -> (o -> B[i]) { o = a * b } }
            tasklet (a <- B[0], b <- B[1]) -> (o -> u) { o = a + b }
            tasklet (a <- u) -> (o -> s[0]) { o = sqrt(a * a) }
          }
        }""").becomes("""
        sdfg @f(alpha: f64, A: f64[N], B: f64[N], s: f64[1]) symbols(N: size {least = 2}) {
          data t: f64 transient
          state {
            tasklet (a <- alpha) -> (o -> t) { o = 2.0 * a }
            map i = 0:N @grid { tasklet (a <- A[i], b <- t) -> (o -> B[i]) { o = a * b } }
            map one = 0:1 @grid {
              data u: f64 transient
              tasklet (a <- B[0], b <- B[1]) -> (o -> u) { o = a + b }
              tasklet (a <- u) -> (o -> s[0]) { o = sqrt(a * a) }
            }
          }
        }""").same_values(N=[2, 5]).says("map i: a kernel", "tasklet to u: one thread, where its operands are")


def test_copies_of_what_a_kernel_writes_are_kernels():
    placed("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          state {
            map i = 0:N { tasklet (a <- A[i]) -> (o -> A[i]) { o = a + 1.0 } }
            copy A[0:N] -> B[0:N]
            copy B[0:N - 1] -> B[1:N]
          }
        }""").becomes("""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          data B_new: f64[N - 1] transient
          state {
            map i = 0:N @grid { tasklet (a <- A[i]) -> (o -> A[i]) { o = a + 1.0 } }
            map c = 0:N @grid { tasklet (a <- A[c]) -> (out -> B[c]) { out = a } }
            map c_1 = 0:N - 1 @grid { tasklet (a <- B[c_1]) -> (out -> B_new[c_1]) { out = a } }
            map c_2 = 0:N - 1 @grid { tasklet (a <- B_new[c_2]) -> (out -> B[c_2 + 1]) { out = a } }
          }
        }""").same_values(N=[1, 6])


SUM = """
    sdfg @f(x: f64[N], y: f64[N], s: f64[1]) symbols(N: size) {{
      data acc: f64 transient
      state {{
        tasklet () -> (o -> acc) {{ o = 0.0 }}
        map k = 0:N {schedule} {{ tasklet (a <- x[k]) -> (o -> acc (add)) {{ o = a }} }}
        tasklet (a <- acc) -> (o -> s[0]) {{ o = sqrt(a * a) }}
        map i = 0:N {{ tasklet (a <- acc) -> (o -> y[i]) {{ o = a }} }}
      }}
    }}"""


def test_a_sum_is_one_kernel_with_what_comes_before_and_after():
    placed(SUM.format(schedule="")).becomes("""
        sdfg @f(x: f64[N], y: f64[N], s: f64[1]) symbols(N: size) {
          data acc: f64 transient
          state {
            map one = 0:1 @grid {
              tasklet () -> (o -> acc) { o = 0.0 }
              map k = 0:N { tasklet (a <- x[k]) -> (o -> acc (add)) { o = a } }
              tasklet (a <- acc) -> (o -> s[0]) { o = sqrt(a * a) }
            }
            map i = 0:N @grid { tasklet (a <- acc) -> (o -> y[i]) { o = a } }
          }
        }""").same_values(N=[0, 7])


def test_a_loop_that_nothing_runs_in_parallel_is_the_hosts():
    text = """
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {
          state { map i = 0:N SCHEDULE { tasklet (a <- A[i]) -> (o -> A[i]) { o = a + 1.0 } } }
          loop j = 1:N { state { tasklet (a <- A[j - 1], b <- A[j]) -> (o -> A[j]) { o = a * b } } }
        }"""
    placed(text.replace("SCHEDULE", "")).becomes(text.replace("SCHEDULE", "@grid"))


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("map i = 0:N { foreign (a <- A[i]) -> (r -> B[i]) from libm { r = sin(&a) } }", "runs code that may do more"),
        (
            "map i = 0:N { data t: f64[i + 1] transient copy A[0:i + 1] -> t[0:i + 1] copy t[i] -> B[i] }",
            "the size of 't' differs between iterations",
        ),
    ],
)
def test_what_devices_cannot_do_stays_on_the_host(body, reason):
    found = placed(f"sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {{ state {{ {body} }} }}")
    assert "@grid" not in found.text
    found.says(reason, applied=False)


def test_maps_that_call_stay_on_the_host_and_the_callee_has_kernels_of_its_own():
    found = placed("""
        sdfg @f(A: f64[N, M]) symbols(N: size, M: size) {
          state { map i = 0:N { call @g (v = A[i, 0:M]) with (M = M) outlined } }
        }
        sdfg @g(v: f64[M]) symbols(M: size) {
          state { map j = 0:M { tasklet (a <- v[j]) -> (o -> v[j]) { o = a + 1.0 } } }
        }""")
    assert found.text.count("@grid") == 1
    assert "map j = 0:M @grid" in found.text


def test_arguments_that_may_overlap_stay_together():
    text = """
        sdfg @f(A: f64[N] alias a, B: f64[N] alias a, C: f64[N]) symbols(N: size) {
          state {
            map i = 0:N { tasklet (a <- A[i]) -> (o -> B[i]) { o = a } }
            map j = 0:N { tasklet (a <- C[j]) -> (o -> C[j]) { o = a + 1.0 } }
          }
        }"""
    found = placed(text).says("'A' may overlap another argument, and one of them is written", applied=False)
    assert found.text.count("@grid") == 1


def test_a_program_is_lowered_once():
    sdfg = parse("sdfg @f(A: f64[8]) { state { map i = 0:8 { tasklet () -> (o -> A[i]) { o = 1.0 } } } }")
    lower_for_gpu(sdfg)
    with pytest.raises(InvalidSdfg, match="'f' was lowered for a device before"):
        lower_for_gpu(sdfg)


TURNS = """
    sdfg @f(A: f64[N, M], T) symbols(T: i64, N: size, M: size) {
      loop i = 1:N - 1 {
        state { map k = 0:M { tasklet (a <- A[i, k], b <- A[i + 1, k]) -> (o -> A[i, k]) { o = a + b } } }
        loop j = 1:LAST {
          state { tasklet (a <- A[i, j], b <- A[i, j - 1]) -> (o -> A[i, j]) { o = a + b } }
        }
      }
    }"""


def test_what_takes_turns_with_a_long_loop_of_the_host_is_the_hosts():
    found = Passed(TURNS.replace("LAST", "M"), PlaceComputation())
    assert "@grid" not in found.text
    found.says("it would take turns on 'A' with a loop that only one thread can run", applied=False)
    short = Passed(TURNS.replace("LAST", "M // 64"), PlaceComputation())
    assert "map k = 0:M @grid" in short.text


def test_what_was_written_for_a_device_is_taken_back_where_the_host_runs_it():
    placed("""
        sdfg @f(A: f16[N], B: f16[N]) symbols(N: size) {
          state {
            map b = 0:N:8 @grid {
              data tile: f16[8] transient @shared @stack
              map i = b:min(N, b + 8) @block { tasklet (a <- A[i]) -> (o -> tile[i - b]) { o = a } }
              map j = b:min(N, b + 8) @block { tasklet (a <- tile[j - b]) -> (o -> B[j]) { o = a } }
            }
          }
        }""").becomes("""
        sdfg @f(A: f16[N], B: f16[N]) symbols(N: size) {
          state {
            map b = 0:N:8 @sequential {
              data tile: f16[8] transient @stack
              map i = b:min(N, b + 8) @sequential { tasklet (a <- A[i]) -> (o -> tile[i - b]) { o = a } }
              map j = b:min(N, b + 8) @sequential { tasklet (a <- tile[j - b]) -> (o -> B[j]) { o = a } }
            }
          }
        }""").same_values(N=[0, 20]).says("devices have no numbers of f16", applied=False)


def test_what_was_written_for_a_device_is_taken_back_inside_of_a_map_of_the_host():
    placed("""
        sdfg @f(A: f16[M, N], B: f16[M, N]) symbols(M: size, N: size) {
          state {
            map k = 0:M {
              map i = 0:N @grid { tasklet (a <- A[k, i]) -> (o -> B[k, i]) { o = a } }
            }
          }
        }""").becomes("""
        sdfg @f(A: f16[M, N], B: f16[M, N]) symbols(M: size, N: size) {
          state {
            map k = 0:M {
              map i = 0:N @sequential { tasklet (a <- A[k, i]) -> (o -> B[k, i]) { o = a } }
            }
          }
        }""").same_values(N=[0, 5], M=[3])
