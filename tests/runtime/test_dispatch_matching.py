"""Which arguments fit a specialization: dtypes, sizes, orders, strides, scalars, constants, overlap, guards."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.codegen.artifact import ArrayArg, ConstantArg, Dim, IntegerArg, ScalarArg, ScalarResult, Signature

pytestmark = pytest.mark.cc

N, M = Dim("N"), Dim("M")
FIRST_SYMBOL = "*RESULT(int64_t, 0) = symbols[0];"


def taking(*args, symbols=(), dtype="int64"):
    return Signature("probe", args, symbols, (ScalarResult(dtype),), 0)


def test_sizes_bind_symbols_and_must_agree(compiled):
    f = compiled(
        taking(ArrayArg("a", "float64", (N, M)), ArrayArg("b", "float64", (M, N)), symbols=("N", "M")),
        "*RESULT(int64_t, 0) = 100 * symbols[0] + symbols[1];",
    )
    assert f(np.zeros((3, 4)), np.zeros((4, 3))) == 304
    assert f(np.zeros((0, 4)), np.zeros((4, 0))) == 4
    assert f(np.zeros((3, 4)), np.zeros((3, 4))) == "miss"
    assert f(np.zeros((3, 4)), np.zeros(4)) == "miss"


def test_constant_sizes_and_sizes_other_than_one(compiled):
    f = compiled(
        taking(ArrayArg("a", "int32", (Dim(constant=3), Dim("N", not_one=True))), symbols=("N",)), FIRST_SYMBOL
    )
    assert f(np.zeros((3, 5), np.int32)) == 5
    assert f(np.zeros((2, 5), np.int32)) == "miss"
    assert f(np.zeros((3, 1), np.int32)) == "miss"


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "complex128"])
def test_dtypes_must_be_the_same(compiled, dtype):
    f = compiled(taking(ArrayArg("a", dtype, (N,)), symbols=("N",)), FIRST_SYMBOL)
    for other in ["bool", "int8", "uint16", "int64", "uint64", "float16", "float32", "complex128", "O", "U3", "M8[s]"]:
        assert f(np.zeros(4, other)) == (4 if dtype == other else "miss")


def test_long_and_long_long_are_both_int64(compiled):
    f = compiled(taking(ArrayArg("a", "int64", (N,)), symbols=("N",)), FIRST_SYMBOL)
    assert f(np.zeros(4, np.longlong)) == f(np.zeros(4, np.dtype("l"))) == 4


def test_byte_swapped_misaligned_and_subclassed_arrays_do_not_fit(compiled):
    f = compiled(taking(ArrayArg("a", "float64", (N, M)), symbols=("N", "M")), FIRST_SYMBOL)
    misaligned = np.zeros(33, np.uint8)[1:].view(np.float64).reshape(2, 2)
    matrix = np.zeros((2, 2)).view(np.matrix)
    for wrong in [np.zeros((2, 2), ">f8"), misaligned, matrix, np.ma.zeros((2, 2)), [[1.0]], None, 1.0]:
        assert f(wrong) == "miss"
    assert f(np.zeros((2, 2))) == 2


def test_memory_orders(compiled):
    square = np.zeros((4, 4))
    c = compiled(taking(ArrayArg("a", "float64", (N, M)), symbols=("N", "M")), FIRST_SYMBOL)
    f = compiled(taking(ArrayArg("a", "float64", (N, M), order="F"), symbols=("N", "M")), FIRST_SYMBOL)
    assert (c(square), f(square)) == (4, "miss")
    assert (c(square.T), f(square.T)) == ("miss", 4)
    assert (c(square[::2]), f(square[::2])) == ("miss", "miss")
    assert (c(np.zeros((4, 1))), f(np.zeros((4, 1)))) == (4, 4)


def test_strides_become_symbols_in_elements(compiled):
    strided = ArrayArg("a", "float64", (N, M), order="", strides=("s", "t"))
    f = compiled(
        taking(strided, symbols=("N", "M", "s", "t"), dtype="float64"),
        """const double *a = ARRAY(double, 0);
        double sum = 0;
        for (int64_t i = 0; i < symbols[0]; i++)
          for (int64_t j = 0; j < symbols[1]; j++) sum += (10 * i + j) * a[i * symbols[2] + j * symbols[3]];
        *RESULT(double, 0) = sum;""",
    )
    a = np.arange(30.0).reshape(5, 6)
    weights = 10 * np.arange(6)[:, None] + np.arange(6)
    for view in [a, a.T, a[::2, ::-1], a[::-1, 1:4], a[:, :0], np.broadcast_to(a[0], (4, 6))]:
        assert f(view) == np.sum(weights[: view.shape[0], : view.shape[1]] * view)
    fields = np.zeros(4, dtype=[("x", "f8"), ("y", "f4")])
    assert f(fields["x"].reshape(2, 2)) == "miss"


def test_written_arrays_must_be_writable(compiled):
    f = compiled(taking(ArrayArg("a", "float64", (N,), written=True), symbols=("N",)), FIRST_SYMBOL)
    a = np.zeros(3)
    assert f(a) == 3
    a.flags.writeable = False
    assert f(a) == "miss"


def test_written_arrays_must_not_overlap_others(compiled):
    args = (
        ArrayArg("a", "float64", (N,)),
        ArrayArg("b", "float64", (N,)),
        ArrayArg("c", "float64", (N,), written=True),
    )
    f = compiled(taking(*args, symbols=("N",)), FIRST_SYMBOL)
    memory = np.zeros(30)
    a, b, c = memory[:10], memory[10:20], memory[20:]
    assert f(a, b, c) == f(a, a, c) == 10
    assert f(c, b, c) == f(a, memory[19:29], c) == f(a, b, memory[9:19]) == "miss"
    empty = memory[25:25]
    assert f(empty, empty, memory[3:3]) == 0


def test_arrays_of_one_alias_group_may_overlap(compiled):
    args = (ArrayArg("a", "float64", (N,), alias="x"), ArrayArg("b", "float64", (N,), written=True, alias="x"))
    memory = np.zeros(11)
    f = compiled(taking(*args, symbols=("N",)), FIRST_SYMBOL)
    assert f(memory[1:], memory[:-1]) == 10


def test_overlap_is_judged_by_extent_for_negative_strides_too(compiled):
    args = tuple(
        ArrayArg(name, "float64", (N,), order="", strides=(f"s_{name}",), written=name == "b") for name in ("a", "b")
    )
    f = compiled(taking(*args, symbols=("N", "s_a", "s_b")), FIRST_SYMBOL)
    memory = np.zeros(20)
    assert f(memory[9::-1], memory[10:]) == 10
    assert f(memory[10::-1], memory[10:]) == "miss"  # they share one element, and contradict each other in size
    assert f(memory[10:0:-1], memory[10:]) == "miss"  # they share one element


SCALARS = {
    "bool": (True, np.True_),
    "int64": (5, np.int64(5)),
    "float64": (5.0, np.float64(5)),
    "complex128": (5j, np.complex128(5j)),
}


@pytest.mark.parametrize("dtype", SCALARS)
def test_weak_scalars_are_pythons_and_others_are_numpys(compiled, dtype):
    body = {"bool": "bool", "int64": "int64_t", "float64": "double", "complex128": "double _Complex"}[dtype]
    copy = f"*RESULT({body}, 0) = *ARRAY({body}, 0);"
    weak = compiled(taking(ScalarArg("x", dtype, weak=True), dtype=dtype), copy)
    strong = compiled(taking(ScalarArg("x", dtype), dtype=dtype), copy)
    for kind, (python, numpy) in SCALARS.items():
        same = kind == dtype
        assert weak(python) == (python if same else "miss")
        assert strong(numpy) == (python if same else "miss")
        assert strong(np.array(numpy)) == (python if same else "miss")
        assert weak(numpy) == strong(python) == "miss"


def test_converting_scalars_take_smaller_kinds_of_python_numbers(compiled):
    f = compiled(
        taking(ScalarArg("x", "float64", converts=True), dtype="float64"), "*RESULT(double, 0) = *ARRAY(double, 0);"
    )
    assert [f(x) for x in (True, 2, 2.5, np.float64(3), np.array(4.0))] == [1, 2, 2.5, 3, 4]
    assert [f(x) for x in (1j, np.float32(1), np.int64(1), "1", None, 10**400)] == ["miss"] * 6


def test_integers_must_be_in_range(compiled):
    f = compiled(taking(ScalarArg("x", "uint8", weak=True), dtype="uint8"), "*RESULT(uint8_t, 0) = *ARRAY(uint8_t, 0);")
    assert [f(x) for x in (0, 255, -1, 256, 2**70, True)] == [0, 255, "miss", "miss", "miss", "miss"]
    big = compiled(
        taking(ScalarArg("x", "uint64", weak=True), dtype="uint64"), "*RESULT(uint64_t, 0) = *ARRAY(uint64_t, 0);"
    )
    assert [big(x) for x in (2**64 - 1, 2**64)] == [2**64 - 1, "miss"]


def test_half_and_single_precision_round_as_numpy_does(compiled):
    for dtype, body in [("float16", "uint16_t"), ("float32", "float")]:
        copy = f"*RESULT({body}, 0) = *ARRAY({body}, 0);"
        f = compiled(taking(ScalarArg("x", dtype, weak=True), dtype=dtype), copy)
        assert f(0.1) == np.dtype(dtype).type(0.1)
        assert type(f(0.1)) is np.dtype(dtype).type


def test_integer_arguments_are_symbols(compiled):
    f = compiled(taking(ArrayArg("a", "float64", (N,)), IntegerArg("N"), symbols=("N",)), FIRST_SYMBOL)
    assert f(np.zeros(3), 3) == 3
    assert f(np.zeros(3), 4) == f(np.zeros(3), np.int64(3)) == f(np.zeros(3), True) == "miss"
    typed = compiled(taking(IntegerArg("n", "int32", weak=False), symbols=("n",)), FIRST_SYMBOL)
    assert typed(np.int32(-7)) == -7
    assert typed(-7) == typed(np.int64(-7)) == "miss"


def test_constants_are_compared_by_value_and_type(compiled):
    body = "*RESULT(int64_t, 0) = 1;"
    for value, others in [
        (None, (0, False)),
        (True, (1, 1.0, False)),
        (1000, (1001, 1000.0)),
        ("axis", ("axes", b"axis")),
        (0.0, (-0.0, 0)),
        ((0, "x"), ((0, "y"), (0,), [0, "x"])),
        (len, (max,)),
    ]:
        f = compiled(taking(ConstantArg("c", value)), body)
        assert f(value) == 1
        assert [f(other) for other in others] == ["miss"] * len(others)
    f = compiled(taking(ConstantArg("c", "axis")), body)
    assert f("".join(["ax", "is"])) == 1


def test_closures_and_guards(compiled):
    namespace = {"table": np.arange(4.0), "n": 1000}
    f = compiled(
        taking(ArrayArg("a", "float64", (N,)), ArrayArg("table", "float64", (N,)), symbols=("N",), dtype="float64"),
        "*RESULT(double, 0) = ARRAY(double, 0)[1] + ARRAY(double, 1)[2];",
        parameters=(("a",),),
        closure=(("dict", namespace, "table"),),
        guards=((("dict", namespace, "n"), 1000),),
    )
    assert f(np.ones(4)) == 3
    namespace["table"] = np.full(4, 9.0)
    assert f(np.ones(4)) == 10
    namespace["n"] = int("1000")
    assert f(a=np.ones(4)) == 10
    namespace["n"] = 1001
    assert f(np.ones(4)) == "miss"
    namespace["n"] = 1000
    del namespace["table"]
    assert f(np.ones(4)) == "miss"


def test_cells_of_enclosing_functions(compiled):
    def outer():
        table = np.full(3, 5.0)

        def inner():
            return table

        def rebind(value):
            nonlocal table
            table = value

        return inner.__closure__[0], rebind

    cell, rebind = outer()
    signature = taking(ArrayArg("table", "float64", (N,)), symbols=("N",), dtype="float64")
    f = compiled(signature, "*RESULT(double, 0) = ARRAY(double, 0)[0];", parameters=(), closure=(("cell", cell),))
    assert f() == 5
    rebind(np.full(3, 6.0))
    assert f() == 6


def test_many_arguments_leave_the_stack_buffers(compiled):
    args = tuple(ArrayArg(f"a{i}", "float64", (Dim(f"N{i}"),)) for i in range(40))
    symbols = tuple(f"N{i}" for i in range(40))
    f = compiled(taking(*args, symbols=symbols), "*RESULT(int64_t, 0) = symbols[39];")
    arrays = [np.zeros(i) for i in range(40)]
    assert f(*arrays) == f(*arrays[:20], **{f"a{i}": arrays[i] for i in range(20, 40)}) == 39
