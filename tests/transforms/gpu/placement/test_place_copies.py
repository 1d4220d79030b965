"""PlaceData and PlaceCopies: where data is, and copies where, without one, something stale would be read."""

import numpy as np
import pytest

from dcpy.ir.analysis.gpu import data_validity
from dcpy.ir.interp import interpret, run
from dcpy.ir.verify import form_named
from dcpy.ir.verify.verifier import problems
from dcpy.transforms.gpu.placement.host_control import HostControl
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from dcpy.transforms.gpu.placement.place_copies import PlaceCopies
from dcpy.transforms.gpu.placement.place_data import PlaceData
from tests.support.passes import Passed


def copied(text):
    found = Passed(text, PlaceComputation(), PlaceData(), PlaceCopies())
    placement = [problem for problem in problems(found.after, form_named("codegen")) if "placement" in problem.rule]
    assert placement == []
    return found


ADD = "map {i} = 0:N {{ tasklet (a <- {x}[{i}]) -> (o -> {y}[{i}]) {{ o = a + 1.0 }} }}"


def add(x, y, i="i"):
    return ADD.format(x=x, y=y, i=i)


def kernel(x, y, i="i"):
    return add(x, y, i).replace("0:N {", "0:N @grid {")


def test_what_is_read_is_copied_there_and_what_is_written_back():
    copied(f"""
        sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {{
          data t: f64[N] transient
          state {{ {add("A", "t")} {add("t", "B", "j")} map k = 1:N {{ tasklet () -> (o -> C[k]) {{ o = 0.0 }} }} }}
        }}""").becomes(f"""
        sdfg @f(A: f64[N], B: f64[N], C: f64[N]) symbols(N: size) {{
          data t: f64[N] transient @global @heap
          data gpu_A: f64[N] transient @global @heap
          data gpu_B: f64[N] transient @global @heap
          data gpu_C: f64[N] transient @global @heap
          state {{
            copy A[0:N] -> gpu_A[0:N]
            {kernel("gpu_A", "t")}
            {kernel("t", "gpu_B", "j")}
            copy C[0:N] -> gpu_C[0:N]
            map k = 1:N @grid {{ tasklet () -> (o -> gpu_C[k]) {{ o = 0.0 }} }}
          }}
          state {{
            copy gpu_B[0:N] -> B[0:N]
          }}
          state {{
            copy gpu_C[0:N] -> C[0:N]
          }}
        }}""").same_values(N=[0, 5]).says(
            "B: copied to the host", "A: copied to the device", "t: in the memory of the device"
        )


def test_copies_leave_loops_that_need_them_once():
    copied(f"""
        sdfg @f(A: f64[N], T) symbols(N: size, T: size) {{
          loop t = 0:T {{ loop u = 0:2 {{ state {{ {add("A", "A")} }} }} }}
        }}""").becomes(f"""
        sdfg @f(A: f64[N], T) symbols(N: size, T: size) {{
          data gpu_A: f64[N] transient @global @heap
          state {{ copy A[0:N] -> gpu_A[0:N] }}
          loop t = 0:T {{ loop u = 0:2 {{ state {{ {kernel("gpu_A", "gpu_A")} }} }} }}
          state {{ copy gpu_A[0:N] -> A[0:N] }}
        }}""").same_values(N=[3], T=[0, 2])


HOST = "loop {i} = 1:N {{ state {{ tasklet (a <- {x}[{i} - 1]) -> (o -> {x}[{i}]) {{ o = a * 2.0 }} }} }}"


BRIEF = "loop k = 1:2 { state { tasklet (a <- A[k - 1]) -> (o -> A[k]) { o = a * 2.0 } } }"


def test_copies_stay_in_loops_whose_sides_take_turns():
    copied(f"""
        sdfg @f(A: f64[N], T) symbols(N: size, T: size) {{
          loop t = 0:T {{ state {{ {add("A", "A")} }} {BRIEF} }}
        }}""").becomes(f"""
        sdfg @f(A: f64[N], T) symbols(N: size, T: size) {{
          data gpu_A: f64[N] transient @global @heap
          loop t = 0:T {{
            state {{
              copy A[0:N] -> gpu_A[0:N]
              {kernel("gpu_A", "gpu_A")}
            }}
            state {{ copy gpu_A[0:N] -> A[0:N] }}
            {BRIEF}
          }}
        }}""").same_values(N=[4], T=[0, 3])


