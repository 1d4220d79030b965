"""OuterLoopVectorization: loops that data end run in lanes; shape, values to the bit, refusals, and compiled code."""

from random import Random

import numpy as np
import pytest

import dcpy
from benchmarks.loops.programs import escape_time
from dcpy.transforms.cpu.outer_loop_vectorization import OuterLoopVectorization
from tests.support.passes import Passed

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N], K: i64[N], Z: c128[N]) symbols(N: size)"
BEGIN = "data x: f64 transient state { tasklet (a <- A[i]) -> (o -> x) { o = a } }"
STEP = "state { tasklet (a <- x, c <- C[i]) -> (o -> x) { o = a * a + c } }"
LEAVE = "if x[] > 4.0 { break }"
END = "state { tasklet (a <- x) -> (o -> B[i]) { o = a } }"


def points(loop=f"loop n = 0:9 {{ {LEAVE} {STEP} }}", begin=BEGIN, end=END, domain="i = 0:N"):
    return f"{HEAD} {{ state {{ map {domain} {{ {begin} {loop} {end} }} }} }}"


def vectorized(text):
    return Passed(text, OuterLoopVectorization())


def test_variables_of_points_lie_side_by_side():
    vectorized(points()).becomes(f"""
        {HEAD} {{
          state {{
            map i_tile = 0:N:32 {{
              data x_lanes: f64[32] transient
              data C_lanes: f64[32] transient
              data active_lanes: i64[32] transient
              data left: i64 transient
              state {{
                map lane_1 = 0:32 {{
                  tasklet () -> (x_lanes -> x_lanes[lane_1], C_lanes -> C_lanes[lane_1],
                                 active_lanes -> active_lanes[lane_1]) {{
                    x_lanes = 0.0; C_lanes = 0.0; active_lanes = 0 }}
                }}
                map i = i_tile:min(N, i_tile + 32) {{
                  data x: f64 transient
                  state {{ tasklet (a <- A[i]) -> (o -> x) {{ o = a }} }}
                  state {{
                    tasklet (value <- x) -> (out_0 -> x_lanes[i - i_tile]) {{ out_0 = value }}
                    tasklet (value <- C[i]) -> (out_0 -> C_lanes[i - i_tile]) {{ out_0 = value }}
                    tasklet () -> (out_0 -> active_lanes[i - i_tile]) {{ out_0 = 1 }}
                  }}
                }}
              }}
              loop n = 0:9 {{
                state {{
                  tasklet () -> (out -> left) {{ out = 0 }}
                  map lane = 0:32 {{
                    tasklet (x_lanes <- x_lanes[lane], C_lanes <- C_lanes[lane], active_lanes <- active_lanes[lane])
                         -> (active_lanes_next -> active_lanes[lane], x_lanes_next -> x_lanes[lane],
                             left_next -> left (add)) {{
                      t0 = active_lanes != 0; t1 = x_lanes > 4.0; t2 = not t1; t3 = t0 and t2;
                      t4 = x_lanes * x_lanes; t5 = t4 + C_lanes; t6 = select(t3, t5, x_lanes);
                      active_lanes_next = i64(t3); x_lanes_next = t6; left_next = i64(t3) }}
                  }}
                }}
                if left[] == 0 {{ break }}
              }}
              state {{
                map i_1 = i_tile:min(N, i_tile + 32) {{
                  data x_1: f64 transient
                  state {{ tasklet (part_0 <- x_lanes[i_1 - i_tile]) -> (out_0 -> x_1) {{ out_0 = part_0 }} }}
                  state {{ tasklet (a <- x_1) -> (o -> B[i_1]) {{ o = a }} }}
                }}
              }}
            }}
          }}
        }}""").same_values(N=[0, 1, 33]).says("loop n runs in 32 lanes along i")


