"""Results of callbacks, `allow_callbacks`, and how callbacks are bound."""

import numpy as np
import pytest

import dcpy
from tests.support.callbacks import N, check, norm, note
from tests.support.oracles import assert_equal

pytestmark = pytest.mark.cc


def test_wrong_results_are_refused():
    def returns(declared, value):
        @dcpy.callback(returns=declared)
        def wrong(x):
            return value

        @dcpy.program
        def program(a: dcpy.float64[N]):
            return wrong(a)

        for run in (program, lambda a: program.to_sdfg().interpret(a)):
            with pytest.raises(TypeError, match=r"the callback .*wrong returned") as caught:
                run(np.zeros(3))
        return caught.value.message.partition("returned ")[2]

    assert returns(dcpy.float64[N], np.zeros(4)) == "float64[4], but float64[3] is declared"
    assert returns(dcpy.float64[N], np.zeros(3, int)) == "int64[3], but float64[3] is declared"
    assert returns(dcpy.float64[N], [1, 2, 3]) == "an object of type list, but float64[3] is declared"
    assert returns(float, 1) == "int 1, but float is declared"
    assert returns(float, np.float64(1)) == "numpy.float64 1.0, but float is declared"
    assert returns(dcpy.float64, 1.0) == "float 1.0, but numpy.float64 is declared"
    assert returns((float, int), 1.0) == "float 1.0, but (float, int) is declared"
    assert returns(None, 1.0) == "float 1.0, but None is declared"
    assert returns(int, 2**70) == f"int {2**70}, but int is declared"


def test_returned_views_are_refused():
    same = dcpy.callback(lambda x: x[::-1], returns=dcpy.float64[N])
    with pytest.raises(TypeError, match="returned memory of its arguments"):
        dcpy.program(_calls(same))(np.zeros(3))


def _calls(callback):
    def program(a: dcpy.float64[N]):
        return callback(a)

    return program


def test_a_rebound_callback_is_called():
    def make(k):
        @dcpy.callback(returns=float)
        def constant():
            return float(k)

        @dcpy.program
        def program(a):
            return a + constant()

        return program

    first, second = make(1), make(2)
    assert [first(0.5), second(0.5), first(0.5)] == [1.5, 2.5, 1.5]
    global chosen
    chosen = dcpy.callback(lambda: 1.0, returns=float)

    @dcpy.program
    def program(a):
        return a + chosen()

    assert program(0.5) == 1.5
    chosen = dcpy.callback(lambda: 2.0, returns=float)
    assert program(0.5) == 2.5


def unknown(values):
    """What dcpy does not take."""
    with open(__file__) as file:
        note.function(values, file.readable())


def unknown_value(x) -> dcpy.float64[N]:
    try:
        return x * len({1, 2})
    finally:
        pass


def known(x):
    note(x[0])
    return x + 1


def test_allow_callbacks():
    def program(a: dcpy.float64[N]):
        unknown(a)
        b = known(a)
        return unknown_value(b)

    check(program, np.arange(3.0), allow_callbacks=True)
    with pytest.raises(dcpy.DcpyError, match="with is not supported"):
        dcpy.program(program)(np.arange(3.0))


TABLE = np.arange(3.0)


class Recorder:
    def __init__(self):
        self.seen = []

    def add(self, x):
        self.seen.append(x.sum() + TABLE[1])


def test_methods_of_objects_and_what_they_change():
    recorder = Recorder()

    @dcpy.program(allow_callbacks=True)
    def program(x):
        recorder.add(x)
        return x + 1

    for _ in range(3):
        program(np.ones(2))
    assert recorder.seen == [3.0, 3.0, 3.0]
    assert program.specializations == 1  # what only the callback reads is no part of the program


def test_allow_callbacks_asks_for_types():
    def program(a):
        return len_of(a)

    def len_of(a):
        class Local:
            pass

        return len(a)

    with pytest.raises(dcpy.DcpyError, match="type of the result of len_of") as caught:
        dcpy.program(program, allow_callbacks=True)(np.arange(3.0))
    assert "@dcpy.callback(returns=" in caught.value.help
    assert caught.value.notes[0].startswith("dcpy does not compile it: classes inside a program are not supported (tes")
    assert "classes" in str(caught.value.__cause__)


def test_saved_programs_hold_names_only(tmp_path):
    def program(a: dcpy.float64[N]):
        return a + norm(a)

    sdfg = dcpy.program(program).to_sdfg()
    sdfg.save(tmp_path / "p.sdfg")
    name = "tests.support.callbacks:norm"
    assert name in (tmp_path / "p.sdfg").read_text()
    loaded = dcpy.load(tmp_path / "p.sdfg")
    for run in (loaded, loaded.interpret):
        with pytest.raises(dcpy.DcpyError, match="not bound"):
            run(np.arange(3.0))
    bound = dcpy.load(tmp_path / "p.sdfg", callbacks={name: lambda x: 1.0})
    assert_equal(bound(np.arange(3.0)), np.arange(3.0) + 1)
    assert_equal(dcpy.parse(str(sdfg), callbacks={name: lambda x: 2.0}).interpret(np.arange(3.0)), np.arange(3.0) + 2)


def test_no_library_for_c(tmp_path):
    from dcpy.driver import build_library
    from dcpy.programs.signatures import signature_of

    sdfg = dcpy.program(_calls(norm)).to_sdfg()
    with pytest.raises(dcpy.DcpyError, match="a library for C cannot"):
        build_library(sdfg, signature_of(sdfg), tmp_path / "p.so")
