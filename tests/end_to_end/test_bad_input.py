"""What a wrong call gets: an error that names the argument, what was expected, and what was given."""

import functools
import sys
import types

import numpy as np
import pytest

import dcpy

pytestmark = pytest.mark.cc
N, M = dcpy.symbol("N"), dcpy.symbol("M")


@functools.cache
def square_program() -> dcpy.Program:
    @dcpy.program
    def square(A: dcpy.float64[N, N], b: dcpy.float64[N], scale: dcpy.float64 = 2.0):
        b[:] = A @ b * scale

    return square


def refused(error: type[Exception], match: str, *arguments, **named) -> None:
    with pytest.raises(error, match=match):
        square_program()(*arguments, **named)


GOOD = np.eye(3)


def test_a_good_call_for_comparison():
    b = np.ones(3)
    square_program()(GOOD, b, scale=3)
    np.testing.assert_array_equal(b, 3)


def test_too_few_arguments():
    refused(TypeError, "missing 1 required positional argument: 'b'", GOOD)


def test_too_many_arguments():
    refused(TypeError, "takes from 2 to 3 positional arguments but 4 were given", GOOD, np.ones(3), 1.0, 2.0)


def test_unknown_name():
    refused(TypeError, "unexpected keyword argument 'factor'", GOOD, np.ones(3), factor=1.0)


def test_twice_the_same():
    refused(TypeError, "multiple values for argument 'A'", GOOD, np.ones(3), A=GOOD)


def test_dtype():
    refused(TypeError, "'A' has dtype float32, but a float64", GOOD.astype(np.float32), np.ones(3))


def test_rank():
    refused(TypeError, "'A' has 1 dimension.* but a float64.N, N. array is needed", np.ones(3), np.ones(3))


def test_sizes_that_contradict_each_other_in_one_array():
    refused(ValueError, "(?s)N.*3.*4|N.*4.*3", np.ones((3, 4)), np.ones(3))


def test_sizes_that_contradict_each_other_in_two_arrays():
    refused(ValueError, "(?s)'b'.*4", GOOD, np.ones(4))


def test_read_only():
    b = np.ones(3)
    b.flags.writeable = False
    refused(ValueError, "read-only", GOOD, b)


def test_a_read_only_array_that_is_only_read_is_fine():
    A = np.eye(3)
    A.flags.writeable = False
    square_program()(A, np.ones(3))


def test_byte_swapped_arrays_are_converted_in_and_out():
    b = np.ones(3).astype(">f8")
    square_program()(GOOD.astype(">f8"), b)
    assert b.dtype == np.dtype(">f8")
    np.testing.assert_array_equal(b, 2)


def test_misaligned_arrays_are_converted_in_and_out():
    raw = np.zeros(3 * 8 + 1, np.uint8)
    b = raw[1:].view(np.float64)
    b[:] = 1
    square_program()(GOOD, b)
    np.testing.assert_array_equal(b, 2)


def test_object_arrays():
    refused(TypeError, "(?s)'A'.*object", GOOD.astype(object), np.ones(3))


def test_none():
    refused(TypeError, "(?s)'A'.*None", None, np.ones(3))


def test_a_list_where_an_array_is_due():
    refused(TypeError, "(?s)'b'.*list.*np.asarray", GOOD, [1.0, 1.0, 1.0])


def test_a_complex_number_where_a_float_is_due():
    refused(TypeError, "(?s)'scale'.*complex", GOOD, np.ones(3), 1j)


def test_a_matrix_is_no_array():
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.matrix(GOOD)
    refused(TypeError, "(?s)'A'.*matrix", matrix, np.ones(3))


def test_a_function_without_readable_source():
    namespace: dict = {}
    exec("def f(a):\n    return a + 1\n", namespace)
    with pytest.raises(dcpy.DcpyError, match=r"(?s)source.*file"):
        dcpy.program(namespace["f"])(np.ones(3))


def test_a_file_that_changed_after_import(tmp_path):
    path = tmp_path / "changing.py"
    path.write_text("def f(a):\n    return a + 1\n")
    module = types.ModuleType("changing")
    sys.modules.pop("changing", None)
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    path.write_text("def f(a):\n    return a + 22222\n")
    with pytest.raises(dcpy.DcpyError, match="changed"):
        dcpy.program(module.f)(np.ones(3))


def test_a_method_is_no_function():
    with pytest.raises(dcpy.DcpyError, match="takes a Python function"):
        dcpy.program(np.sum)


def test_an_unknown_option():
    with pytest.raises(dcpy.DcpyError, match="did you mean simplify"):
        dcpy.program(simplfy=False)(lambda a: a)


def test_no_traceback_of_dcpy_in_the_message():
    with pytest.raises(dcpy.DcpyError) as caught:
        dcpy.program(uses_something_unknown)(np.ones(3))
    text = str(caught.value)
    assert "test_bad_input.py" in text
    assert "^" in text
    assert "Traceback" not in text


def uses_something_unknown(a):
    return np.busday_count(a, a)
