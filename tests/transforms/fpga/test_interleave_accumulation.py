"""Sums take turns: rows of a nest, or partial sums of one; what cannot, says why."""

from dcpy.transforms.fpga.interleave_accumulation import InterleaveAccumulation
from tests.support.passes import Passed

ROWS = """
    sdfg @f(A: f32[N, M], y: f32[N]) symbols(N: size, M: size) {
      dataflow { process a { state {
        map i = 0:N {
          data s: f32 transient
          tasklet () -> (o -> s) { o = f32(0.0) }
          map k = 0:M { tasklet (a <- A[i, k]) -> (o -> s (add)) { o = a } }
          tasklet (a <- s) -> (o -> y[i]) { o = a }
        } } } }
    }"""


def test_rows_take_turns():
    Passed(ROWS, InterleaveAccumulation()).becomes("""
        sdfg @f(A: f32[N, M], y: f32[N]) symbols(N: size, M: size) {
          dataflow { process a { state {
            map i_tile = 0:N:16 {
              data s: f32[16] transient
              map i_lane = 0:16 { tasklet () -> (o -> s[i_lane]) { o = f32(0.0) } }
              map k = 0:M {
                map i_lane_1 = 0:16 {
                  tasklet (a <- A[min(N - 1, i_lane_1 + i_tile), k]) -> (o -> s[i_lane_1] (add)) { o = a }
                }
              }
              map i_lane_2 = 0:min(16, N - i_tile) {
                tasklet (a <- s[i_lane_2]) -> (o -> y[i_lane_2 + i_tile]) { o = a }
              }
            } } } }
        }""").same_values(N=[0, 1, 16, 19], M=[0, 3]).says("the sums of 16 rows are interleaved")


def test_rows_that_fill_their_tiles_need_no_masks():
    found = Passed(ROWS.replace("N: size, M", "M").replace("N", "64"), InterleaveAccumulation())
    assert "min" not in found.text
    found.same_values(M=[1, 5])


def test_sums_of_doubles_take_more_turns():
    assert "map i_tile = 0:N:32" in Passed(ROWS.replace("f32", "f64"), InterleaveAccumulation()).text
    assert "tile" not in Passed(ROWS.replace("f32(0.0)", "0").replace("f32", "i64"), InterleaveAccumulation()).text


def test_a_sum_alone_gets_partial_sums_and_a_tree():
    found = Passed(
        """
        sdfg @f(x: f32[N], s: f32[]) symbols(N: size) {
          dataflow { process a { state { map k = 0:N { tasklet (a <- x[k]) -> (o -> s[] (add)) { o = a } } } } }
        }""".replace("s: f32[]", "y: f32[1]").replace("s[]", "s").replace(
            "process a { state", "process a { data s: f32 transient state { copy y[0] -> s } state"
        ).replace("} } } }\n", "} } state { copy s -> y[0] } } }\n"),
        InterleaveAccumulation(),
    )
    assert "(o -> s_parts[k % 16] (add))" in found.text
    assert "tasklet (part <- s_parts[lane_1 + 8]) -> (out -> s_parts[lane_1] (add))" in found.text
    found.same_values(N=[0, 1, 16, 17, 40]).says("16 partial sums are interleaved")


def refused(before, after, reason):
    found = Passed(ROWS.replace(before, after), InterleaveAccumulation())
    assert "tile" not in found.text
    found.says(reason, applied=False)


TERM = "{ o = a } }\n          tasklet (a <- s)"


def test_what_cannot_take_turns():
    refused("k = 0:M", "k = 0:min(i, M)", "how many terms a sum has depends on i")
    refused("i = 0:N", "i = 0:N:2", "i does not go in steps of one")
    refused("data s: f32 transient", "data s: f32 transient data t: f32[2] transient", "'t' is no scalar")
    refused(TERM, TERM.replace("} }", "} copy A[i, k] -> A[i, k] }"), "A[i, k] is written for each term")