def test_what_the_host_only_reads_is_copied_back_once_for_all_iterations():
    found = copied(f"""
        sdfg @f(A: f64[N], B: f64[N], T) symbols(N: size, T: size) {{
          state {{ {add("A", "A")} }}
          loop t = 0:T {{
            loop k = 0:N {{ state {{ tasklet (a <- A[k], b <- B[k]) -> (o -> B[k]) {{ o = a + b }} }} }}
            state {{ {add("A", "A", "l").replace("-> (o -> A[l])", "-> (o -> B[l])")} }}
          }}
        }}""").same_values(N=[2], T=[0, 2])
    before, _, _ = found.text.partition("loop t")
    assert "copy gpu_A[0:N] -> A[0:N]" in before
    assert found.text.count("copy gpu_A[0:N] -> A[0:N]") == 1


def test_ways_that_meet_have_one_valid_side():
    copied(f"""
        sdfg @f(A: f64[N], B: f64[N], c) symbols(N: size, c: i64) {{
          if c == 0 {{ state {{ {add("A", "A")} }} }} else {{ {HOST.format(i="k", x="A")} }}
          state {{ {add("A", "B", "j")} }}
        }}""").becomes(f"""
        sdfg @f(A: f64[N], B: f64[N], c) symbols(N: size, c: i64) {{
          data gpu_A: f64[N] transient @global @heap
          data gpu_B: f64[N] transient @global @heap
          if c == 0 {{
            state {{
              copy A[0:N] -> gpu_A[0:N]
              {kernel("gpu_A", "gpu_A")}
            }}
          }} else {{
            {HOST.format(i="k", x="A")}
            state {{ copy A[0:N] -> gpu_A[0:N] }}
          }}
          state {{ {kernel("gpu_A", "gpu_B", "j")} }}
          state {{ copy gpu_A[0:N] -> A[0:N] }}
          state {{ copy gpu_B[0:N] -> B[0:N] }}
        }}""").same_values(N=[3], c=[0, 1])


def test_conditions_read_on_the_host():
    found = copied(f"""
        sdfg @f(A: f64[N]) symbols(N: size {{least = 1}}) {{
          data s: f64 transient
          state {{ tasklet () -> (o -> s) {{ o = 0.0 }} }}
          while s[] < 3.0 {{
            state {{ {add("A", "A")} tasklet (a <- s) -> (o -> s) {{ o = a + 1.0 }} }}
            if A[0] > 1.0 {{ state {{ {add("A", "A", "j")} }} }}
          }}
        }}""").same_values(N=[1, 3])
    assert "copy gpu_A[0:N] -> A[0:N]" in found.text


def test_the_condition_of_a_while_loop_comes_from_the_device():
    found = copied(f"""
        sdfg @f(A: f64[N]) symbols(N: size {{least = 1}}) {{
          while A[0] < 9.0 {{ state {{ {add("A", "A")} }} }}
        }}""").same_values(N=[1, 3])
    assert found.text.count("copy gpu_A[0:N] -> A[0:N]") == 1
    assert found.text.index("@grid") < found.text.index("copy gpu_A[0:N] -> A[0:N]")


def test_breaks_and_returns():
    copied(f"""
        sdfg @f(A: f64[N], B: f64[N], T) symbols(N: size {{least = 1}}, T: size) {{
          loop t = 0:T {{
            state {{ {add("A", "A")} }}
            if B[0] > 2.0 {{ break }}
            if B[0] > 1.0 {{ return }}
            if B[0] > 0.0 {{ continue }}
            {HOST.format(i="k", x="A")}
            if B[0] > -1.0 {{ {HOST.format(i="l", x="A")} break }}
          }}
        }}""").same_values(N=[2, 3], T=[0, 1, 3])


CHECKED = f"""
    sdfg @f(A: f64[N], T) symbols(N: size {{least = 1}}, T: size) {{
      loop t = 0:T {{
        check t < 2 else IndexError "{{0}} is too much" (t)
        state {{ {add("A", "A")} }}
      }}
    }}"""


