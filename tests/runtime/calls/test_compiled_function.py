"""A compiled program as a callable: defaults, conversions in and out, and refusals."""

from __future__ import annotations

import numpy as np
import pytest

from dcpy.base.errors import ArgumentError, ReadOnlyArgument
from dcpy.base.options import resolve_options
from dcpy.codegen.artifact import ArgumentResult, ArrayArg, Dim, ScalarArg, Signature, ViewResult
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.loading.load import load
from tests.runtime.handwritten import artifact_of

pytestmark = pytest.mark.cc

SCALE = Signature(
    "scale",
    (ArrayArg("a", "float64", (Dim("N"), Dim("M")), written=True), ScalarArg("factor", "float64", weak=True)),
    ("N", "M"),
    (ArgumentResult(0),),
    0,
)
BODY = """for (int64_t i = 0; i < symbols[0] * symbols[1]; i++)
  ARRAY(double, 0)[i] = i + *ARRAY(double, 1) * ARRAY(double, 0)[i];"""


@pytest.fixture(name="scale")
def built():
    return compiled_function(load(artifact_of(SCALE, BODY), resolve_options()), defaults={"factor": 10.0})


def scaled(a, factor=10.0):
    return np.arange(a.size).reshape(a.shape) + factor * a


def test_defaults_and_keywords(scale):
    a = np.ones((2, 3))
    assert scale(a) is a
    np.testing.assert_array_equal(a, scaled(np.ones((2, 3))))
    np.testing.assert_array_equal(scale(factor=2.0, a=np.ones((2, 3))), scaled(np.ones((2, 3)), 2.0))
    with pytest.raises(TypeError, match=r"^scale\(\) missing 1 required positional argument: 'a'\n"):
        scale()


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.arange(6.0).reshape(2, 3).astype(">f8"),
        lambda: np.arange(6.0).reshape(3, 2).T,
        lambda: np.arange(24.0).reshape(4, 6)[::2, ::-2],
        lambda: np.frombuffer(bytearray(49), np.uint8)[1:].view(np.float64).reshape(2, 3),
    ],
    ids=["byte-swapped", "transposed", "strided", "misaligned"],
)
def test_arrays_of_another_layout_are_copied_in_and_out(scale, make):
    a = make()
    expected = scaled(a)
    assert scale(a) is a
    np.testing.assert_array_equal(a, expected)


def test_read_only_arrays_are_refused_also_when_copied(scale):
    a = np.ones((2, 3), ">f8")
    a.flags.writeable = False
    with pytest.raises(ReadOnlyArgument, match="'a' is read-only"):
        scale(a)
    np.testing.assert_array_equal(a, 1)


def test_lists_are_refused_with_a_rewrite(scale):
    with pytest.raises(ArgumentError, match=r"pass np.asarray\(a, dtype=np.float64\)"):
        scale([[1.0, 2.0]])


def test_views_of_copied_arguments_are_refused():
    signature = Signature("head", (ArrayArg("a", "float64", (Dim("N"),)),), ("N",), (ViewResult(0, "float64", 1),), 0)
    artifact = artifact_of(signature, "", shapes="numbers[0] = 0; numbers[1] = 1; numbers[2] = 8;")
    head = compiled_function(load(artifact, resolve_options()))
    assert head(np.arange(3.0)) == [0.0]
    with pytest.raises(ArgumentError, match="returns a view of an argument that had to be copied"):
        head(np.arange(3.0).astype(">f8"))


def test_an_array_to_copy_that_overlaps_another_is_refused():
    args = tuple(ArrayArg(name, "float64", (Dim("N"),), written=name == "b", alias="x") for name in "ab")
    both = compiled_function(load(artifact_of(Signature("both", args, ("N",)), ""), resolve_options()))
    memory = np.zeros(20)
    assert both(memory[1:], memory[:-1]) is None
    with pytest.raises(ArgumentError, match="'a' is not packed in C order"):
        both(memory[::2], memory[:10])
