"""ProducerSinking: producers of private scalars go to their first reader; what has a reason for its place stays."""

import pytest

from dcpy.transforms.cpu.producer_sinking import ProducerSinking
from tests.support.passes import Passed

PROGRAM = """
    sdfg @f(x: f64[N], y: f64[N], z: f64[N]) symbols(N: size) {{
      state {{
        map i = 0:N {{
          data a: f64 transient
          data b: f64 transient
          data c: f64 transient
          {0}
        }}
      }}
    }}"""


def program(*tasklets):
    return PROGRAM.format("\n          ".join(tasklets))


def sunk(*tasklets, shortest=2):
    return Passed(program(*tasklets), ProducerSinking(shortest=shortest))


A = "tasklet (p <- x[i]) -> (o -> a) { o = p + 1.0 }"
B = "tasklet (p <- x[i]) -> (o -> b) { o = p * 2.0 }"
C = "tasklet (p <- a) -> (o -> c) { o = p * p }"
Y = "tasklet (p <- c) -> (o -> y[i]) { o = p - 1.0 }"
Z = "tasklet (p <- b, q <- c) -> (o -> z[i]) { o = p * q }"


def test_producers_stand_right_before_their_first_readers():
    sunk(B, A, C, Y, Z).becomes(program(A, C, Y, B, Z)).same_values(N=[0, 1, 5])


def test_operands_come_in_the_order_in_which_they_are_read():
    sunk(A, C, B, Z, Y).becomes(program(B, A, C, Z, Y)).same_values(N=[3])


def test_short_states_stay_as_they_are():
    sunk(B, A, C, Y, Z, shortest=6).becomes(program(B, A, C, Y, Z))


WRITES_X = "tasklet (p <- c) -> (o -> x[i]) { o = p - 1.0 }"
AGAIN = "tasklet (p <- x[i]) -> (o -> b) { o = p + 3.0 }"
COMBINES = "tasklet (p <- x[i]) -> (o -> b (add)) { o = p * 2.0 }"
MEMORY = "tasklet (p <- x[i]) -> (o -> y[i]) { o = p * 2.0 }"
READS_Y = "tasklet (p <- y[i], q <- c) -> (o -> z[i]) { o = p * q }"


@pytest.mark.parametrize(
    "tasklets",
    [
        (B, A, C, WRITES_X, Z),  # what the producer reads is written before its reader
        (B, AGAIN, A, C, Z),  # written twice
        (B, COMBINES, A, C, Z),  # combined
        (MEMORY, A, C, READS_Y),  # memory of the caller
    ],
    ids=["overwritten", "twice", "combined", "memory"],
)
def test_others_keep_their_places(tasklets):
    sunk(*tasklets).becomes(program(*tasklets))


def test_a_value_of_the_last_iteration_is_read_before_it_is_written():
    text = """
        sdfg @f(x: f64[N], y: f64[N]) symbols(N: size) {
          data a: f64 transient
          loop i = 0:N {
            data b: f64 transient
            state {
              tasklet (p <- a) -> (o -> b) { o = p * 2.0 }
              tasklet (p <- x[i]) -> (o -> a) { o = p }
              tasklet (p <- b) -> (o -> y[i]) { o = p }
            }
          }
        }"""
    Passed(text, ProducerSinking(shortest=2)).becomes(text)