def test_an_exception_leaves_arguments_as_the_program_left_them():
    found = copied(CHECKED)
    assert "if not t < 2 {" in found.text.replace("not (t < 2)", "not t < 2")
    given = np.zeros(3)
    with pytest.raises(IndexError, match="2 is too much"):
        interpret(found.after, {"A": given}, {"T": 5, "N": 3})
    assert np.array_equal(given, [2, 2, 2])


def test_views_have_twins():
    copied(f"""
        sdfg @f(A: f64[2*N], B: f64[N, N] strides (1, 2*N)) symbols(N: size) {{
          view odd: f64[N] of A[1:2*N:2]
          view turned: f64[N, N] of B[0:N, 0:N] axes (1, 0)
          view rows: f64[2, N] of A
          state {{
            {add("odd", "odd")}
            map k = 0:N, l = 0:N {{
              tasklet (a <- turned[k, l], b <- rows[1, l]) -> (o -> turned[k, l]) {{ o = a * b }}
            }}
          }}
        }}""").becomes(f"""
        sdfg @f(A: f64[2*N], B: f64[N, N] strides (1, 2*N)) symbols(N: size) {{
          view odd: f64[N] of A[1:2*N:2]
          view turned: f64[N, N] of B[0:N, 0:N] axes (1, 0)
          view rows: f64[2, N] of A
          data gpu_A: f64[2*N] transient @global @heap
          view gpu_odd: f64[N] of gpu_A[1:2*N:2]
          data gpu_B: f64[N, N] transient @global @heap
          view gpu_turned: f64[N, N] of gpu_B[0:N, 0:N] axes (1, 0)
          view gpu_rows: f64[2, N] of gpu_A
          state {{
            copy A[0:2*N] -> gpu_A[0:2*N]
            {kernel("gpu_odd", "gpu_odd")}
            copy B[0:N, 0:N] -> gpu_B[0:N, 0:N]
            map k = 0:N, l = 0:N @grid {{
              tasklet (a <- gpu_turned[k, l], b <- gpu_rows[1, l]) -> (o -> gpu_turned[k, l]) {{ o = a * b }}
            }}
          }}
          state {{ copy gpu_A[0:2*N] -> A[0:2*N] }}
          state {{ copy gpu_B[0:N, 0:N] -> B[0:N, 0:N] }}
        }}""")


def test_numbers_go_by_value_unless_a_kernel_makes_them():
    found = copied("""
        sdfg @f(alpha: f64, A: f64[N]) symbols(N: size {least = 1}) {
          data t: f64 transient
          data u: f64 transient
          state {
            tasklet (a <- alpha) -> (o -> t) { o = a * a }
            map i = 0:N { tasklet (a <- A[i], b <- t) -> (o -> A[i]) { o = a * b } }
            tasklet (a <- A[0]) -> (o -> u) { o = a }
            map j = 0:N { tasklet (a <- A[j], b <- u) -> (o -> A[j]) { o = a - b } }
          }
        }""").same_values(N=[1, 4])
    assert "data t: f64 transient\n" in found.text
    assert "data u: f64[] transient @global @heap" in found.text


def test_results_and_constants_have_twins():
    found = copied("""
        sdfg @f(A: f64[2]) -> (r: array) {
          constant w: f64[2] = {0.25, 0.75}
          data w: f64[2] transient
          data r: f64[2]
          state { map i = 0:2 { tasklet (a <- A[i], b <- w[i]) -> (o -> r[i]) { o = a * b } } }
        }""")
    assert "copy w[0:2] -> gpu_w[0:2]" in found.text
    assert "copy r[0:2] -> gpu_r[0:2]" not in found.text
    assert "copy gpu_r[0:2] -> r[0:2]" in found.text
    given = np.array([4.0, 8.0])
    assert np.array_equal(run(found.after, {"A": given}), [1.0, 6.0])


def test_control_flow_reads_back_the_elements_that_it_needs():
    program = f"""
        sdfg @f(A: f64[N], h: f64[1]) symbols(N: size {{least = 1}}) {{
          state {{ {add("A", "A")} }}
          WHERE
          if h[0] > 0.0 and A[1] > 1.0 {{ state {{ tasklet () -> (o -> h[0]) {{ o = 1.0 }} }} }}
        }}"""
    passes = (PlaceComputation(), PlaceData(), HostControl(), PlaceCopies())
    last = "if A[N - 1] > 2.0 { state { tasklet () -> (o -> h[0]) { o = 3.0 } } }"
    found = Passed(program.replace("WHERE", last), *passes)
    assert "copy gpu_A[N - 1] -> seen" in found.text
    assert "if seen[] > 2.0 {" in found.text
    assert "A[1] > 1.0" in found.text  # there may be no such element
    found.says("reads one element of 'A' back from the device").same_values(N=[2, 3])