LOOPS = {
    "an exit behind the step": f"loop n = 0:9 {{ {STEP} {LEAVE} }}",
    "two exits": f"loop n = 0:9 {{ {LEAVE} {STEP} if x[] < -2.0 {{ break }} }}",
    "a while": f"while x[] < 4.0 and x[] > 0.001 {{ {STEP.replace('+ c', '')} }}",
    "a choice": f"loop n = 0:9 {{ {LEAVE} if x[] > 0.5 {{ {STEP} }} else {{ {STEP.replace('a * a', '0.5 * a')} }} }}",
    "a last step": f"loop n = 0:9 {{ if x[] > 4.0 {{ {STEP.replace('a * a', 'a')} break }} else {{ {STEP} }} }}",
    "a variable of an iteration": """loop n = 0:9 { data y: f64 transient
        state { tasklet (a <- x) -> (o -> y) { o = 2.0 * a } }
        if y[] > 8.0 { state { tasklet () -> (o -> y) { o = 1.0 } } break }
        state { tasklet (a <- y, c <- C[i]) -> (o -> x) { o = a * a + c } } }""",
    "an element is stored": f"""loop n = 0:9 {{ {LEAVE} {STEP}
        state {{ tasklet () -> (o -> K[i]) {{ o = n }} }} }}""",
    "an element is stored at last": f"""loop n = 0:9 {{
        if x[] > 4.0 {{ state {{ tasklet () -> (o -> K[i]) {{ o = n }} }} break }} {STEP} }}""",
    "an element is counted": f"""loop n = 0:9 {{ {LEAVE} {STEP}
        state {{ tasklet (k <- K[i]) -> (o -> K[i]) {{ o = k + 1 }} }} }}""",
    "a truth value": f"""loop n = 0:9 {{ data big: bool transient
        state {{ tasklet (a <- x) -> (o -> big) {{ o = a > 4.0 }} }} if big[] {{ break }} {STEP} }}""",
    "a bound": f"loop n = 0:N {{ {LEAVE} {STEP} }}",
    "the same for all": f"loop n = 0:9 {{ {LEAVE} {STEP.replace('C[i]', 'C[0]')} }}",
}


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS)
def test_results_are_equal_to_the_bit(loop):
    vectorized(points(loop)).says("32 lanes").same_values(N=[1, 40])


MAGNITUDES = """loop n = 0:9 {{ if cabs(z[]) {order} {limit} {{ break }}
    state {{ tasklet (a <- z, b <- Z[i]) -> (o -> z) {{ o = {step} }} tasklet () -> (o -> K[i]) {{ o = n }} }} }}"""
COMPLEX = "data z: c128 transient state { tasklet (a <- Z[i]) -> (o -> z) { o = a } }"
STEPS = ["a * a + b", "square(a) - b", "conj(a) * b + c128(real(b))", "select(imag(a) > 0.5, -a, a + a)"]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(("order", "limit"), [(">", "2.0"), ("<=", "0.3"), (">=", "real(z[])"), ("<", "1e-200")])
def test_complex_numbers_are_in_arrays_by_parts(step, order, limit):
    end = "state { tasklet (a <- z) -> (o -> Z[i]) { o = a } }"
    text = points(MAGNITUDES.format(order=order, limit=limit, step=step), begin=COMPLEX, end=end)
    found = vectorized(text).says("32 lanes").same_values(N=[1, 40])
    assert "z_imag_lanes" in found.text
    assert "cabs" in found.text  # for points where squares cannot tell


REFUSED = {
    "a loop that all leave together": (f"loop n = 0:9 {{ {STEP} }}", None),
    "so few iterations are written out": (f"loop n = 0:4 {{ {LEAVE} {STEP} }}", None),
    "a function": (
        f"loop n = 0:9 {{ {LEAVE} {STEP.replace('a * a', 'exp(a)')} }}",
        "'exp' of f64 is not done in lanes",
    ),
    "another element in each iteration": (
        f"loop n = 0:N {{ {LEAVE} {STEP.replace('C[i]', 'C[n]')} }}",
        "'C' is not touched at one place",
    ),
    "an element that may not be there": (
        f"loop n = 0:9 {{ {LEAVE} {STEP.replace('C[i]', 'C[i + 1]')} }}",
        "'C' may have no such element for points that do not ask for it",
    ),
    "an element that another point writes": (
        f"loop n = 0:9 {{ {LEAVE} {STEP.replace('C[i]', 'B[0]')} {END} }}",
        "'B' is written and touched at several places",
    ),
    "a sum in memory": (
        f"loop n = 0:9 {{ {LEAVE} {STEP} state {{ tasklet (a <- x) -> (o -> B[i] (add)) {{ o = a }} }} }}",
        "combines values in memory",
    ),
    "a loop inside": (f"loop n = 0:9 {{ {LEAVE} loop m = 0:3 {{ {STEP} }} }}", "there is a loop m inside"),
    "magnitudes alone": (
        f"loop n = 0:9 {{ {LEAVE} {STEP.replace('c <- C[i]', 'c <- Z[i]').replace('+ c', '+ cabs(c)')} }}",
        "'cabs' of c128 is not done in lanes",
    ),
}


@pytest.mark.parametrize(("loop", "reason"), REFUSED.values(), ids=REFUSED)
def test_what_has_no_lanes(loop, reason):
    found = vectorized(points(loop))
    assert "lanes" not in found.text
    if reason is not None:
        found.says(reason, applied=False)


