"""What programs compute: text and arrays in, arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dcpy.base.errors import ArgumentError, ArgumentShapeError, InterpreterError, OutOfBounds
from dcpy.ir.interp import interpret, run
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.sdfg import Result
from dcpy.ir.subsets import parse_subset
from dcpy.ir.text import parse_sdfg


def after(text, **arguments):
    """The arguments after the program has run on copies of them."""
    arrays = {name: np.copy(value) if isinstance(value, np.ndarray) else value for name, value in arguments.items()}
    interpret(parse_sdfg(text), arrays)
    return arrays


def test_axpy():
    text = """
    sdfg @axpy(a: f64, x: f64[N], y: f64[N]) {
      map i = 0:N {
        tasklet (xi <- x[i], yi <- y[i], al <- a) -> (o -> y[i]) { o = al * xi + yi }
      }
    }
    """
    x, y = np.arange(4.0), np.ones(4)
    assert after(text, a=2.0, x=x, y=y)["y"].tolist() == [1, 3, 5, 7]


def test_sizes_may_be_zero():
    assert after("sdfg @f(x: f64[N]) { map i = 0:N { tasklet () -> (o -> x[i]) { o = 1.0 } } }", x=np.zeros(0))


def test_inputs_are_read_before_outputs_are_written():
    text = """
    sdfg @swap(x: f64[2]) {
      tasklet (a <- x[0], b <- x[1]) -> (p -> x[0], q -> x[1]) { p = b; q = a }
    }
    """
    assert after(text, x=np.array([1.0, 2.0]))["x"].tolist() == [2, 1]


def test_a_copy_reads_whole_before_it_writes():
    text = "sdfg @shift(x: f64[N]) { copy x[0:N - 1] -> x[1:N] }"
    assert after(text, x=np.arange(4.0))["x"].tolist() == [0, 0, 1, 2]


def test_copies_combine_and_reverse():
    text = "sdfg @f(x: f64[N], y: f64[N]) { copy x[N - 1:-1:-1] -> y[0:N] (add) }"
    assert after(text, x=np.arange(3.0), y=np.ones(3))["y"].tolist() == [3, 2, 1]


@pytest.mark.parametrize(
    ("wcr", "expected"), [("add", 11), ("mul", 30), ("min", 1), ("max", 5), ("bitxor", 1 ^ 5 ^ 3 ^ 2)]
)
def test_conflict_resolution(wcr, expected):
    text = f"""
    sdfg @f(x: i64[N], acc: i64[1]) {{
      map i = 0:N {{ tasklet (a <- x[i]) -> (o -> acc[0] ({wcr})) {{ o = a }} }}
    }}
    """
    assert after(text, x=np.array([5, 3, 2]), acc=np.array([1]))["acc"].tolist() == [expected]


def test_integers_wrap_and_division_by_zero_is_silent():
    text = """
    sdfg @f(x: i8[2], q: i8[2], y: f64[2]) {
      tasklet (a <- x[0]) -> (o -> x[0]) { o = a + a }
      tasklet (a <- x[1], b <- q[1]) -> (o -> q[0]) { o = a // b }
      tasklet (a <- y[0], b <- y[1]) -> (o -> y[0]) { o = a / b }
    }
    """
    out = after(text, x=np.array([100, 7], np.int8), q=np.zeros(2, np.int8), y=np.array([-1.0, 0.0]))
    assert (out["x"][0], out["q"][0], out["y"][0]) == (-56, 0, -np.inf)


def test_domains_may_depend_on_earlier_parameters():
    text = """
    sdfg @lower(A: f64[N, N]) {
      map i = 0:N, j = 0:i + 1 { tasklet () -> (o -> A[i, j]) { o = 1.0 } }
    }
    """
    assert np.array_equal(after(text, A=np.zeros((3, 3)))["A"], np.tri(3))


def test_loops_run_backwards_and_evaluate_their_bounds_once():
    text = """
    sdfg @f(x: i64[N], n: i64[1]) {
      let k = n[0]
      loop i = k - 1:-1:-1 {
        let k = 0
        tasklet (a <- x[i]) -> (o -> n[0] (add)) { o = 10 * a }
      }
    }
    """
    assert after(text, x=np.arange(3), n=np.array([3]))["n"].tolist() == [33]


CONTROL = """
sdfg @f(x: f64[N], y: f64[N]) {
  loop i = 0:N {
    if x[i] < 0.0 { break } elif x[i] == 1.0 { continue } else { copy x[i] -> y[i] }
    if x[i] > 8.0 { return }
  }
  tasklet () -> (o -> y[0]) { o = -1.0 }
}
"""


@pytest.mark.parametrize(
    ("x", "y"),
    [([2, 1, 3], [-1, 0, 3]), ([2, -5, 3], [-1, 0, 0]), ([9, 2, 2], [9, 0, 0])],
    ids=["continue", "break", "return"],
)
def test_control_flow(x, y):
    assert after(CONTROL, x=np.array(x, float), y=np.zeros(3))["y"].tolist() == y


def test_while_tests_before_each_run():
    text = """
    sdfg @halve(x: f64[1], n: i64[1]) {
      while x[0] > 1.0 {
        tasklet (a <- x[0]) -> (o -> x[0]) { o = a / 2.0 }
        tasklet () -> (o -> n[0] (add)) { o = 1 }
      }
    }
    """
    out = after(text, x=np.array([10.0]), n=np.array([0]))
    assert (out["x"][0], out["n"][0]) == (0.625, 4)


def test_data_dependent_subsets_wrap():
    text = """
    sdfg @gather(x: f64[N], idx: i32[M], y: f64[M]) {
      loop t = 0:M {
        let k = wrap(i64(idx[t]), N)
        copy x[k] -> y[t]
      }
    }
    """
    x = np.arange(5.0)
    assert after(text, x=x, idx=np.array([1, -1], np.int32), y=np.zeros(2))["y"].tolist() == [1, 4]
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        after(text, x=x, idx=np.array([1, 5], np.int32), y=np.zeros(2))


def test_assigned_symbols_wrap_in_their_dtype():
    text = "sdfg @f(x: i64[1]) { let k: i8 = 2 * i8(x[0])  tasklet () -> (o -> x[0]) { o = k } }"
    assert after(text, x=np.array([100]))["x"].tolist() == [-56]


def test_checks_raise_python_exceptions():
    text = 'sdfg @f(n) { check n < 3 else ValueError "n is {0}, not {{small}} like {1}" (n, n - 1) }'
    with pytest.raises(ValueError, match=r"n is 4, not \{\{small\}\} like 3") as caught:
        after(text, n=4)
    assert caught.type is ValueError
    after(text, n=2)


def test_views_are_windows_on_memory():
    text = """
    sdfg @f(A: f64[N, M]) {
      view column: f64[N] of A[0:N, 1]
      view evens: f64[2] of column[0:4:2]
      view flat: f64[N*M] of A
      tasklet () -> (o -> evens[1]) { o = 7.0 }
      copy flat[7] -> A[0, 0]
    }
    """
    out = after(text, A=np.zeros((4, 3)))["A"]
    assert (out[2, 1], out[0, 0]) == (7, 7)


def test_transposed_and_broadcast_views():
    text = """
    sdfg @f(A: f64[2, 3], x: f64[2], y: f64[3, 2]) {
      view t: f64[3, 2] of A[0:2, 0:3] axes (1, 0)
      view rows: f64[3, 2] of x[0:2] axes (-1, 0)
      map i = 0:3, j = 0:2 { tasklet (a <- t[i, j], b <- rows[i, j]) -> (o -> y[i, j]) { o = a + b } }
    }
    """
    A, x = np.arange(6.0).reshape(2, 3), np.array([10.0, 20.0])
    assert np.array_equal(after(text, A=A, x=x, y=np.zeros((3, 2)))["y"], A.T + x)


def test_reversed_views():
    text = "sdfg @f(x: f64[N], y: f64[N]) { view r: f64[N] of x[N - 1:-1:-1]  copy r[0:N] -> y[0:N] }"
    assert after(text, x=np.arange(3.0), y=np.zeros(3))["y"].tolist() == [2, 1, 0]


def test_a_view_may_read_other_elements_of_the_same_memory():
    text = """
    sdfg @parts(z: c128[N], y: f64[2*N]) {
      view parts: f64[2*N] of z
      copy parts[0:2*N] -> y[0:2*N]
    }
    """
    assert after(text, z=np.array([1 + 2j, 3 + 4j]), y=np.zeros(4))["y"].tolist() == [1, 2, 3, 4]


def test_a_view_out_of_its_base_is_refused():
    with pytest.raises(OutOfBounds, match="memory that 'x' does not have"):
        after("sdfg @f(x: f64[4]) { view v: f64[2, 3] of x  copy v[1, 2] -> x[0] }", x=np.zeros(4))


def test_views_follow_the_symbols_in_them():
    text = """
    sdfg @f(x: f64[4], y: f64[4]) {
      loop i = 0:4 { view v: f64[1] of x[i:i + 1]  copy v[0] -> y[3 - i] }
    }
    """
    assert after(text, x=np.arange(4.0), y=np.zeros(4))["y"].tolist() == [3, 2, 1, 0]


def test_unwritten_memory_does_not_look_right():
    text = "sdfg @f(x: f64[1], n: i64[1]) { data t: f64 transient data k: i64 transient copy t -> x[0] copy k -> n[0] }"
    out = after(text, x=np.zeros(1), n=np.zeros(1, int))
    assert np.isnan(out["x"][0])
    assert out["n"][0] > 1e18


def test_containers_of_a_body_are_fresh_each_time():
    text = """
    sdfg @f(x: f64[3]) {
      loop i = 0:3 {
        data t: f64 transient
        if i == 0 { tasklet () -> (o -> t) { o = 1.0 } }
        copy t -> x[i]
      }
    }
    """
    assert str(after(text, x=np.zeros(3))["x"].tolist()) == "[1.0, nan, nan]"


def test_a_worklist_is_an_endless_process():
    text = """
    sdfg @fib(n: i64[1], out: i64[1]) {
      stream s: i64 transient
      copy n[0] -> s
      dataflow {
        process work endless {
          data v: i64 transient
          while true {
            copy s -> v
            if v[] < 2 { tasklet (a <- v) -> (o -> out[0] (add)) { o = a } }
            else {
              tasklet (a <- v) -> (o -> s) { o = a - 1 }
              tasklet (a <- v) -> (o -> s) { o = a - 2 }
            }
          }
        }
      }
    }
    """
    assert after(text, n=np.array([10]), out=np.array([0]))["out"].tolist() == [55]


def test_streams_are_first_in_first_out_and_bounded():
    text = """
    sdfg @f(x: f64[N], y: f64[2]) {
      stream s: f64[2] capacity 3 transient
      copy x[0:N] -> s[1]
      copy s[1] -> y[0:2]
    }
    """
    assert after(text, x=np.arange(3.0), y=np.zeros(2))["y"].tolist() == [0, 1]
    with pytest.raises(RuntimeError, match=r"deadlock: the program waits for room in 's\[1\]', which is full"):
        after(text, x=np.arange(4.0), y=np.zeros(2))
    with pytest.raises(RuntimeError, match=r"deadlock: the program waits for an element of 's\[1\]', which is empty"):
        after(text, x=np.arange(1.0), y=np.zeros(2))


TOKENS = """
sdfg @f(x: f64[N, 4], y: f64[4*N]) {
  stream s: f64 token (4) capacity 2 transient
  dataflow {
    process give { loop i = 0:N { copy x[i, 0:4] -> s } }
    process take { loop i = 0:N // 2 { copy s -> y[8*i:8*i + 4] copy s -> y[8*i + 4:8*i + 8] } }
  }
}
"""


def test_tokens_are_pushed_and_popped_whole():
    x = np.arange(24.0).reshape(6, 4)
    assert np.array_equal(after(TOKENS, x=x, y=np.zeros(24))["y"], x.ravel())
    with pytest.raises(RuntimeError, match="deadlock: the process 'give' waits for room in 's'") as caught:
        after(TOKENS.replace("0:N // 2", "0:1"), x=x, y=np.zeros(24))
    assert caught.value.__notes__ == ["give waits for room in 's', which is full: 2 of 2", "take has ended"]


def test_copies_of_processes_are_told_apart_in_a_deadlock():
    text = """
    sdfg @f(y: f64[4]) {
      stream s: f64[4] transient
      dataflow { process pe p = 0:2 { copy s[p] -> y[p] } }
    }
    """
    with pytest.raises(RuntimeError, match="deadlock: the process 'pe' waits for an element of") as caught:
        after(text, y=np.zeros(4))
    assert caught.value.__notes__[1] == "pe[1] waits for an element of 's[1]', which is empty: 0, without bounds"


CALL = """
sdfg @f(A: f64[N, M]) {
  call @double (x = A[1, 0:M], y = A[2, M - 1:-1:-1]) with (K = M)
}
sdfg @double(x: f64[K], y: f64[K] strides (S)) symbols (K, S: i64) {
  map i = 0:K { tasklet (a <- x[i]) -> (o -> y[i]) { o = 2.0 * a } }
}
"""


def test_calls_see_subsets():
    text = CALL.replace(" strides (S)", "").replace(", S: i64", "")
    out = after(text, A=np.arange(9.0).reshape(3, 3))["A"]
    assert out.tolist() == [[0, 1, 2], [3, 4, 5], [10, 8, 6]]


def test_constants():
    text = """
    sdfg @f(x: f64[2]) {
      constant w: f64[2] = {0.5, 0.25}
      data w: f64[2] transient
      copy w[0:2] -> x[0:2]
    }
    """
    assert after(text, x=np.zeros(2))["x"].tolist() == [0.5, 0.25]


def test_memlets_are_checked():
    text = "sdfg @f(x: f64[N]) { map i = 0:N { tasklet shift (a <- x[i + 1]) -> (o -> x[i]) { o = a } } }"
    with pytest.raises(OutOfBounds, match=r"x\[i \+ 1\], of the tasklet shift: index 3 is out of bounds") as caught:
        after(text, x=np.zeros(3))
    assert caught.value.notes == ("here i = 2",)


@dataclass(eq=False)
class Sum(LibraryNode):
    """A library node as a library would write it."""

    kind = "test.sum"
    factor: int = 1

    def meaning(self, inputs, outputs):
        outputs["total"][...] = self.factor * inputs["x"].sum()


@pytest.mark.parametrize(("wcr", "expected"), [("", 6), ("add", 106)])
def test_library_nodes_say_what_they_mean(wcr, expected):
    sdfg = parse_sdfg("sdfg @f(x: f64[N], y: f64[2]) { state s { } }")
    node = Sum({"x": Memlet("x", parse_subset("0:N:2"))}, {"total": Memlet("y", parse_subset("1"), wcr)}, factor=3)
    sdfg.body.blocks[0].add(node)
    y = np.array([0.0, 100.0])
    interpret(sdfg, {"x": np.arange(4.0), "y": y})
    assert y.tolist() == [0, expected]


def test_foreign_calls_cannot_be_interpreted():
    text = "sdfg @f(x: f64[N]) { foreign () -> (y -> x[0:N]) from c { fill(&y) } }"
    with pytest.raises(InterpreterError, match="foreign function"):
        after(text, x=np.zeros(3))


# -- arguments and results -----------------------------------------------------------------------------------------


def test_any_strides_are_taken():
    text = "sdfg @f(A: f64[N, M]) { copy A[0, 0:M] -> A[1, 0:M] }"
    A = np.arange(6.0).reshape(3, 2).T
    interpret(parse_sdfg(text), {"A": A})
    assert A.tolist() == [[0, 2, 4], [0, 2, 4]]


def test_strides_may_be_symbols():
    text = "sdfg @f(x: f64[N] strides (S)) symbols (N, S: i64) { tasklet () -> (o -> x[1]) { o = 1.0 } }"
    x = np.zeros(6)
    interpret(parse_sdfg(text), {"x": x[::-2]})
    assert x.tolist() == [0, 0, 0, 1, 0, 0]


def test_arguments_may_overlap():
    text = "sdfg @f(x: f64[N] alias g, y: f64[N] alias g) { loop i = 0:N { copy x[i] -> y[i] } }"
    memory = np.arange(4.0)
    interpret(parse_sdfg(text), {"x": memory[:-1], "y": memory[1:]})
    assert memory.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, ArgumentError, "value of 'N'"),
        ({"N": 3}, ArgumentError, "needs the argument 'x'"),
        ({"x": np.zeros(3, np.float32)}, ArgumentError, "float32"),
        ({"x": np.zeros((3, 3)), "N": 3}, ArgumentShapeError, "shape"),
        ({"x": np.zeros(3), "N": 4}, ArgumentShapeError, "shape"),
        ({"x": np.zeros(3), "z": 1}, ArgumentError, "no argument 'z'"),
        ({"x": [1.0], "N": 1}, ArgumentError, "NumPy array, not list"),
    ],
)
def test_arguments_that_do_not_fit(arguments, error, message):
    with pytest.raises(error, match=message):
        interpret(parse_sdfg("sdfg @f(x: f64[N]) { }"), arguments)


def test_run_returns_what_the_function_returns():
    sdfg = parse_sdfg("""
    sdfg @f(x: f64[N], __return: f64[N], __return_1: i64[]) {
      view tail: f64[N - 1] of x[1:N]
      map i = 0:N { tasklet (a <- x[i]) -> (o -> __return[i]) { o = a + 1.0 } }
      tasklet () -> (o -> __return_1) { o = N }
    }
    """)
    sdfg.results = (
        Result("array", "__return"),
        Result("scalar", "__return_1"),
        Result("python", "__return_1"),
        Result("argument", "x"),
        Result("view", "tail"),
        Result("constant", value=None),
    )
    sdfg.structure = (0, (1, 2), 3, 4, 5)
    x = np.arange(3.0)
    array, (scalar, python), argument, view, nothing = run(sdfg, {"x": x})
    assert array.tolist() == [1, 2, 3]
    assert (type(scalar), scalar) == (np.int64, 3)
    assert (type(python), python) == (int, 3)
    assert argument is x
    assert np.shares_memory(view, x)
    assert view.tolist() == [1, 2]
    assert nothing is None


def test_run_without_results_returns_none():
    assert run(parse_sdfg("sdfg @f(x: f64[N]) { }"), {"x": np.zeros(2)}) is None


def test_a_map_of_very_many_points_ends_at_the_first_that_fails():
    text = """
    sdfg @fill(x: f64[4]) {
      map i = 0:2305843009213693952 {
        tasklet () -> (o -> x[i]) { o = 1.0 }
      }
    }
    """
    with pytest.raises(OutOfBounds, match="index 4 is out of bounds"):
        after(text, x=np.zeros(4))
