"""The text of C functions around programs: parameters, conditions, results, failures."""

from dataclasses import replace

import numpy as np
import pytest

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import CodegenError
from dcpy.codegen.artifact import (
    ArrayArg,
    Check,
    ConstantArg,
    ConstantResult,
    Dim,
    FreshArray,
    IntegerArg,
    Linear,
    ScalarArg,
    ScalarResult,
    Signature,
)
from dcpy.codegen.c_functions import c_function_text, c_prototype

SIZED = Signature(
    "f", (IntegerArg("n"), ArrayArg("x", "float64", (Dim("n"),), written=True), ScalarArg("k", "float32")), ("n",),
    (ScalarResult("float64"),), 0,
)  # fmt: skip


def body(signature, narrow=None, returns=""):
    """What the function does, from its first line on."""
    text = c_function_text(signature, c_prototype(signature, narrow or {}, returns))
    return text[text.index('extern "C"', text.index("namespace")) :]


def test_a_number_and_an_array():
    assert str(c_prototype(SIZED, {"n": "int32"})) == "double (int, double *, float)"
    assert body(SIZED, {"n": "int32"}) == """\
extern "C" double f_from_c(int a0, double * a1, float a2) {
    int32_t (*interrupts)(void *, int64_t, const int64_t *) = go_on;
    int64_t error[4] = {};
    int64_t v0 = a0;
    float v2 = a2;
    void *const args[] = {&v0, (void *)a1, &v2, &interrupts};
    if (!(v0 >= 0 && v0 <= 281474976710656)) {
        keep(-1, error);
        return std::numeric_limits<double>::quiet_NaN();
    }
    double result{};
    const int64_t symbols[] = {v0};
    void *const results[] = {&result};
    const int32_t check = f_entry(args, symbols, results, error);
    if (check != 0) {
        keep(check, error);
        return std::numeric_limits<double>::quiet_NaN();
    }
    return static_cast<double>(result);
}
"""


def test_nothing_is_returned():
    text = body(replace(SIZED, results=(), structure=None))
    assert text.startswith('extern "C" void f_from_c(long a0,')
    assert "results[] = {nullptr};" in text
    assert "return" not in text.replace("return;", "")


@pytest.mark.parametrize(("value", "written"), [
    (1, "1LL"), (0.5, "0x1.0000000000000p-1"), (True, "1LL"), (-np.inf, "-std::numeric_limits<double>::infinity()"),
])  # fmt: skip
def test_a_constant_is_returned(value, written):
    assert f" result = {written};" in body(replace(SIZED, results=(ConstantResult(value),)))


def test_a_wider_result_is_tested_where_it_may_not_fit():
    text = body(replace(SIZED, results=(ScalarResult("int64"),)), returns="int32")
    assert "if (static_cast<__int128>(result) < std::numeric_limits<int>::min()" in text
    assert "return static_cast<int>(result);" in text
    assert "__int128" not in body(replace(SIZED, results=(ScalarResult("int64"),)), returns="float32")


def test_what_a_program_relies_on_is_tested():
    relies = replace(SIZED, assumes=(Linear((("n", 1),), -4),), assumed=(("n", Assumption(2, 1000, 8)),))
    text = body(relies)
    tested = ("v0 >= 2", "v0 <= 1000", "v0 % 8 == 0", "(__int128)-4 + (__int128)1 * v0 >= 0")
    assert all(f"if (!({each}))" in text for each in tested)


def test_a_warning_is_no_failure():
    checks = (Check("ValueError", "a"), Check("RuntimeWarning", "b"))
    assert "if (check != 0 && check != 2) {" in body(replace(SIZED, checks=checks))


def args(*found):
    return replace(SIZED, args=found, symbols=())


@pytest.mark.parametrize(("signature", "returns", "message"), [
    (args(ArrayArg("x", "float64", (Dim("N"),))), "", "the size N of 'x' is not known"),
    (args(ScalarArg("z", "complex128")), "", "the argument 'z' has no type in C"),
    (args(ConstantArg("z")), "", "the argument 'z' has no type in C"),
    (args(ArrayArg("x", "float64", (Dim(constant=2), Dim(constant=2)), order="F")), "", "not packed in C order"),
    (replace(SIZED, results=(FreshArray("float64", 1),)), "", "does not return one number"),
    (replace(SIZED, results=(ScalarResult("complex64"),)), "", "does not return one number"),
    (replace(SIZED, results=(ScalarResult("float64"),) * 2, structure=(0, 1)), "", "does not return one number"),
    (replace(SIZED, results=(ConstantResult("text"),)), "", "does not return one number"),
    (SIZED, "int32", "returns float64, of which no int32 is made"),
    (SIZED, "complex64", "C functions return no complex64"),
])  # fmt: skip
def test_refused(signature, returns, message):
    with pytest.raises(CodegenError, match=message):
        c_prototype(signature, {}, returns)
