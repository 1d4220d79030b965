"""Exceptions that programs raise, refusals with their place, threads, and the interpreter's lock."""

import signal
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pytest

import dcpy
from tests.support.oracles import check_same

pytestmark = pytest.mark.cc

A8 = np.arange(8.0)
M = np.arange(12.0).reshape(3, 4)


def raised(function, *arguments):
    """The exception of the compiled program, after checking that all oracles raise one of the same type."""
    check_same(function, *arguments)
    with pytest.raises(Exception) as caught:  # noqa: PT011  (the type was checked)
        dcpy.program(function)(*arguments)
    return caught.value


# -- assert and raise ------------------------------------------------------------------------------------------------


def test_assert_with_a_message():
    def f(a, n):
        assert n < 3, f"n is {n}, too large"
        return a[n]

    check_same(f, A8, 2)
    assert str(raised(f, A8, 5)) == "n is 5, too large"


def test_assert_without_a_message():
    def f(a):
        assert (a >= 0).all()
        return a.sum()

    check_same(f, A8)
    assert str(raised(f, A8 - 1)) == ""


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6])
def test_kinds_of_exceptions(n):
    def f(n):
        if n == 1:
            raise TypeError("a type")
        if n == 2:
            raise KeyError("a key")
        if n == 3:
            raise ZeroDivisionError
        if n == 4:
            raise RuntimeError
        if n == 5:
            raise NotImplementedError() from None
        return n

    check_same(f, n)


def test_an_exception_between_two_writes():
    def f(a, n):
        a[0] = 5
        if n > 2:
            raise IndexError("after the write")
        a[1] = 6

    check_same(f, A8, 3)
    check_same(f, A8, 1)


def test_an_exception_carries_the_python_line():
    def f(a, i):
        b = a * 2
        return b[i]

    error = raised(f, A8, 9)
    assert str(error) == "index 9 is out of bounds for axis 0 with size 8"
    shown = "".join(traceback.format_exception(error))
    assert "test_errors.py" in shown
    assert f"test_errors.py:{f.__code__.co_firstlineno + 2}" in shown


def test_an_exception_inside_a_callee():
    def f(a, i):
        return element(a[3:], i) + 1

    check_same(f, A8, 4)
    assert "size 5" in str(raised(f, A8, 5))


def element(v, i):
    assert i != 3, "three"
    return v[i]


@pytest.mark.parametrize("k", [3, 30])
def test_an_exception_inside_a_parallel_map(k):
    def f(a, k):
        for i in dcpy.map[0:8]:
            if i == k:
                raise ValueError("bad element")
            a[i] = a[i] + 1
        return k

    if k == 30:
        check_same(f, A8, k)
    with_error = dcpy.program(f)
    for _ in range(20):  # many threads may fail at once: one exception comes out
        a = A8.copy()
        if k == 3:
            with pytest.raises(ValueError, match="bad element"):
                with_error(a, k)
        else:
            with_error(a, k)


def test_indices_out_of_range_inside_a_parallel_map():
    def f(a, idx, out):
        for i in dcpy.map[0 : idx.shape[0]]:
            out[i] = a[idx[i]]

    check_same(f, A8, np.array([0, -8, 7]), np.zeros(3))
    program = dcpy.program(f)
    for bad in (8, -9):
        with pytest.raises(IndexError, match=f"index {bad} is out of bounds for axis 0 with size 8"):
            program(A8, np.array([0, bad, 7]), np.zeros(3))


# -- what Python and NumPy raise -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("x", "y"), [(1, 0), (0, 0), (-7, 2), (7, -2)])
def test_division_of_python_numbers(x, y):
    def floor(x, y):
        return x // y

    def rest(x, y):
        return x % y

    def true(x, y):
        return x / y

    for function in (floor, rest, true):
        check_same(function, x, y)
        check_same(function, float(x), y)
        check_same(function, np.int32(x), np.int32(y))
        check_same(function, np.float64(x), y)


