"""What a program is compiled for: types from values, from annotations, and what they become in the SDFG."""

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ArgumentError, FrontendError
from dcpy.frontend.annotations import types_from_annotations
from dcpy.frontend.lower.function_to_sdfg import lower_function
from dcpy.frontend.specialize.argument_types import ArrayType, ConstantType, ScalarType
from dcpy.frontend.specialize.types_from_call import types_from_call
from dcpy.ir import types
from dcpy.ir.symbolic import ONE, sym
from dcpy.ir.text import print_sdfg

N, M = dcpy.symbol("N"), dcpy.symbol("M")


def described(**values):
    return {name: str(kind) for name, kind in types_from_call(values).items()}


def test_equal_sizes_share_a_symbol_and_one_is_a_constant():
    assert described(a=np.ones((3, 4)), b=np.ones((4, 1)), c=np.ones(3, np.float32), N=2) == {
        "a": "float64[M, K]",
        "b": "float64[K, 1]",
        "c": "float32[M]",
        "N": "Python int64",
    }


def test_layouts():
    a = np.ones((4, 6))
    assert described(a=a, t=a.T.copy("F"), s=a[:, ::2], r=a[::-1]) == {
        "a": "float64[N, M]",
        "t": "float64[M, N] (F)",
        "s": "float64[N, K] (strided by axes 0, 1)",
        "r": "float64[N, M] (strided by axes 0, 1)",
    }


def test_arguments_that_share_memory_are_grouped():
    a = np.ones(9)
    found = types_from_call({"x": a[1:], "y": a[:-1], "z": np.ones(8)})
    assert [kind.alias for kind in found.values()] == ["x", "x", ""]


def test_scalars_and_constants():
    found = types_from_call({"i": 3, "f": 1.5, "n": np.int32(3), "b": True, "s": "x", "none": None})
    assert found["i"] == ScalarType(types.int64, weak=True)
    assert found["f"] == ScalarType(types.float64, weak=True)
    assert found["n"] == ScalarType(types.int32)
    assert found["b"] == ConstantType(True) != ConstantType(1)
    assert found["none"] == ConstantType(None)


def test_what_cannot_be_an_argument():
    with pytest.raises(ArgumentError, match="is a list, but an array is needed"):
        types_from_call({"a": [1, 2]})
    with pytest.raises(ArgumentError, match="has the dtype object"):
        types_from_call({"a": np.array([None])})


def annotated(
    a: dcpy.float64[N, N + 1], b: dcpy.float32[2 * M, 3], s: dcpy.int32, i: int, f: float, x: np.complex128, other: str
):
    return a


def test_annotations():
    found = types_from_annotations(annotated)
    assert found["a"] == ArrayType(types.float64, (sym("N"), sym("N") + 1))
    assert found["b"].dims == (sym("M") * 2, ONE * 3)
    assert found["s"] == ScalarType(types.int32, converts=True)
    assert found["i"] == ScalarType(types.int64, weak=True)
    assert found["f"] == ScalarType(types.float64, weak=True)
    assert found["x"] == ScalarType(types.complex128, converts=True)
    assert "other" not in found


def test_textual_annotations():
    def f(a: "dcpy.float64[N, 2 * M - 1]", b: "list[int]"):
        return a

    assert types_from_annotations(f) == {"a": ArrayType(types.float64, (sym("N"), sym("M") * 2 - 1))}

    def g(a: "dcpy.float64[UNKNOWN]"):  # noqa: F821
        return a

    with pytest.raises(FrontendError, match="cannot be read"):
        types_from_annotations(g)


def test_symbols_have_values_inside_programs():
    def f(a: dcpy.float64[N]):
        return N * 2, np.zeros(N + 1)

    sdfg = lower_function(f, types_from_annotations(f)).sdfg
    assert "f64[N + 1]" in print_sdfg(sdfg)

    def g(a: dcpy.float64[N]):
        return a[:M]

    lowered = lower_function(g, types_from_annotations(g))
    assert lowered.free_symbols == ("M",)
    assert lowered.sdfg.arguments == ["a", "M"]


def test_anonymous_symbols_differ():
    assert dcpy.symbol().expr is not dcpy.symbol().expr


def test_annotations_work_in_plain_python():
    assert dcpy.float32(1.5).dtype == np.float32
    assert np.zeros(3, dtype=dcpy.int16).dtype == np.int16
    assert repr(dcpy.float64[N, 3]) == "dcpy.float64[N, 3]"
    assert list(dcpy.map[0:2, 1:3]) == [(0, 1), (0, 2), (1, 1), (1, 2)]
    assert list(dcpy.map[0:6:2]) == [0, 2, 4]


def test_related_sizes_share_a_symbol():
    values = {"field": np.ones((68, 68)), "out": np.ones((64, 64)), "levels": np.ones((64, 3)), "far": np.ones(80)}
    found = {name: str(kind) for name, kind in types_from_call(values, earlier=[]).items()}
    field, out, levels = "float64[N + 4, N + 4]", "float64[N, N]", "float64[N, 3]"
    assert found == {"field": field, "out": out, "levels": levels, "far": "float64[M]"}


def test_related_sizes_form_chains():
    values = {"field": np.ones((68, 68, 60)), "out": np.ones((64, 64, 60))}
    found = {name: str(kind) for name, kind in types_from_call(values, earlier=[]).items()}
    assert found == {"field": "float64[N + 8, N + 8, N]", "out": "float64[N + 4, N + 4, N]"}


def test_python_integers_that_need_more_than_64_bits():
    assert types_from_call({"n": 2**63 - 1})["n"] == ScalarType(types.int64, weak=True)
    with pytest.raises(ArgumentError, match="'n' is 9223372036854775808, which int64 cannot hold"):
        types_from_call({"n": 2**63})
