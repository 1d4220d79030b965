"""What a call returns and raises, and what it does to threads and reference counts."""

from __future__ import annotations

import contextlib
import gc
import itertools
import sys
import threading
import time
import tracemalloc
import weakref

import numpy as np
import pytest

from dcpy.base.options import resolve_options
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import (
    ArgumentResult,
    ArrayArg,
    Check,
    ConstantResult,
    Dim,
    FreshArray,
    IntegerArg,
    ScalarResult,
    Signature,
    ViewResult,
)
from dcpy.runtime.dispatch import Dispatcher, encode
from dcpy.runtime.loading.load import load
from tests.runtime.handwritten import artifact_of

pytestmark = pytest.mark.cc

N, M = Dim("N"), Dim("M")
VECTOR = ArrayArg("a", "float64", (N,))
MATRIX = ArrayArg("a", "float64", (N, M))


def test_fresh_arrays_are_new_in_every_call(compiled):
    f = compiled(
        Signature("double_all", (MATRIX,), ("N", "M"), (FreshArray("float64", 2),), 0),
        "for (int64_t i = 0; i < symbols[0] * symbols[1]; i++) RESULT(double, 0)[i] = 2 * ARRAY(double, 0)[i];",
        shapes="numbers[0] = symbols[0]; numbers[1] = symbols[1];",
    )
    a = np.arange(6.0).reshape(2, 3)
    first, second = f(a), f(a + 1)
    np.testing.assert_array_equal(first, 2 * a)
    np.testing.assert_array_equal(second, 2 * a + 2)
    assert first.flags.owndata
    assert first.flags.c_contiguous
    assert f(np.zeros((0, 3))).shape == (0, 3)


def test_results_nest_as_the_structure_says(compiled):
    results = (
        ScalarResult("float32"),
        ScalarResult("int64", python=True),
        ConstantResult("label"),
        ArgumentResult(0),
        FreshArray("int32", 0),
        ScalarResult("bool", python=True),
    )
    f = compiled(
        Signature("several", (VECTOR,), ("N",), results, (3, (0, (1, 2), ()), (4, 5))),
        "*RESULT(float, 0) = 1.5f; *RESULT(int64_t, 1) = symbols[0]; *RESULT(int32_t, 2) = 7; *RESULT(bool, 3) = true;",
    )
    a = np.zeros(4)
    argument, (scalar, (length, label), empty), (array, flag) = f(a)
    assert argument is a
    assert (scalar, type(scalar)) == (1.5, np.float32)
    assert (length, type(length)) == (4, int)
    assert (label, empty, flag) == ("label", (), True)
    assert (array.shape, array.dtype, array[()]) == ((), np.int32, 7)


def test_a_program_without_results_returns_none(compiled):
    f = compiled(Signature("fill", (ArrayArg("a", "float64", (N,), written=True),), ("N",)), "ARRAY(double, 0)[0] = 9;")
    a = np.zeros(2)
    assert f(a) is None
    assert a[0] == 9


def test_views_alias_their_argument(compiled):
    f = compiled(
        Signature("odd_rows_reversed", (MATRIX,), ("N", "M"), (ViewResult(0, "float64", 2),), 0),
        "",
        shapes="""int64_t n = symbols[0], m = symbols[1];
        numbers[0] = (m + m - 1) * 8;
        numbers[1] = n / 2; numbers[2] = m;
        numbers[3] = 2 * m * 8; numbers[4] = -8;""",
    )
    a = np.array([[0.0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]])
    view = f(a)
    np.testing.assert_array_equal(view, a[1::2, ::-1])
    assert view.base is a
    view[0, 0] = 77
    assert a[1, 2] == 77
    a.flags.writeable = False
    assert not f(a).flags.writeable


def test_failed_checks_raise_with_the_python_line(compiled):
    check = Check("IndexError", "index {0} is out of bounds for axis {1} with size {2}", SrcSpan("/src/gemm.py", 12))
    f = compiled(
        Signature("get", (VECTOR, IntegerArg("i")), ("N", "i"), (ScalarResult("float64"),), 0, (check,)),
        """if (symbols[1] >= symbols[0]) { error[0] = symbols[1]; error[2] = symbols[0]; return 1; }
        *RESULT(double, 0) = ARRAY(double, 0)[symbols[1]];""",
    )
    assert f(np.arange(3.0), 2) == 2
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 3") as caught:
        f(np.arange(3.0), 5)
    assert caught.value.__notes__[0] == "  --> gemm.py:12:1"


def test_warnings_do_not_stop_the_program(compiled):
    f = compiled(
        Signature("zero", (), (), (ScalarResult("int64"),), 0, (Check("RuntimeWarning", "divide by zero"),)),
        "*RESULT(int64_t, 0) = 0; return 1;",
    )
    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        assert f() == 0
    assert caught[0].filename == __file__


def test_the_gil_is_free_during_a_call(compiled):
    """One call waits until another thread, also in compiled code, sets its flag: with the GIL held, nobody would."""
    flag = ArrayArg("flag", "int64", (Dim(constant=1),), written=True)
    wait = compiled(
        Signature("wait", (flag,), (), (ScalarResult("int64"),), 0),
        """volatile int64_t *flag = ARRAY(int64_t, 0);
        int64_t turns = 0;
        while (*flag == 0 && turns < 20000000000) turns++;
        *RESULT(int64_t, 0) = *flag;""",
    )
    signal = compiled(Signature("signal", (flag,)), "*(volatile int64_t *)ARRAY(int64_t, 0) = 1;")
    shared = np.zeros(1, np.int64)
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(wait(shared)))
    waiting.start()
    time.sleep(0.02)
    signal(shared)
    waiting.join()
    assert answers == [1]


