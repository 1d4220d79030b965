"""Tokens of several elements: what is packed, how last tokens are filled, and what goes on one by one."""

import pytest

from dcpy.base.options import InvalidOption
from dcpy.transforms.fpga.decouple_memory import DecoupleMemory
from dcpy.transforms.fpga.form_processes import FormProcesses
from dcpy.transforms.fpga.interleave_accumulation import InterleaveAccumulation
from dcpy.transforms.fpga.pipeline_loops import PipelineLoops
from dcpy.transforms.fpga.streaming_composition import StreamingComposition
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from dcpy.transforms.fpga.vectorize_ports import VectorizePorts
from tests.support.passes import Passed


def vectorized(body, arguments="x: f64[N], y: f64[N], A: f64[N, 6], B: f64[N, 6]", lanes=4, symbols="N: size"):
    return Passed(
        f"sdfg @f({arguments}) symbols({symbols}) {{ {body} }}",
        StreamingMemory(),
        FormProcesses(),
        InterleaveAccumulation(),
        DecoupleMemory(),
        StreamingComposition(),
        VectorizePorts(64, lanes),
        PipelineLoops(),
    )


def test_the_last_token_is_filled_by_its_reader_and_its_writer_stores_what_is_there():
    Passed(
        """
        sdfg @f(x: f32[N], y: f32[N]) symbols(N: size) {
          state { map i = 0:N { tasklet (a <- x[i]) -> (o -> y[i]) { o = a + f32(1.0) } } }
        }""",
        StreamingMemory(),
        VectorizePorts(64),
        PipelineLoops(),
    ).becomes("""
        sdfg @f(x: f32[N], y: f32[N]) symbols(N: size) {
          stream x_read: f32 token (16) capacity 2 transient
          stream y_written: f32 token (16) capacity 2 transient
          state { }
          dataflow {
            process read_x {
              loop i_1_token = 0:N // 16 @pipelined{ii = 1, style = stp} {
                copy x[16*i_1_token:16*i_1_token + 16] -> x_read
              }
              loop i_1_rest = 16*(N // 16):N:16 {
                data i_1_last: f32[16] transient @local @registers
                loop i_1_lane = 0:16 @pipelined{style = stp} {
                  copy x[min(N - 1, i_1_lane + i_1_rest)] -> i_1_last[i_1_lane]
                }
                copy i_1_last[0:16] -> x_read
              }
            }
            process compute {
              loop i_token = 0:-((-N) // 16) @pipelined{ii = 1, style = frp} {
                data x_read_lanes: f32[16] transient @local @registers
                data y_written_lanes: f32[16] transient @local @registers
                state { copy x_read -> x_read_lanes[0:16] }
                loop i_lane = 0:16 @unrolled {
                  data x_value: f32 transient @register
                  data y_value: f32 transient @register
                  state { copy x_read_lanes[i_lane] -> x_value }
                  state { tasklet (a <- x_value) -> (o -> y_value) { o = a + f32(1.0) } }
                  state { copy y_value -> y_written_lanes[i_lane] }
                }
                state { copy y_written_lanes[0:16] -> y_written }
              }
            }
            process write_y {
              loop i_2_token = 0:N // 16 @pipelined{ii = 1, style = stp} {
                copy y_written -> y[16*i_2_token:16*i_2_token + 16]
              }
              loop i_2_rest = 16*(N // 16):N:16 {
                data i_2_last: f32[16] transient @local @registers
                copy y_written -> i_2_last[0:16]
                loop i_2_lane = 0:min(16, N - i_2_rest) @pipelined{style = stp} {
                  copy i_2_last[i_2_lane] -> y[i_2_lane + i_2_rest]
                }
              }
            }
          }
          state { }
        }""").same_values(N=[0, 1, 15, 16, 17, 32, 35])


def test_iterations_know_their_number():
    """Those that are not there have that of the last one: no index leaves an array."""
    body = "map i = 0:N { tasklet (a <- x[i], b <- y[i]) -> (o -> y[i]) { o = a / f64(i + 1 - N * 2) + b } }"
    vectorized(f"state {{ {body} }}").same_values(N=[0, 1, 3, 4, 5, 11]).says("i in 'compute': tokens of 4")


