"""Tasklets as users write them: each program beside its meaning in NumPy (FINDINGS, section 3: explicit tasklets)."""

import math

import numpy as np

import dcpy
from tests.support.explicit import Pairs, pair_tests

N = dcpy.symbol("N")
X = np.linspace(0.1, 2.0, 9)
SCALE = 1.5

PAIRS = Pairs()
pair = PAIRS.like


# -- one element -----------------------------------------------------------------------------------------------------


def _outside_of_maps(a, b):
    b[0] = a[2] + 1


@pair(_outside_of_maps, X, np.zeros(3))
def outside_of_maps(A: dcpy.float64[N], B: dcpy.float64[3]):
    with dcpy.tasklet:
        a << A[2]
        b >> B[0]
        b = a + 1


def _square(a, b):
    b[:] = a * a + a


@pair(_square, X, np.zeros(9))
def in_a_map(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = a * a + a


@pair(_square, X, np.zeros(9))
def in_a_loop(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in range(N):
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = a * a + a


@pair(_square, X, np.zeros(9))
def as_a_decorated_function(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:

        @dcpy.tasklet
        def square():
            a << A[i]
            b >> B[i]
            b = a * a + a


@pair(_square, X, np.zeros(9))
def as_a_called_decorator(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:

        @dcpy.tasklet()
        def square():
            a << A[i]
            b >> B[i]
            b = a * a + a


@pair(_square, X, np.zeros(9))
def as_a_map_with_ranges(A: dcpy.float64[N], B: dcpy.float64[N]):
    @dcpy.map(_[0:N])
    def square(i):
        a << A[i]
        b >> B[i]
        b = a * a + a


@pair(_square, X, np.zeros(9))
def as_a_map_with_annotations(A: dcpy.float64[N], B: dcpy.float64[N]):
    @dcpy.map
    def square(i: _[0:N]):
        a << A[i]
        b >> B[i]
        b = a * a + a


@pair(_square, X, np.zeros(9))
def memlets_behind_the_code(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            b = a * a + a
            a << A[i]
            b >> B[i]


@pair(_square, X, np.zeros(9))
def a_body_written_as_text(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet("Python"):
            a << A[i]
            b >> B[i]
            """
            s = a * a
            b = s + a
            """


@pair(_square, X, np.zeros(9))
def locals_and_augmented_assignment(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            s = t = a
            t *= s
            t += s
            b = t


@pair(_square, X, np.zeros(9))
def an_input_that_the_body_changes(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = a
            a = a * a
            b = b + a


def _two(a, b):
    a[:], b[:] = b + 1, a * 2


@pair(_two, X, X[::-1].copy())
def inputs_are_read_before_outputs_are_written(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b << B[i]
            p >> A[i]
            q >> B[i]
            p = b + 1
            q = a * 2


@pair(_two, X, X[::-1].copy())
def the_same_with_a_branch(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b << B[i]
            p >> A[i]
            q >> B[i]
            if a > -1:
                p = b + 1
                q = a * 2
            else:
                p = 0
                q = 0


def _in_and_out(a):
    a[:] = a + 1


@pair(_in_and_out, X)
def one_name_in_and_out(A: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            a >> A[i]
            a = a + 1


def _no_inputs(a):
    for i in range(len(a)):
        a[i] = i * i + len(a)


@pair(_no_inputs, X)
def symbols_and_indices_in_the_body(A: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a >> A[i]
            a = i * i + N


def _constants(a, b):
    b[:] = a * SCALE + math.pi


@pair(_constants, X, np.zeros(9))
def constants_of_the_module(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = a * SCALE + math.pi


def _read_output(a, b, c):
    b[:] = a / 4
    c[:] = b


@pair(_read_output, X, np.zeros(9), np.zeros(9))
def an_output_that_is_read_again(A: dcpy.float64[N], B: dcpy.float64[N], C: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            c >> C[i]
            b = a / 4
            c = b


# -- functions and types ---------------------------------------------------------------------------------------------


def _functions(a, b):
    b[:] = np.exp(a) + np.sin(a) * np.minimum(a, 1) + np.maximum(a, 1) + abs(a - 1)


@pair(_functions, X, np.zeros(9))
def functions_of_numpy_and_python(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = np.exp(a) + math.sin(a) * min(a, 1.0) + max(a, 1.0) + abs(a - 1)


def _c_functions(a, b):
    b[:] = np.sqrt(a) + np.exp(a) - np.tanh(a) + a**1.5


@pair(_c_functions, X, np.zeros(9))
def functions_without_a_module(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = sqrt(a) + exp(a) - tanh(a) + pow(a, 1.5)


def scaled(x, factor):
    return x * factor + 1


def _user_function(a, b):
    b[:] = scaled(a, 3.0)


@pair(_user_function, X, np.zeros(9))
def a_function_of_the_users(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = scaled(a, 3.0)


def _types(a, b, c):
    b[:] = (a + 1).astype(np.int32)
    c[:] = a > 1


@pair(_types, X.astype(np.float32), np.zeros(9, np.int32), np.zeros(9, bool))
def results_become_the_type_of_their_target(A: dcpy.float32[N], B: dcpy.int32[N], C: dcpy.bool_[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            c >> C[i]
            b = dcpy.int32(a + 1)
            c = a > 1


def _complex(z, r):
    r[:] = (z * z.conj()).real
    z[:] = z * 1j


@pair(_complex, X * (1 + 2j), np.zeros(9))
def complex_numbers(Z: dcpy.complex128[N], R: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            z << Z[i]
            r >> R[i]
            w >> Z[i]
            r = (z * np.conj(z)).real
            w = z * 1j


def _choices(a, b):
    b[:] = np.where(a > 1, a, -a)


@pair(_choices, X, np.zeros(9))
def a_choice_in_an_expression(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            b = a if a > 1 else -a


# -- control flow ----------------------------------------------------------------------------------------------------


@pair(_choices, X, np.zeros(9))
def branches(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            if a > 1:
                b = a
            else:
                b = -a


def _chain(a, b):
    b[:] = np.select([a < 0.5, a < 1.5], [0.0, 1.0], 2.0)


@pair(_chain, X, np.zeros(9))
def chains_of_branches(A: dcpy.float64[N], B: dcpy.float64[N]):
    @dcpy.map(_[0:N])
    def classify(i):
        a << A[i]
        b >> B[i]
        if a < 0.5:
            b = 0
        elif a < 1.5:
            b = 1
        else:
            b = 2


def _power(a, b):
    b[:] = a**5


@pair(_power, X, np.zeros(9))
def a_loop_in_the_body(A: dcpy.float64[N], B: dcpy.float64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            p = 1.0
            for k in range(5):
                p = p * a
            b = p


def _counted_up(a, n):
    k = 0
    while k < len(a):
        a[k] = a[k] + k / n if a[k] > 1 else k
        k += 1


@pair(_counted_up, X, np.int32(4))
def integers_of_the_program_are_seen(A: dcpy.float64[N], n: dcpy.int32):
    k = 0
    while k < N:
        with dcpy.tasklet:
            a << A[k]
            b >> A[k]
            if a > 1:
                b = a + k / n
            else:
                b = k * 1.0
        k += 1


def _halved(a, b):
    for i in range(len(a)):
        x, n = a[i] * 100, 0
        while x > 1:
            x, n = x / 2, n + 1
        b[i] = n


@pair(_halved, X, np.zeros(9, np.int64))
def a_while_loop_in_the_body(A: dcpy.float64[N], B: dcpy.int64[N]):
    for i in dcpy.map[0:N]:
        with dcpy.tasklet:
            a << A[i]
            b >> B[i]
            x = a * 100
            b = 0
            while x > 1:
                x = x / 2
                b = b + 1


test_interpreted, test_compiled = pair_tests(PAIRS)
