"""A process that goes to memory gets readers and writers; what cannot be told apart stays."""

from dcpy.transforms.fpga.decouple_memory import DecoupleMemory
from dcpy.transforms.fpga.interleave_accumulation import InterleaveAccumulation
from tests.support.passes import Passed

ARGS = "A: f32[N, M], x: f32[M], y: f32[N]) symbols(N: size, M: size"


def process(body):
    return f"sdfg @f({ARGS}) {{ dataflow {{ process a {{ {body} }} }} }}"


def test_readers_and_writers():
    Passed(
        process("state { map i = 0:N { tasklet (a <- A[i, 0], b <- x[0]) -> (o -> y[i]) { o = a * b } } }"),
        DecoupleMemory(),
    ).becomes("""
        sdfg @f(A: f32[N, M], x: f32[M], y: f32[N]) symbols(N: size, M: size) {
          stream A_read: f32 capacity 2 transient
          stream x_read: f32 capacity 2 transient
          stream y_written: f32 capacity 2 transient
          dataflow {
            process read_x { loop i_2 = 0:N { copy x[0] -> x_read } }
            process read_A { loop i_1 = 0:N { copy A[i_1, 0] -> A_read } }
            process a {
              loop i = 0:N {
                data A_value: f32 transient @register
                data x_value: f32 transient @register
                state {
                  copy A_read -> A_value
                  copy x_read -> x_value
                  tasklet (a <- A_value, b <- x_value) -> (o -> y_written) { o = a * b }
                }
              }
            }
            process write_y { loop i_3 = 0:N { copy y_written -> y[i_3] } }
          }
        }""").same_values(N=[0, 1, 5], M=[2])


SUM = """state { map i = 0:N {
    data s: f32 transient
    tasklet () -> (o -> s) { o = f32(0.0) }
    map k = 0:M { tasklet (a <- A[i, k], b <- x[k]) -> (o -> s (add)) { o = a * b } }
    tasklet (a <- s) -> (o -> y[i]) { o = a }
  } }"""


def test_what_is_the_same_for_all_lanes_is_read_once():
    found = Passed(process(SUM), InterleaveAccumulation(), DecoupleMemory())
    assert "copy x[k_2] -> x_held" in found.text
    assert "loop times = 0:16 @unrolled { copy x_held -> x_read }" in " ".join(found.text.split()).replace(
        "{ state { copy x_held -> x_read } }", "{ copy x_held -> x_read }"
    )
    found.same_values(N=[0, 1, 17], M=[0, 3])


def stays(body, reason):
    found = Passed(process(body), DecoupleMemory())
    assert "stream" not in found.text
    found.says(reason, applied=False)


def test_what_stays():
    stays("state { map i = 0:N { copy y[i] -> y[i] } }", "'y' is written, and accessed in another place")
    stays("state { map i = 0:N { tasklet (a <- x[0]) -> (o -> y[0] (add)) { o = a } } }", "is not accessed in each")
    stays("loop i = 0:N { if x[0] > f32(0.0) { copy x[0] -> y[i] } }", "there is a branch in it")
    stays("copy x[0:N] -> y[0:N]", "x[0:N] is more than an element")
    stays("state { map i = 0:N { tasklet () -> (o -> y[i]) { o = f32(1.0) } } }", "there is nothing to decouple")
    stays(
        "state { map i = 0:N { tasklet (a <- x[0], b <- x[0]) -> (o -> y[i]) { o = a * b } } }",
        "x[0] is read twice at once",
    )
