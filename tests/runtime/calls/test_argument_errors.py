"""Arguments that do not fit: every refusal names the argument, what was expected and what came."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.errors import ArgumentError, ArgumentShapeError, ReadOnlyArgument
from dcpy.codegen.artifact import ArrayArg, ConstantArg, Dim, IntegerArg, ScalarArg, Signature
from dcpy.runtime.calls.argument_errors import explain_mismatch

N, M = Dim("N"), Dim("M")
A = ArrayArg("A", "float64", (N, N))
W = ArrayArg("w", "float64", (N,), written=True)


def message_for(args, *values):
    return str(explain_mismatch(Signature("f", args, ("N",)), values))


def read_only():
    a = np.zeros(3)
    a.flags.writeable = False
    return a


MEMORY = np.zeros(20)
CASES = [
    (A, None, "argument 'A' is None, but a float64[N, N] array is needed"),
    (A, 1.5, "argument 'A' is a float, but a float64[N, N] array is needed"),
    (A, [[1.0]], "argument 'A' is a list, but a float64[N, N] array is needed"),
    (A, [[1.0]], "help: pass np.asarray(A, dtype=np.float64)"),
    (A, np.zeros((2, 2)).view(np.matrix), "argument 'A' is a numpy.matrix, but"),
    (A, np.ma.zeros((2, 2)), "dcpy would ignore the mask"),
    (A, np.zeros((2, 2), object), "argument 'A' holds Python objects (dtype object)"),
    (A, np.zeros((2, 2), np.float32), "argument 'A' has dtype float32, but a float64[N, N] array is needed"),
    (A, np.zeros((2, 2), ">i4"), "argument 'A' has dtype >i4, but"),
    (A, np.zeros(3), "argument 'A' has 1 dimension, shape (3,), but a float64[N, N] array is needed"),
    (A, np.zeros((3, 4)), "argument 'A' has shape (3, 4), but a float64[N, N] is needed"),
    (A, np.zeros((3, 4)), "help: dimensions with the same name need the same size"),
    (ArrayArg("A", "float64", (Dim(offset=4),)), np.zeros(3), "annotate a size that may vary by a symbol"),
    (A, np.zeros((3, 4)), "note: N is 3 by dimension 0 of 'A', but 4 by dimension 1 of 'A'"),
    (A, np.zeros((3, 3), ">f8"), "argument 'A' is byte-swapped (dtype >f8)"),
    (A, np.zeros((3, 6))[:, ::2], "argument 'A' is not packed in C order (strides (48, 16))"),
    (A, np.zeros(33, np.uint8)[1:].view("f8").reshape(2, 2), "argument 'A' is not aligned in memory"),
    (ArrayArg("A", "float64", (Dim(constant=8),)), np.zeros(7), "the size is 8 by the program, but 7 by dimension 0"),
    (ArrayArg("A", "float64", (Dim("N", not_one=True),)), np.zeros(1), "was compiled for sizes other than 1"),
    (W, read_only(), "argument 'w' is read-only, but the program writes to it"),
    (ScalarArg("x", "float64", weak=True), np.float64(1), "'x' is a numpy.float64, but a Python float is needed"),
    (ScalarArg("x", "float64", weak=True), 1, "help: pass float(x)"),
    (ScalarArg("x", "float32"), 1.0, "argument 'x' is a float, but a float32 scalar is needed"),
    (ScalarArg("x", "int32", converts=True), "1", "is a str, but an int32 scalar or a Python int is needed"),
    (ScalarArg("x", "uint8", weak=True), 300, "argument 'x' is 300, which uint8 cannot hold"),
    (IntegerArg("n"), 2.0, "argument 'n' is a float, but a Python int is needed"),
    (ConstantArg("mode", "wrap"), "clip", "argument 'mode' is 'clip', but the program was compiled for 'wrap'"),
]


@pytest.mark.parametrize(("arg", "value", "expected"), CASES, ids=[c[2] for c in CASES])
def test_one_argument(arg, value, expected):
    assert expected in message_for((arg,), value)


def test_sizes_of_two_arguments_contradict_each_other():
    said = message_for((A, W), np.zeros((3, 3)), np.zeros(4))
    assert "argument 'w' has shape (4,), but a float64[N] is needed" in said
    assert "N is 3 by dimension 0 of 'A', but 4 by dimension 0 of 'w'" in said


def test_a_size_argument_contradicts_an_array():
    said = message_for((ArrayArg("a", "float64", (N,)), IntegerArg("N")), np.zeros(3), 4)
    assert "N is 3 by dimension 0 of 'a', but 4 by argument 'N'" in said


def test_overlapping_arguments():
    said = message_for((ArrayArg("a", "float64", (N,)), W), MEMORY[1:], MEMORY[:-1])
    assert "arguments 'a' and 'w' overlap in memory, and the program writes to one of them" in said


def test_what_is_no_fault_of_the_arguments_is_a_changed_global_or_a_fault_of_dcpy():
    signature = Signature("f", (ArrayArg("a", "float64", (N,)),), ("N",))
    assert "has changed" in str(explain_mismatch(signature, (np.zeros(3),), guarded=True))
    assert "fault of dcpy" in str(explain_mismatch(signature, (np.zeros(3),)))


def test_an_index_has_63_bits():
    said = message_for((IntegerArg("n", "uint64", weak=False),), np.uint64(2**63))
    assert "'n' is 9223372036854775808, but it is part of a size or an index, which has 63 bits" in said


def test_kinds_of_errors_are_those_of_numpy():
    assert isinstance(explain_mismatch(Signature("f", (A,), ("N",)), (None,)), ArgumentError)
    assert issubclass(ArgumentError, TypeError)
    assert isinstance(explain_mismatch(Signature("f", (A,), ("N",)), (np.zeros((1, 2)),)), ArgumentShapeError)
    assert issubclass(ArgumentShapeError, ValueError)
    assert isinstance(explain_mismatch(Signature("f", (W,), ("N",)), (read_only(),)), ReadOnlyArgument)
    assert issubclass(ReadOnlyArgument, ValueError)
