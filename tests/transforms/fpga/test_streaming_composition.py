"""Networks that hand an array over in one order become one; others stay apart, and say why."""

from dcpy.targets.fpga.infer_depths import InferDepths
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
    apart(f"{PRODUCER} {consumer('j', values='0:N - 1:2')}", "'t': they are not the same elements")


def one(body, reason, arguments=ARGUMENTS, symbols="N: size, M: size", **values):
    found = Passed(f"sdfg @f({arguments}) symbols({symbols}) {{ {body} }}", *PASSES, InferDepths())
    assert found.text.count("dataflow") == 1
    return found.says(reason).same_values(**(values or {"N": [0, 1, 5], "M": [2]}))


def test_a_part_of_what_comes_goes_on():
    found = one(f"{PRODUCER} {consumer('j', values='0:N - 1')}", "'t' comes through a queue in part")
    assert "process part_of_t" in found.text
    found = one(f"{PRODUCER} {consumer('j + 2', values='0:N - 3')}", "through a queue in part", N=[3, 5], M=[2])
    assert "+ 2" not in found.text  # the writer counts from 0


def test_what_others_need_is_stored_too():
    stored = PRODUCER.replace("data t: f32[N] transient", "").replace("t[i]", "z[i]")
    found = one(stored + consumer("j").replace("t[", "z["), "'z' comes through a queue")
    assert "process tee_z" in found.text
    assert "process write_z" in found.text
    found = one(f"{PRODUCER} {consumer('j')} state {{ copy t[0:N] -> z[0:N] }}", "'t' comes through a queue")
    assert "process write_t" in found.text


NUMBERS = "x: f32[6, 40], y: f32[40, 6], z: f32[6, 40]"
DOUBLED = """
    data t: f32[6, 40] transient
    state { map i = 0:6, j = 0:40 { tasklet (a <- x[i, j]) -> (o -> t[i, j]) { o = a + a } } }"""


def test_what_comes_in_another_order_is_held_on_the_chip():
    turned = "state { map k = 0:40, l = 0:6 { tasklet (a <- t[l, k]) -> (o -> y[k, l]) { o = a * a } } }"
    found = one(f"{DOUBLED} {turned}", "'t' comes through a queue, and is held on the chip", NUMBERS, "", N=[1])
    assert "t_held: f32[6, 40] transient @local @bram" in found.text
    large = f"{DOUBLED} {turned}".replace("40", "4000")
    stays = Passed(f"sdfg @f({NUMBERS.replace('40', '4000')}) {{ {large} }}", *PASSES)
    stays.says("'t': the elements come in another order", applied=False)


def test_what_is_not_all_written_is_not_held():
    """The rest of t is what was there before."""
    before = "transient state { copy z[0:6, 0:40] -> t[0:6, 0:40] }"
    part = DOUBLED.replace("j = 0:40", "j = 1:40").replace("transient", before)
    turned = "state { map k = 0:40, l = 0:6 { tasklet (a <- t[l, k]) -> (o -> y[k, l]) { o = a * a } } }"
    found = composed(f"{part} {turned}", NUMBERS, "")
    assert found.text.count("dataflow") == 2
    found.says("'t': they are not the same elements", applied=False).same_values(N=[1])


def test_where_paths_meet_again_queues_hold_what_waits():
    """A sum of a row and the next one times the row: that waits for a row of sums, in a queue that is deep enough."""
    rows = """
        state { map k = 0:5, l = 0:40 {
          tasklet (a <- t[k, l], b <- t[k + 1, l]) -> (o -> u[k, l]) { o = a + b }
        } }
        state { map p = 0:5, q = 0:40 {
          tasklet (a <- t[p, q], b <- u[p, q]) -> (o -> z[p, q]) { o = a * b }
        } }"""
    rows = f"data u: f32[5, 40] transient {DOUBLED} {rows}"
    found = one(rows, "'u' comes through a queue", NUMBERS, "", N=[1])
    assert "capacity 512" in found.text
    unknown = rows.replace("40", "N")
    stays = Passed(f"sdfg @f({NUMBERS.replace('40', 'N')}) symbols(N: size) {{ {unknown} }}", *PASSES)
    stays.says("two paths would join", applied=False).same_values(N=[0, 1, 7])


def test_what_is_written_behind_is_read_from_a_copy():
    """As in C = A + C: the first network takes C as it was."""
    second = "state { map j = 0:N { tasklet (a <- t[j], b <- z[j]) -> (o -> x[j]) { o = a * b } } }"
    one(f"{PRODUCER} {second}", "'t' comes through a queue, 'x' is copied before, for it is written behind")


def test_what_is_written_twice_stays_apart():
    writes = "state { map j = 0:N { tasklet (a <- z[j]) -> (o -> x[j]) { o = a } } }"
    apart(f"{PRODUCER} {writes} state {{ copy t[0:N] -> z[0:N] }}", "'x' is written in one of them, and accessed in")


def test_paths_that_would_meet_again_stay_apart():
    two = "tasklet (a <- x[i]) -> (o -> t[i], p -> u[i]) { o = a; p = -a }"
    both = "tasklet (a <- t[j], b <- u[j]) -> (o -> y[j]) { o = a * b }"
    declared = "data t: f32[N] transient data u: f32[N] transient"
    apart(
        f"{declared} state {{ map i = 0:N {{ {two} }} }} state {{ map j = 0:N {{ {both} }} }}",
        "two paths would join in 'read_u', and how often 'read_x' goes to 'x' is no number",
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
