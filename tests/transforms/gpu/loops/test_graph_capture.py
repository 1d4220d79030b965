"""GraphCapture: which loops of launches become graphs, of how many iterations, and why others do not."""

import pytest

from dcpy.transforms.gpu.kernels.form_kernels import FormKernels
from dcpy.transforms.gpu.loops.graph_capture import GraphCapture
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.passes import Passed

SWEEP = """state {
  map i = 1:N - 1 { tasklet (a <- A[i - 1], b <- A[i + 1]) -> (o -> B[i]) { o = a + b } }
  map j = 1:N - 1 { tasklet (a <- B[j]) -> (o -> A[j]) { o = a } }
}"""
CALLBACK = 'state { callback () -> () {function = "m:f", call = ""} }'


def recorded(body, steps="0:T", most=64):
    text = f"""sdfg @f(A: f64[N], B: f64[N], T, s: f64[1]) symbols(N: size {{least = 3}}, T: i64) {{
      loop t = {steps} {{ {body} }} }}"""
    return Passed(text, PlaceComputation(), FormKernels(), GraphCapture(most))


def test_iterations_that_launch_alike_are_one_graph():
    found = recorded(SWEEP)
    assert "loop t = 0:T @recorded{width = 32, graphs = one} {" in found.text
    found.says("the launches of 32 iterations are one graph, which serves all bands").same_values(T=[0, 3], N=[5])


def test_a_counter_in_a_kernel_takes_a_graph_for_each_band():
    found = recorded(SWEEP.replace("o = a + b", "o = a + f64(t)"), most=8)
    assert "loop t = 0:T @recorded{width = 4} {" in found.text
    found.says("the launches of 4 iterations are a graph of its own")


def test_the_host_may_compute_numbers_meanwhile():
    found = recorded(SWEEP + "state { tasklet (a <- s[0]) -> (o -> s[0]) { o = a + 1.0 } }")
    assert "@recorded{width = 32} {" in found.text


def test_choices_that_fall_the_same_way_each_time_are_recorded():
    found = recorded(f"if N > 99 {{ {SWEEP} }} else {{ {SWEEP.replace('i', 'u').replace('j', 'v')} }}")
    found.says("the launches of 16 iterations are one graph")
    other = recorded(f"if t > 99 {{ {SWEEP} }}")
    other.says("kernels are launched one by one: a branch is inside", applied=False)


@pytest.mark.parametrize(
    ("body", "steps", "reason"),
    [
        (SWEEP, "T:0:-1", "it does not count upwards in steps that are a number"),
        (SWEEP, "3:60", "57 iterations are fewer than two bands of 32"),
        (SWEEP + "if s[0] > 1.0 { break }", "0:T", "kernels are launched one by one: a branch is inside"),
        (SWEEP + CALLBACK, "0:T", "the Python function m:f may raise an exception"),
        (SWEEP + 'check s[0] > 0.0 else ValueError "no"', "0:T", "check may raise an exception"),
        ("data x: f64[N] transient @heap " + SWEEP, "0:T", "memory for 'x' is asked for in each iteration"),
        (f"loop u = 0:3 {{ {SWEEP} }}", "0:T", "loop t: kernels are launched one by one: a loop u is inside"),
    ],
)
def test_others_are_launched_one_by_one(body, steps, reason):
    found = recorded(body, steps).says(reason, applied=False)
    assert "loop t" in found.text
    assert "loop t = 0:T @recorded" not in found.text


def test_loops_that_launch_nothing_are_not_talked_about():
    assert [remark for remark in recorded("").remarks if remark.step == "graph-capture"] == []