def test_rows_have_tokens_that_divide_them():
    body = "map i = 0:N, j = 0:6 { tasklet (a <- A[i, j], b <- x[i]) -> (o -> B[i, j]) { o = a * b } }"
    found = vectorized(f"state {{ {body} }}")
    found.same_values(N=[0, 1, 3]).says("j in 'compute': tokens of 2")


def test_networks_that_are_joined_have_one_width():
    """The narrower tokens: those of doubles."""
    found = vectorized(
        """
        data t: f64[N] transient
        state { map i = 0:N { tasklet (a <- v[i]) -> (o -> t[i]) { o = f64(a) + 1.0 } } }
        state { map j = 0:N { tasklet (a <- t[j], b <- x[j]) -> (o -> y[j]) { o = a * b } } }
        """,
        "v: f32[N], x: f64[N], y: f64[N]",
        lanes=0,
    )
    assert found.text.count("dataflow") == 1
    assert found.text.count("token (8)") == 4
    found.same_values(N=[0, 7, 8, 17])


def test_sums_side_by_side_have_memory_of_their_own():
    """Each row of A is read in tokens; the sums of columns are in as many pieces as a token has elements."""
    text = """state {
      map j = 0:64 {
        data s: f64 transient
        tasklet () -> (o -> s) { o = 0.0 }
        map k = 0:N { tasklet (a <- A[k, j], b <- x[k]) -> (o -> s (add)) { o = a * b } }
        tasklet (a <- s) -> (o -> y[j]) { o = a }
      }
    }"""
    found = vectorized(text, "A: f64[N, 64], x: f64[N], y: f64[64]", lanes=2)
    assert "data s: f64[64] transient @local @bram partition cyclic 0 by 2" in found.text
    assert found.text.count("token (2)") == 3
    found.same_values(N=[0, 1, 3])
    wide = vectorized(text, "A: f64[N, 64], x: f64[N], y: f64[64]", lanes=8)
    assert "token (2)" in wide.text, "an addition takes 18 cycles, so 32 tokens are needed between two of its terms"


def one_by_one(body, *reasons, **more):
    found = vectorized(f"state {{ {body} }}", **more)
    assert "token" not in found.text.replace("_token", "")
    sizes = {"N": [0, 1, 9], "M": [3]} if "M" in more.get("symbols", "") else {"N": [0, 1, 9]}
    found.says(*reasons, applied=False).same_values(**sizes)


def test_what_does_not_lie_side_by_side_goes_one_by_one():
    one_by_one(
        "map i = 0:N, j = 0:4 { copy A[i, j] -> C[j, i] }",
        "C[j_2, i_2]: the elements of neighbours in j_2 are not adjacent in memory",
        "'write_C' takes elements of 'C_written' one by one",
        arguments="A: f64[N, 4], C: f64[4, N]",
    )
    one_by_one("map i = 0:N { copy A[i, 0] -> y[i] }", "A[i_1, 0]: the elements of neighbours in i_1 are not adjacent")
    one_by_one(
        "map i = 0:N { copy x[2 * i] -> y[i] }",
        "x[2*i_1]: the elements of neighbours in i_1 are not adjacent in memory",
        arguments="x: f64[2*N], y: f64[N]",
    )


def test_runs_that_start_inside_of_a_token_go_one_by_one():
    one_by_one(
        "map i = 0:N, j = 0:M { copy A[i, j] -> B[i, j] }",
        "A[i_1, j_1] is not shown to start at a token of 4: a row is M elements",
        arguments="A: f64[N, M], B: f64[N, M]",
        symbols="N: size, M: size",
    )
    one_by_one("map i = 0:N - 1 { copy x[i + 1] -> y[i] }", "x[i_1 + 1] is not shown to start at a token of 4")


def test_sums_of_rows_go_one_by_one():
    """Rows take turns, and neighbours of a column are far from each other."""
    one_by_one(
        """map i = 0:N {
          data s: f64 transient
          tasklet () -> (o -> s) { o = 0.0 }
          map k = 0:6 { tasklet (a <- A[i, k]) -> (o -> s (add)) { o = a } }
          tasklet (a <- s) -> (o -> y[i]) { o = a }
        }""",
        "k_1]: the elements of neighbours in i_lane_1_1 are not adjacent in memory",
        "32 sums in tokens of 4 go on before an addition ends",
    )


def test_lanes_are_powers_of_two():
    with pytest.raises(InvalidOption, match="tokens of 6 elements"):
        VectorizePorts(64, 6)
