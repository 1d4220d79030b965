"""Tees: what two processes take from memory in one order is read once."""

from dcpy.transforms.fpga.decouple_memory import DecoupleMemory
from dcpy.transforms.fpga.form_processes import FormProcesses
from dcpy.transforms.fpga.interleave_accumulation import InterleaveAccumulation
from dcpy.transforms.fpga.pipeline_loops import PipelineLoops
from dcpy.transforms.fpga.read_broadcast import ReadBroadcast
from dcpy.transforms.fpga.streaming_composition import StreamingComposition
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from dcpy.transforms.fpga.vectorize_ports import VectorizePorts
from tests.support.passes import Passed

TWO = """
    state { map i = 0:N { tasklet (a <- x[i]) -> (o -> y[i]) { o = a + 1.0 } } }
    state { map j = 0:N { tasklet (a <- x[j]) -> (o -> z[j]) { o = a * a } } }"""


def shared(body, arguments="x: f64[N], y: f64[N], z: f64[N], A: f64[N, N]", *more):
    return Passed(
        f"sdfg @f({arguments}) symbols(N: size) {{ {body} }}",
        StreamingMemory(),
        FormProcesses(),
        InterleaveAccumulation(),
        DecoupleMemory(),
        StreamingComposition(),
        ReadBroadcast(),
        *more,
        PipelineLoops(),
    )


def test_one_reader_and_a_tee_give_to_both():
    found = shared(TWO)
    assert found.text.count("copy x[") == 1
    told = " ".join(found.text.split())
    assert "process tee_x { loop i_1_1 = 0:N @pipelined{style = frp} { data x_read_held: f64 transient" in told
    copies = ("copy x_read_once -> x_read_held", "copy x_read_held -> x_read", "copy x_read_held -> x_read_1")
    assert " ".join(copies) in told
    found.same_values(N=[0, 1, 5]).says("'x' is read by 'read_x', too: a tee passes it to both")


def test_tees_have_lanes():
    found = shared(TWO, "x: f64[N], y: f64[N], z: f64[N]", VectorizePorts(64, 4))
    assert found.text.count("token (4)") == 5
    found.same_values(N=[0, 1, 4, 7])


def test_elements_that_come_several_times_are_read_once_where_loops_are_the_same():
    """The elements of y are one for each row, in both networks."""
    found = shared(
        """
        state { map i = 0:N, j = 0:N { tasklet (a <- A[i, j], b <- y[i]) -> (o -> B[i, j]) { o = a + b } } }
        state { map k = 0:N, l = 0:N { tasklet (a <- A[k, l], b <- y[k]) -> (o -> C[k, l]) { o = a - b } } }""",
        "A: f64[N, N], B: f64[N, N], C: f64[N, N], y: f64[N]",
    )
    assert found.text.count("copy A[") == 1
    found.says("'y' is read by 'read_y', too: two paths would split at a tee and join again", applied=False)
    found.same_values(N=[0, 1, 3])


def two_readers(body, reason, **more):
    shared(body, **more).says(reason, applied=False).same_values(N=[0, 1, 5])


def test_other_orders_are_read_twice():
    two_readers(
        """
        state { map i = 0:N { copy x[i] -> y[i] } }
        state { map j = 0:N { copy x[N - 1 - j] -> z[j] } }""",
        "'x' is read by 'read_x', too: the elements come in another order",
    )
    two_readers(
        """
        state { map i = 0:N, j = 0:N { copy A[i, j] -> B[i, j] } }
        state { map k = 0:N, l = 0:N { copy A[l, k] -> C[k, l] } }""",
        "'A' is read by 'read_A', too: the elements come in another order",
        arguments="A: f64[N, N], B: f64[N, N], C: f64[N, N]",
    )
    two_readers(
        """state { map i = 0:N, j = 0:N - 1 {
            tasklet (a <- A[i, j], b <- A[i, j + 1]) -> (o -> B[i, j]) { o = a + b } } }""",
        "'A' is read by 'read_A', too: two paths would split at a tee and join again",
        arguments="A: f64[N, N], B: f64[N, N]",
    )


def test_products_of_a_matrix_from_both_sides_read_it_twice():
    """Sums of rows take turns, those of columns are whole rows: to read it once, rows must be kept."""
    two_readers(
        """
        state { map j = 0:N {
          data s: f64 transient
          tasklet () -> (o -> s) { o = 0.0 }
          map k = 0:N { tasklet (a <- A[k, j], b <- x[k]) -> (o -> s (add)) { o = a * b } }
          copy s -> y[j]
        } }
        state { map i = 0:N {
          data t: f64 transient
          tasklet () -> (o -> t) { o = 0.0 }
          map l = 0:N { tasklet (a <- A[i, l], b <- x[l]) -> (o -> t (add)) { o = a * b } }
          copy t -> z[i]
        } }""",
        "'A' is read by 'read_A', too: ",
    )
