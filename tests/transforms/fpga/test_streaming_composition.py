"""Networks that hand an array over in one order become one; others stay apart, and say why."""

from dcpy.transforms.fpga.decouple_memory import DecoupleMemory
from dcpy.transforms.fpga.form_processes import FormProcesses
from dcpy.transforms.fpga.interleave_accumulation import InterleaveAccumulation
from dcpy.transforms.fpga.streaming_composition import StreamingComposition
from dcpy.transforms.fpga.streaming_memory import StreamingMemory
from tests.support.passes import Passed

PASSES = (
    StreamingMemory(),
    FormProcesses(),
    InterleaveAccumulation(),
    DecoupleMemory(),
    StreamingComposition(),
)
ARGUMENTS = "x: f32[N], y: f32[N], z: f32[N], A: f32[N, M]"


def composed(body, arguments=ARGUMENTS, symbols="N: size, M: size"):
    return Passed(f"sdfg @f({arguments}) symbols({symbols}) {{ {body} }}", *PASSES)


PRODUCER = "data t: f32[N] transient state { map i = 0:N { tasklet (a <- x[i]) -> (o -> t[i]) { o = a + f32(1.0) } } }"


def consumer(index, *, values="0:N"):
    body = f"tasklet (a <- t[{index}]) -> (o -> y[j]) {{ o = a * a }}"
    return f"state {{ map j = {values} {{ {body} }} }}"


def test_an_array_that_comes_as_it_is_taken_is_a_queue():
    found = composed(f"{PRODUCER} {consumer('j')}")
    assert found.text.count("dataflow") == 1
    assert "data t:" not in found.text
    assert "write_t" not in found.text
    assert "read_t" not in found.text
    found.same_values(N=[0, 1, 5], M=[1]).says("'t' comes through a queue")


def apart(body, reason, **values):
    found = composed(body)
    assert found.text.count("dataflow") == 2
    found.says(reason, applied=False).same_values(**(values or {"N": [1, 5], "M": [2]}))


def test_what_is_taken_in_another_order_stays_in_memory():
    apart(f"{PRODUCER} {consumer('N - 1 - j')}", "'t': the elements come in another order")
    apart(f"{PRODUCER} {consumer('0')}", "'t': an element comes more than once")
    apart(f"{PRODUCER} {consumer('j', values='0:N - 1')}", "'t': they are not the same elements")


def test_what_others_need_stays_in_memory():
    apart(PRODUCER.replace("data t: f32[N] transient", "").replace("t[i]", "z[i]") + consumer("j").replace("t[", "z["),
          "'z' is seen by others")  # fmt: skip
    apart(f"{PRODUCER} {consumer('j')} state {{ copy t[0:N] -> z[0:N] }}", "'t' is needed in another place, too")
    writes = "state { map j = 0:N { tasklet (a <- z[j]) -> (o -> x[j]) { o = a } } }"
    apart(f"{PRODUCER} {writes} state {{ copy t[0:N] -> z[0:N] }}", "'x' is written in one of them, and touched in the")


def test_paths_that_would_meet_again_stay_apart():
    two = "tasklet (a <- x[i]) -> (o -> t[i], p -> u[i]) { o = a; p = -a }"
    both = "tasklet (a <- t[j], b <- u[j]) -> (o -> y[j]) { o = a * b }"
    declared = "data t: f32[N] transient data u: f32[N] transient"
    apart(
        f"{declared} state {{ map i = 0:N {{ {two} }} }} state {{ map j = 0:N {{ {both} }} }}",
        "two paths would meet again in 'read_u'",
    )


def test_networks_that_share_nothing_run_at_the_same_time():
    other = "state { map j = 0:N { tasklet (a <- z[j]) -> (o -> y[j]) { o = -a } } }"
    found = composed(f"{PRODUCER} {other} state {{ copy t[0:N] -> x[0:N] }}")
    assert found.text.count("dataflow") == 1
    found.same_values(N=[0, 5], M=[1]).says("it runs at the same time as the network before")


def test_what_the_host_does_meanwhile_is_done_before():
    between = "state { copy z[0:N] -> w[0:N] }"
    declared = "data w: f32[N] transient "
    found = composed(f"{declared}{PRODUCER} {between} {consumer('j')} state {{ copy w[0:N] -> x[0:N] }}")
    assert found.text.count("dataflow") == 1
    found.same_values(N=[0, 5], M=[1])


SUMS = """
    data t: f32[N] transient
    state { map i = 0:N {
      data s: f32 transient
      tasklet () -> (o -> s) { o = f32(0.0) }
      map k = 0:M { tasklet (a <- A[i, k]) -> (o -> s (add)) { o = a } }
      tasklet (a <- s) -> (o -> t[i]) { o = a }
    } }"""


def test_tiles_of_sums_are_a_queue_of_elements():
    found = composed(f"{SUMS} {consumer('j')}")
    assert found.text.count("dataflow") == 1
    found.same_values(N=[0, 1, 17], M=[0, 3])


def test_two_products_of_one_matrix_are_one_network():
    product = """
        state { map j = 0:24 {
          data r: f32 transient
          tasklet () -> (o -> r) { o = f32(0.0) }
          map l = 0:N { tasklet (a <- A[l, j], b <- t[l]) -> (o -> r (add)) { o = a * b } }
          tasklet (a <- r) -> (o -> w[j]) { o = a }
        } }"""
    arguments = "A: f32[N, 24], w: f32[24]"
    found = composed(f"{SUMS.replace('M', '24')} {product}", arguments, "N: size")
    assert found.text.count("dataflow") == 1
    assert "copy tmp" not in found.text
    found.same_values(N=[0, 1, 18])
