"""PersistentKernel: one block runs a loop of small kernels; sizes are proved, or asked before the loop."""

import pytest

from dcpy.transforms.gpu.blocks.reduce_to_blocks import ReduceToBlocks
from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.loops.persistent_kernel import PersistentKernel
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.passes import Passed


def resident(text):
    return Passed(text, PlaceComputation(), ReduceToBlocks(), FormKernels(), PersistentKernel())


def test_sizes_that_are_proved_need_no_second_version():
    resident("""
        sdfg @f(A: f64[90], T) symbols(T: i64) {
          loop t = 0:T {
            data u: f64[90] transient
            data c: f64 transient
            state {
              tasklet () -> (o -> c) { o = f64(t) }
              map i = 1:89 { tasklet (a <- A[i - 1], b <- c) -> (o -> u[i]) { o = a * b } }
              map j = 1:89 { tasklet (a <- u[j]) -> (o -> A[j]) { o = a } }
            }
          }
        }""").becomes("""
        sdfg @f(A: f64[90], T) symbols(T: i64) {
          state {
            map one = 0:1 @grid {
              data u: f64[90] transient @shared @stack
              loop t = 0:T {
                data c: f64 transient @register
                state {
                  tasklet () -> (o -> c) { o = f64(t) }
                  map i = 1:89 @block { tasklet (a <- A[i - 1], b <- c) -> (o -> u[i]) { o = a * b } }
                  map j = 1:89 @block { tasklet (a <- u[j]) -> (o -> A[j]) { o = a } }
                }
              }
            }
          }
        }""").same_values(T=[0, 3]).says("map one: one block runs the loop over t")


def test_other_sizes_are_asked_before_the_loop():
    passed = resident("""
        sdfg @f(A: f64[N], T) symbols(T: i64, N: size {least = 2}) {
          loop t = 0:T {
            state { map i = 1:N { tasklet (a <- A[i - 1]) -> (o -> A[N - i]) { o = a + f64(t) } } }
          }
        }""")
    assert "if 4097 - N >= 0" in passed.text
    assert passed.text.count("@block") == 1
    assert passed.text.count("loop t") == 2


def test_sums_that_a_block_adds_up_and_arrays_that_grow_with_the_loop():
    passed = resident(
        """
        sdfg @f(A: f64[N]) symbols(N: size {least = 2}) {
          loop k = 1:N {
            data s: f64 transient
            data w: f64[k] transient
            state {
              tasklet () -> (o -> s) { o = 0.0 }
              map i = 0:k { tasklet (a <- A[i]) -> (o -> s (add)) { o = a } }
              map j = 0:k { tasklet (a <- A[k - j - 1], b <- s) -> (o -> w[j]) { o = a * b } }
              map l = 0:k { tasklet (a <- w[l]) -> (o -> A[l]) { o = a } }
            }
          }
        }"""
    )
    passed.same_values(N=[2, 5]).says("one block runs the loop over k_1")
    assert "f64[N - 1] transient" in passed.text


LOOP = """
    sdfg @f(A: f64[N, N], B: f64[N], p: i64[N]) symbols(N: size {{least = 3}}) {{
      loop t = 1:N - 1 {{ {body} }}
    }}"""
SWEEP = "state { map i = 1:N { tasklet (a <- B[i - 1]) -> (o -> B[N - i]) { o = a } } }"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (SWEEP + "if p[t] > 0 { break }", "a branch depends on elements of arrays"),
        (SWEEP + "let k = p[t]", "not only kernels are inside: definition of k"),
        (SWEEP * 17, "there are 17 kernels inside"),
    ],
)
def test_stays_a_loop_of_launches(body, reason):
    text = LOOP.format(body=body)
    for number in range(body.count("map i =")):
        text = text.replace(
            "map i = 1:N { tasklet (a <- B[i - 1]) -> (o -> B[N - i])",
            f"map i{number} = 1:N {{ tasklet (a <- B[i{number} - 1]) -> (o -> B[N - i{number}])",
            1,
        )
    resident(text).says(f"not in a single block: {reason}", applied=False)


@pytest.mark.parametrize(
    ("condition", "is_asked"),
    [
        ("1.0 / x[] + x[] ** 2.0 != 0.0", True),  # infinity at worst
        ("7 // n[] != 0", False),  # nothing divides by zero before a loop that may not run
    ],
)
def test_checks_of_numbers_are_asked_before_the_loop(condition, is_asked):
    passed = resident(
        f"""
        sdfg @f(A: f64[N], B: f64[N], x: f64, n: i64, T) symbols(N: size, T: i64) {{
          loop t = 0:T {{
            check {condition} else ZeroDivisionError "division by zero"
            state {{
              map i = 0:N {{ tasklet (a <- A[i]) -> (o -> B[N - i - 1]) {{ o = a }} }}
              map j = 0:N {{ tasklet (b <- B[j]) -> (o -> A[j]) {{ o = b + 1.0 }} }}
            }}
          }}
        }}"""
    ).same_values(N=[3], T=[2], x=[2.0], n=[3])
    if is_asked:
        assert f"\n  if {condition} {{\n    if 4096 - N >= 0 {{" in passed.text
    else:
        passed.says("not in a single block: not only kernels are inside: check", applied=False)