def test_a_variable_may_pass_the_loop_by():
    begin = f"data y: f64 transient {BEGIN} state {{ tasklet (c <- C[i]) -> (o -> y) {{ o = c }} }}"
    end = "state { tasklet (a <- x, b <- y) -> (o -> B[i]) { o = a - b } }"
    vectorized(points(begin=begin, end=end)).says("32 lanes").same_values(N=[40])


def test_points_are_in_rows():
    vectorized(points(domain="i = 0:N:2")).says("its points are not in rows", applied=False)


def test_what_is_stored_before_is_not_computed_again():
    begin = COMPLEX + " state { tasklet (a <- Z[i]) -> (o -> Z[i]) { o = a + a } }"
    loop = MAGNITUDES.replace("b <- Z[i]", "b <- z").format(order=">", limit="2.0", step="a * a + b")
    vectorized(points(loop, begin, "")).says("cannot be computed again", applied=False)


# -- compiled ----------------------------------------------------------------------------------------------------------


def root(a):
    out = np.empty_like(a)
    for i in range(len(a)):
        x = a[i]
        for _ in range(50):
            y = (x + a[i] / x) / 2
            if abs(y - x) < y * np.float32(1e-3):
                x = y
                break
            x = y
        out[i] = x
    return out


@pytest.mark.cc
def test_escape_times_are_those_of_the_loops():
    x, y = np.linspace(-2, 0.5, 41), np.array([-1.0, 0.0, 0.25, 1.0])  # -2 stays at 2, where squares cannot tell
    lanes = dcpy.program(auto_optimize=True)(escape_time)
    np.testing.assert_array_equal(lanes(x, y, 60), escape_time(x, y, 60))
    assert "active_lanes" in lanes.to_sdfg(x, y, 60, as_called=True).code()


@pytest.mark.cc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_roots_are_those_of_the_loops(dtype):
    a = (np.random.default_rng(3).random(100) * 50 + 0.1).astype(dtype)
    np.testing.assert_array_equal(dcpy.program(auto_optimize=True)(root)(a), root(a))


# -- random bodies -----------------------------------------------------------------------------------------------------


class Bodies:
    """Random loops of a point: assignments, conditions in each other, exits at any place, stores."""

    def __init__(self, seed):
        self.random = Random(seed)

    def condition(self):
        one, other = self.random.sample(["x[]", "y[]", "0.5", "1.5", "-0.25"], 2)
        return f"{one} {self.random.choice(['<', '<=', '>', '>='])} {other}"

    def assignment(self):
        out = self.random.choice(["x", "y", "y", "u", "K[i]", "B[i]"])
        code = self.random.choice(["a * b - 0.5", "a + c", "0.5 * b + c", "select(a < b, c, -a)", "abs(b - a)"])
        inputs = "a <- x, b <- y, c <- C[i]"
        if out == "K[i]":
            inputs, code = "k <- K[i]", self.random.choice(["k + 1", "n", "k - n"])
        elif out == "B[i]" and self.random.random() < 0.5:
            inputs, code = "b <- B[i]", "0.5 * b"
        return f"state {{ tasklet ({inputs}) -> (o -> {out}) {{ o = {code} }} }}"

    def blocks(self, depth):
        found = []
        for _ in range(self.random.randint(1, 3)):
            kind = self.random.random()
            if kind < 0.55 or depth == 0:
                found.append(self.assignment())
                continue
            ending = "break" if self.random.random() < 0.4 else ""
            other = f" else {{ {self.blocks(depth - 1)} }}" if self.random.random() < 0.5 else ""
            found.append(f"if {self.condition()} {{ {self.blocks(depth - 1)} {ending} }}{other}")
        return " ".join(found)

    def loop(self):
        body = f"{self.blocks(2)} if {self.condition()} {{ break }} {self.blocks(1)}"
        private = "data u: f64 transient state { tasklet () -> (o -> u) { o = 1.0 } }"
        return f"loop n = 0:7 {{ {private} {body} }}"


def random_points(seed):
    begin = """data x: f64 transient data y: f64 transient
      state { tasklet (a <- A[i]) -> (o -> x, p -> y) { o = a; p = 2.0 - a } }"""
    end = "state { tasklet (a <- x, b <- y) -> (o -> A[i]) { o = a - b } }"
    return points(Bodies(seed).loop(), begin, end)


@pytest.mark.parametrize("seed", range(40))
def test_random_bodies(seed):
    vectorized(random_points(seed)).says("32 lanes").same_values(N=[35])
