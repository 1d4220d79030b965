"""Types in the decorator, compile-time arguments, storages, structures; plain objects that are made and called."""

import numpy as np
import pytest

import dcpy
from tests.support.lowering import refusal, same
from tests.support.oracles import check_same

N, M = dcpy.symbols("N M")
X = np.arange(4.0)


# -- types -----------------------------------------------------------------------------------------------------------


def test_types_in_the_decorator():
    @dcpy.program(dcpy.float64[N], dcpy.int32)
    def f(a, k):
        return a * k

    @dcpy.program(dcpy.float64[N], simplify=False)
    def g(a):
        return a + N

    assert str(f.to_sdfg()).startswith("sdfg @f(a: f64[N], k: i32) symbols(N: size)")
    assert np.array_equal(f.to_sdfg().interpret(a=X, k=3), X * 3)
    assert np.array_equal(g.to_sdfg().interpret(a=X), X + 4)
    with pytest.raises(dcpy.FrontendError, match="3 types are given for the 1 parameters of g"):
        dcpy.program(dcpy.float64, dcpy.float64, dcpy.float64)(g.function)


def _filled(a: dcpy.float64[N], n: dcpy.compiletime, mode: dcpy.compiletime = "plain"):
    for i in dcpy.unroll(range(n)):
        a[i] = i + 10
    return a if mode == "plain" else a * 2


def test_compile_time_arguments():
    program = dcpy.program(_filled)
    sdfg = program.to_sdfg(n=2)
    assert sdfg.arguments == ["a"]
    assert np.array_equal(sdfg.interpret(a=X.copy()), [10, 11, 2, 3])
    assert np.array_equal(program.to_sdfg(n=1, mode="x").interpret(a=X.copy()), [20, 2, 4, 6])
    with pytest.raises(dcpy.FrontendError, match=r"(?s)its value is part of the program.*pass it: to_sdfg\(n=\.\.\.\)"):
        program.to_sdfg()


@pytest.mark.cc
def test_compile_time_arguments_in_calls():
    program = dcpy.program(_filled)
    assert np.array_equal(program(X.copy(), 2), [10, 11, 2, 3])
    assert np.array_equal(program(X.copy(), 3), [10, 11, 12, 3])
    assert np.array_equal(program(X.copy(), n=1, mode="x"), [20, 2, 4, 6])
    assert np.array_equal(program(X.copy(), 2), [10, 11, 2, 3])
    assert program.specializations == 3


def test_storages_of_arguments():
    def f(a: dcpy.float64[N] @ dcpy.StorageType.CPU_Heap, k: dcpy.float64 @ dcpy.StorageType.Register):
        return a * k

    sdfg = dcpy.program(f).to_sdfg()
    assert np.array_equal(sdfg.interpret(a=X, k=2.0), X * 2)
    with pytest.raises(dcpy.FrontendError, match="with the storage GPU_Global would be in the memory of a device"):
        dcpy.float64[N] @ dcpy.StorageType.GPU_Global
    with pytest.raises(dcpy.FrontendError, match="5 is no storage"):
        dcpy.float64 @ 5


CSR = dcpy.data.Structure({"row": dcpy.int64[N + 1], "val": dcpy.float64[M]}, "CSR")


@dcpy.program
def row_sums(matrix: CSR, out: dcpy.data.Array(dcpy.float64, (N,)), factor: dcpy.data.Scalar(np.float64)):
    for i in dcpy.map[0:N]:
        for j in range(matrix.row[i], matrix.row[i + 1]):
            out[i] += matrix.val[j] * factor


@pytest.mark.cc
def test_structures():
    matrix, out = CSR(row=np.array([0, 2, 3]), val=np.array([1.0, 2, 3])), np.zeros(2)
    assert row_sums.to_sdfg().arguments == ["matrix_row", "matrix_val", "out", "factor"]
    row_sums(matrix, out, 2.0)
    assert np.array_equal(out, [6, 6])
    assert dcpy.data.Structure.from_dataclass(CSR.record_class)(row=1, val=2).val == 2
    with pytest.raises(dcpy.FrontendError, match="'a b' is no name for a part of a structure"):
        dcpy.data.Structure({"a b": dcpy.float64})


# -- objects ---------------------------------------------------------------------------------------------------------


class Scale:
    def __init__(self, factor, n=3):
        self.factor = factor
        self.n = n
        self.calls = 0

    def __call__(self, x):
        return x * self.factor + self.n

    def count(self):
        self.calls += 1
        return self.calls


class Shifted(Scale):
    def __init__(self, factor, shift):
        super().__init__(factor)
        self.shift = shift

    def __call__(self, x):
        return super().__call__(x) + self.shift


class Grid:
    def __init__(self, data):
        self.data = data
        self.h = 0.5

    def step(self):
        self.data = self.data + self.h
        return self.data


SCALE = Scale(2.5)
SHIFTED = Shifted(2.0, 1.0)


def calls_objects(a):
    return SCALE(a) + SHIFTED(a[0])


def makes_objects(a):
    s, t = Scale(3.0, n=1), Shifted(2.0, a[1])
    first = s(a) + t(a)
    s.count()
    s.count()
    g = Grid(a)
    for i in range(3):
        g.step()
    return first, s.calls, g.data, t.shift


@pytest.mark.parametrize("function", [calls_objects, makes_objects])
def test_plain_objects(function):
    same(function, X)


@pytest.mark.cc
def test_plain_objects_compiled():
    check_same(calls_objects, X)
    check_same(makes_objects, X)


class Slotted:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Checked:
    def __init__(self, x):
        self.x = x

    def __setattr__(self, name, value):
        object.__setattr__(self, name, value)


def test_objects_with_slots():
    check_same(lambda a: Slotted(a).x + 1, X)


def test_objects_that_run_more_than_their_constructor_are_refused():
    def checked(a):
        return Checked(a).x

    def new_field(a):
        s = Scale(2.0)
        s.other = 1
        return a

    assert "the class Checked cannot be instantiated in a program" in refusal(checked, X)
    assert "Scale has no field 'other'" in refusal(new_field, X)
