"""From maps to networks: readers, a pipeline, writers; what cannot be streamed is a process alone."""

from dcpy.transforms.fpga.form_processes import FormProcesses
from dcpy.transforms.fpga.pipeline_loops import PipelineLoops
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from tests.support.passes import Passed


def test_a_map_becomes_readers_a_pipeline_and_writers():
    Passed(
        """
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {
          state { map i = 0:N { tasklet (a <- x[i]) -> (o -> y[i]) { o = a + 1.0 } } }
        }""",
        StreamingMemory(),
        PipelineLoops(),
    ).becomes("""
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {
          stream x_read: f64 capacity 2 transient
          stream y_written: f64 capacity 2 transient
          state { }
          dataflow {
            process read_x { loop i_1 = 0:N @pipelined{ii = 1, style = stp} { copy x[i_1] -> x_read } }
            process compute {
              loop i = 0:N @pipelined{ii = 1, style = frp} {
                data x_value: f64 transient @register
                data y_value: f64 transient @register
                state { copy x_read -> x_value }
                state { tasklet (a <- x_value) -> (o -> y_value) { o = a + 1.0 } }
                state { copy y_value -> y_written }
              }
            }
            process write_y { loop i_2 = 0:N @pipelined{ii = 1, style = stp} { copy y_written -> y[i_2] } }
          }
          state { }
        }""").same_values(N=[0, 1, 5])


def test_an_array_that_is_read_and_written_is_copied_first():
    found = Passed(
        """
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {
          state { map i = 0:N, j = 0:1 { tasklet (a <- x[i], b <- y[i]) -> (o -> y[i]) { o = a + b } } }
        }""",
        StreamingMemory(),
        PipelineLoops(),
    )
    assert "copy y[0:N] -> y_before[0:N]" in found.text
    assert "copy y_before[i_2] -> y_read" in found.text
    found.same_values(N=[0, 1, 5])


def streamed(body, arguments="x: f64[N], y: f64[N], A: f64[N, N], s: f64[]"):
    return Passed(f"sdfg @f({arguments}) symbols(N: size) {{ state {{ {body} }} }}", StreamingMemory(), FormProcesses())


def alone(body, reason):
    found = streamed(body)
    assert "compute" not in found.text
    assert "process over_i {" in found.text
    found.same_values(N=[0, 3]).says(reason, applied=False)


def test_what_is_no_stream_is_a_process_alone():
    alone("map i = 0:N { tasklet (a <- x[i]) -> (o -> s (add)) { o = a } }", "s (add) is more than an element")
    alone("map i = 0:N { map j = 0:N { tasklet (a <- A[i, j]) -> (o -> A[i, j]) { o = a } } }", "there is a map in it")
    alone("map i = 0:N { if x[i] > 0.0 { copy x[i] -> y[i] } }", "there is a branch in it")
    alone(
        "map i = 0:N { copy x[i] -> y[i] copy y[i] -> A[i, 0] }",
        "y[i] is read behind a write",
    )
    alone("map i = 0:N { copy A[i, 0:N] -> A[i, 0:N] }", "A[i, 0:N] is more than an element")


def test_two_names_of_one_memory_are_no_streams():
    found = streamed("map i = 0:N { copy x[i] -> y[i] }", "x: f64[N] alias g, y: f64[N] alias g")
    assert "process over_i" in found.text


def test_loops_of_two_axes_are_one_pipeline():
    found = Passed(
        """
        sdfg @f(A: f64[N, M], B: f64[M, N]) symbols(N: size, M: size) {
          state { map i = 0:N, j = 0:M { tasklet (a <- A[i, j]) -> (o -> B[j, i]) { o = -a } } }
        }""",
        StreamingMemory(),
        PipelineLoops(),
    )
    assert "loop i = 0:N {\n        loop j = 0:M @pipelined{ii = 1, style = frp} {" in found.text
    found.same_values(N=[0, 3], M=[1, 4])


def test_what_is_unrolled_is_a_part_of_a_pipeline():
    text = """
        sdfg @f(x: f64[N, 4], y: f64[N]) symbols(N: size) {
          dataflow {
            process a {
              loop i = 0:N { loop j = 0:4 @unrolled { tasklet (a <- x[i, j]) -> (o -> y[i] (add)) { o = a } } }
            }
          }
        }"""
    found = Passed(text, PipelineLoops())
    assert "loop i = 0:N @pipelined{style = stp} {" in found.text
    assert "loop j = 0:4 @unrolled {" in found.text
    Passed(text.replace("@unrolled", ""), PipelineLoops()).says("pipelined (stp) in the process 'a'")