def test_powers_of_python_floats():
    def f(x, y):
        return x**y

    check_same(f, 0.0, -1.0)
    check_same(f, -8.0, 3.0)
    check_same(f, 2.0, -0.5)
    with pytest.raises(ValueError, match="complex"):  # Python gives a complex number: a type that depends on the value
        dcpy.program(f)(-8.0, 0.5)


def test_shifts_of_python_ints():
    def f(n, k):
        return n << k, n >> k

    check_same(f, 5, 3)
    assert str(raised(f, 5, -1)) == "negative shift count"


@pytest.mark.parametrize("x", [float("nan"), float("inf"), 2.5, -2.5])
def test_conversion_to_int(x):
    def f(x):
        return int(x)

    check_same(f, x)


def test_shapes_that_do_not_fit():
    def add(a, n):
        return a[:n] + a[: n + 1]

    def store(a, n):
        a[:n] = a[: n + 1]

    def product(a, n):
        return a[:n] @ a[: n + 1]

    def reshape(a, n):
        return a.reshape(n, 2)

    for function in (add, store, product, reshape):
        check_same(function, A8, 3)


def test_negative_sizes():
    def f(n):
        return np.zeros(n)

    check_same(f, 0)
    assert str(raised(f, -1)) == "negative dimensions are not allowed"


def test_row_38_reductions_of_nothing():
    def f(a):
        return a.max(axis=0)

    def g(a):
        return np.argmin(a)

    check_same(f, np.zeros((3, 0)))
    check_same(f, np.zeros((0, 3)))
    check_same(g, np.zeros((0, 3)))


# -- refusals --------------------------------------------------------------------------------------------------------


class Thing:
    size = 3


def recursive(a, n):
    return a if n == 0 else recursive(a, n - 1)


def generator(a):
    yield a


REFUSED = {
    "calls itself(?s:.*)only data could end the recursion": lambda a: recursive(a, a[0]),
    "generators are not supported": lambda a: generator(a),
    r"numpy.busday_count is not supported(?s:.*)compute it outside": lambda a: np.busday_count(a, a),
    "has no attribute 'sume'(?s:.*)did you mean 'sum'": lambda a: np.sume(a),
    "has no attribute 'summ'(?s:.*)did you mean .sum": lambda a: a.summ(),
    "name 'aa' is not defined(?s:.*)did you mean 'a'": lambda a: aa + 1,  # noqa: F821
    "Thing is not supported": lambda a: a + Thing().size,
    "truth value of an array": lambda a: 1 if a else 2,
    "too many indices": lambda a: a[0, 0],
    "2.5 is not an index": lambda a: a[2.5],
    "Set is not supported": lambda a: {1, 2},
    "cannot unpack|number of items": lambda a: [x for x, y in (1, a)],
    "does not take": lambda a: (a > 1) - (a > 2),
    "unsupported operand|does not take": lambda a: a + "text",
}


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals_say_why_and_where(reason):
    with pytest.raises(dcpy.DcpyError, match=reason) as caught:
        dcpy.program(REFUSED[reason])(A8)
    text = str(caught.value)
    assert "test_errors.py" in text
    assert "^" in text


def refused_statements():
    def trying(a):
        try:
            return a + 1
        except ValueError:
            return a

    def managing(a):
        with open("numbers.txt") as lines:
            return a + len(lines.read())

    def growing(a):
        rows = []
        for i in range(len(a)):
            rows.append(a[:i])
        return rows

    def classy(a):
        class Local:
            pass

        return a

    def awaiting(a):
        async def later():
            return a

        return a

    return [trying, managing, growing, classy, awaiting]


@pytest.mark.parametrize("function", refused_statements(), ids=lambda function: function.__name__)
def test_statements_that_are_refused(function):
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(function)(A8)
    text = str(caught.value)
    assert "test_errors.py" in text
    assert "= help:" in text