def test_loops_that_launch_nothing_read_arrays_back_as_a_whole():
    found = Passed(
        f"""
        sdfg @f(A: f64[N], h: f64[1]) symbols(N: size) {{
          data t: f64[N] transient
          state {{ {add("A", "t")} }}
          loop k = 0:N {{ if t[k] > 1.5 {{ state {{ tasklet (x <- h[0]) -> (o -> h[0]) {{ o = x + 1.0 }} }} }} }}
        }}""",
        PlaceComputation(),
        PlaceData(),
        HostControl(),
        PlaceCopies(),
    ).same_values(N=[0, 5])
    before, _, behind = found.text.partition("loop k")
    assert "copy gpu_t[0:N] -> t[0:N]" in before
    assert "copy" not in behind.partition("state { copy gpu")[0].partition("}\n  }")[0]


def test_checks_in_a_row_share_what_happens_where_they_fail():
    found = copied(f"""
        sdfg @f(A: f64[N], k, l) symbols(N: size {{least = 2}}, k: i64, l: i64) {{
          state {{ {add("A", "A")} }}
          check k < N else IndexError "{{0}}" (k)
          check l < N else ValueError "{{0}}" (l)
          check 9 % l == 0 else ValueError "{{0}} does not divide" (l)
        }}""").same_values(N=[2], k=[0, 5], l=[1, 5])
    assert "if not (k < N and l < N) {" in found.text
    assert found.text.count("copy gpu_A[0:N] -> A[0:N]") == 3


def test_memory_that_users_asked_for_is_where_it_is_needed():
    found = copied(f"""
        sdfg @f(A: f64[N]) symbols(N: size) {{
          data t: f64[N] transient @global
          data u: f64[N] transient @global
          data v: f64[N] transient @shared
          state {{ {add("A", "t")} {add("t", "u", "j")} copy A[0:N] -> v[0:N] }}
          {HOST.format(i="k", x="t")}
          state {{ {add("t", "A", "l")} }}
          {HOST.format(i="m", x="v")}
        }}""").same_values(N=[0, 4])
    assert "data t: f64[N] transient\n" in found.text
    assert "data gpu_t: f64[N] transient @global @heap" in found.text
    assert "data u: f64[N] transient @global @heap" in found.text
    assert "data gpu_u" not in found.text
    assert "data v: f64[N] transient\n" in found.text


def test_the_condition_of_a_while_loop_gets_its_element_wherever_an_iteration_ends():
    found = Passed(
        f"""
        sdfg @f(A: f64[N], n) symbols(N: size {{least = 2}}, n: i64) {{
          let k = 0
          while A[1] < 40.0 and A[min(k, N - 1)] < 50.0 {{
            state {{ {add("A", "A")} }}
            let k = k + 1
            if k < n {{ continue }}
            state {{ {add("A", "A", "j")} }}
          }}
        }}""",
        PlaceComputation(),
        PlaceData(),
        HostControl(),
        PlaceCopies(),
    )
    assert "while seen[] < 40.0 and A[" in found.text  # the other element is another one each time
    assert found.text.count("copy gpu_A[1] -> seen") == 3
    found.says("reads one element of 'A' back from the device").same_values(N=[2, 3], n=[0, 2])


def test_nests_of_loops_are_walked_once_for_each_way_to_begin(monkeypatch):
    """Not as often as there are ways to combine those of all loops."""
    walked = []
    region = data_validity._ValidityDataflow.region

    def counted(self, block, state):
        walked.append(block)
        return region(self, block, state)

    monkeypatch.setattr(data_validity._ValidityDataflow, "region", counted)
    depth = 8
    begin = " ".join(f"loop l{number} = 0:2 {{" for number in range(depth))
    copied(f"""
        sdfg @f(A: f64[N], B: f64[N]) symbols(N: size) {{
          {begin} state {{ {add("A", "B")} }} state {{ {add("B", "A", "j")} }} {"}" * depth}
        }}""")
    assert len(walked) < 50 * depth