def test_threads_share_a_program(compiled):
    f = compiled(
        Signature("total", (VECTOR,), ("N",), (ScalarResult("float64"),), 0),
        "double s = 0; for (int64_t i = 0; i < symbols[0]; i++) s += ARRAY(double, 0)[i]; *RESULT(double, 0) = s;",
    )
    wrong = []

    def work(value):
        a = np.full(100, float(value))
        wrong.extend(None for _ in range(2000) if f(a) != 100 * value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_specializations_are_added_while_others_run():
    ranks = range(1, 9)
    one = Dim(constant=1)
    signatures = [
        Signature(f"rank{r}", (ArrayArg("a", "float64", (one,) * r),), (), (ScalarResult("int64"),), 0) for r in ranks
    ]
    programs = [
        load(artifact_of(signature, f"*RESULT(int64_t, 0) = {rank};"), resolve_options())
        for rank, signature in zip(ranks, signatures, strict=True)
    ]
    answers = {}

    def miss(values):
        p = programs[values[0].ndim - 1]
        f.add(encode(p.signature, p.entry, p.results, keepalive=p.library))
        return f.dispatch(values)

    f = Dispatcher("f", (("a",),), miss)
    arrays = [np.zeros((1,) * rank) for rank in ranks]

    def work(thread):
        answers[thread] = [f(a) for _ in range(300) for a in arrays]

    threads = [threading.Thread(target=work, args=(thread,)) for thread in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(answers[thread] == list(ranks) * 300 for thread in range(8))


def test_calls_do_not_leak(compiled):
    f = compiled(
        Signature(
            "leaky", (VECTOR, IntegerArg("i")), ("N", "i"),
            (FreshArray("float64", 1), ViewResult(0, "float64", 1), ArgumentResult(0), ScalarResult("float64")),
            (0, (1, 2), 3), (Check("ValueError", "no"),),
        ),
        "*RESULT(double, 1) = 1; if (symbols[1] < 0) return 1;",
        shapes="numbers[0] = 100; numbers[1] = 0; numbers[2] = symbols[0]; numbers[3] = 8;",
    )  # fmt: skip
    a = np.zeros(50)

    def many():
        for _ in range(400):
            f(a, i=3)
            f(a, "miss")
            with contextlib.suppress(ValueError):
                f(a, -1)
            with contextlib.suppress(TypeError):
                f(a)

    def held():
        many()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    many()
    references = sys.getrefcount(a)
    tracemalloc.start()
    rounds = [held() for _ in range(4)]
    tracemalloc.stop()
    grown = min(after - before for before, after in itertools.pairwise(rounds))  # a leak grows in each of them
    assert sys.getrefcount(a) == references
    assert grown < 4_000  # ten bytes per round: no object is that small


def test_dispatchers_in_cycles_are_collected(compiled):
    class Program(Dispatcher):
        pass

    default = []
    program = Program("f", (("a", default),), print)
    default.append(program)
    del default
    gone = weakref.ref(program)
    del program
    gc.collect()
    assert gone() is None


def test_a_miss_may_add_a_specialization_and_run_it(compiled):
    source = compiled(
        Signature("one", (VECTOR,), ("N",), (ScalarResult("int64"),), 0), "*RESULT(int64_t, 0) = symbols[0];"
    )
    seen = []

    def miss(values):
        seen.append(values)
        return source.dispatch(values)

    f = Dispatcher("f", (("a",), ("b", 5)), miss)
    with pytest.raises(TypeError, match="takes a tuple of 1 values"):
        f(np.zeros(2))
    assert source.dispatch((np.zeros(3),)) == 3
    assert source.dispatch((1,)) is NotImplemented
    assert [value[1] for value in seen] == [5]


def test_exceptions_of_a_miss_reach_the_caller():
    def miss(values):
        raise ZeroDivisionError("from the miss")

    with pytest.raises(ZeroDivisionError, match="from the miss"):
        Dispatcher("f", (), miss)()


def test_subclasses_keep_the_fast_call():
    class Program(Dispatcher):
        pass

    class Slow(Dispatcher):
        def __call__(self, *args):
            return "overridden"

    have_vectorcall = 1 << 11
    assert Program.__flags__ & have_vectorcall
    assert Slow("f", (), print)() == "overridden"


def test_misuse_of_the_type_itself_is_refused():
    with pytest.raises(RuntimeError, match="has not been called"):
        Dispatcher.__new__(Dispatcher)()
    f = Dispatcher("f", (("a",),), print)
    with pytest.raises(RuntimeError, match="once only"):
        f.__init__("f", (), print)
    with pytest.raises(ValueError, match="not the source of a closure value"):
        f.add(encode(Signature("f", ()), 0, 0, closure=(("dict", 3, "x"),)))
    with pytest.raises(TypeError):
        f.add((1, 2))


@pytest.mark.perf
def test_a_call_with_all_checks_is_quick(compiled):
    vectors = tuple(ArrayArg(name, "float64", (N,), written=name == "c") for name in "abc")
    f = compiled(
        Signature("add", vectors, ("N",)),
        "for (int64_t i = 0; i < symbols[0]; i++) ARRAY(double, 2)[i] = ARRAY(double, 0)[i] + ARRAY(double, 1)[i];",
    )
    a, b, c = np.arange(10.0), np.ones(10), np.zeros(10)
    best = min(_seconds(f, a, b, c) for _ in range(20))
    np.testing.assert_array_equal(c, a + b)
    assert best / 10_000 < 0.25e-6


def _seconds(f, *args):
    start = time.perf_counter()
    for _ in range(10_000):
        f(*args)
    return time.perf_counter() - start