def test_coroutines_are_refused():
    async def f(a):
        return a

    with pytest.raises(dcpy.DcpyError, match="coroutines are not supported"):
        dcpy.program(f)(A8)


def test_what_is_wrong_in_a_callee_is_shown_there():
    def f(a):
        return wrong(a)

    with pytest.raises(dcpy.DcpyError, match=r"np\.sqroot") as caught:
        dcpy.program(f)(A8)
    assert "did you mean 'sqrt'" in str(caught.value)


def wrong(x):
    return np.sqroot(x)


# -- threads ---------------------------------------------------------------------------------------------------------


def in_threads(count, work):
    """Runs ``work(k)`` in threads that start together; what they return, or the first exception."""
    results, errors = [None] * count, []
    barrier = threading.Barrier(count)

    def run(k):
        barrier.wait()
        try:
            results[k] = work(k)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]
    return results


def test_the_first_call_in_eight_threads():
    @dcpy.program
    def f(a, s):
        return a * s + a.sum()

    results = in_threads(8, lambda k: f(A8, float(k)))
    for k, result in enumerate(results):
        np.testing.assert_array_equal(result, A8 * k + 28)
    assert f.specializations == 1


def test_first_calls_of_different_types_at_once():
    @dcpy.program
    def f(a):
        return a + a

    dtypes = [np.int8, np.int32, np.float32, np.float64]
    for dtype, result in zip(dtypes, in_threads(4, lambda k: f(A8.astype(dtypes[k]))), strict=True):
        np.testing.assert_array_equal(result, (A8 * 2).astype(dtype))
        assert result.dtype == dtype


def test_two_threads_in_the_same_program():
    @dcpy.program
    def f(a, n):
        t = np.zeros(100)
        for k in range(n):
            t = t * 0.5 + a[:100]
        return t

    f(np.ones(1000), 1)

    def work(k):
        return [f(np.full(1000, float(k + 1)), 50) for _ in range(50)]

    for k, results in enumerate(in_threads(2, work)):
        for result in results:
            np.testing.assert_allclose(result, (k + 1) * 2.0, rtol=1e-12)


def test_exceptions_in_two_threads():
    @dcpy.program
    def f(a, i):
        return a[i]

    f(A8, 0)

    def work(k):
        for i in range(200):
            try:
                f(A8, 8 + 1000 * k + i)
            except IndexError as error:
                assert f"index {8 + 1000 * k + i} is" in str(error)  # noqa: PT017
            else:
                raise AssertionError("no exception")

    in_threads(2, work)


def test_the_lock_is_free_during_a_call():
    @dcpy.program
    def f(a, n):
        x = a[0]
        for i in range(n):
            x = x * 0.5 + a[i % 8]
        return x

    f(A8, 10)
    thread = threading.Thread(target=f, args=(A8, 150_000_000))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
        time.sleep(0.001)
    thread.join()
    assert turns > 20


INTERRUPTED = """
import signal
import numpy as np, dcpy

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever started the tests may ignore it

@dcpy.program
def f(a):
    return a + 1

a = np.arange(8.0)
f(a)
try:
    print("ready", flush=True)
    while True:
        f(a)
except KeyboardInterrupt:
    print("stopped", f(a).sum(), flush=True)
"""


def test_control_c_works_between_calls(tmp_path):
    script = tmp_path / "interrupted.py"
    script.write_text(INTERRUPTED)
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "stopped 36.0\n"
        assert process.wait(timeout=10) == 0


def test_sizes_that_no_memory_has():
    @dcpy.program
    def f(n, m):
        t = np.zeros((n, m))
        return t.sum()

    assert f(3, 2) == 0
    for sizes in ((2**33, 2**33), (2**62, 1), (2**62, 8)):
        with pytest.raises(ValueError, match="array is too big"):  # the number of bytes needs more than 63 bits
            f(*sizes)
    with pytest.raises(MemoryError):
        f(2**30, 2**25)
