"""Free symbols (FINDINGS, section 3): ``program(A, N=5)``, symbols in no shape, steps and bounds of maps."""

import numpy as np
import pytest

import dcpy
from tests.support.lowering import refusal

N, M, K = dcpy.symbols("N M K")
X = np.arange(6.0)


@dcpy.program
def scaled(A: dcpy.float64[N]):
    return A * K + N


@dcpy.program
def strided(A):
    for i in dcpy.map[0:M:K]:
        A[i] = N
    return A


def helper(a: dcpy.float64[N], b: dcpy.float64[M]):
    return N * 100 + M * 10 + K


@dcpy.program
def calling(A: dcpy.float64[N]):
    outer = N
    total = 0
    for i in dcpy.map[0:1]:
        A[i] = helper(A[1:], A[2:])  # evaluated in place
    return outer, helper(A[1:], A[2:]), helper(A[1:], A[2:], K=7), total


# -- interpreted -----------------------------------------------------------------------------------------------------


def test_a_symbol_of_no_shape_is_an_argument_of_the_sdfg():
    sdfg = scaled.to_sdfg()
    assert sdfg.arguments == ["A", "K"]
    assert np.array_equal(sdfg.interpret(A=X, K=3), X * 3 + 6)
    assert np.array_equal(sdfg.interpret(A=X, K=3, N=6), X * 3 + 6)


def test_sizes_given_by_keyword_must_be_right():
    sdfg = scaled.to_sdfg()
    with pytest.raises(dcpy.ArgumentError, match="got N=5, but 'A' has the size 6 along axis 0"):
        sdfg.interpret(A=X, K=3, N=5)
    with pytest.raises(dcpy.ArgumentError, match="got N=5, but 'A' has the size 6"):
        scaled(X, N=5, K=1)
    with pytest.raises(dcpy.ArgumentError, match=r"K=2\.5"):
        scaled(X, K=2.5)


def test_symbols_that_nothing_tells():
    with pytest.raises(dcpy.ArgumentError, match=r"(?s)needs the symbol 'K'.*keyword: scaled\(\.\.\., K=\.\.\.\)"):
        scaled(X)
    with pytest.raises(TypeError, match="unexpected keyword argument 'J'"):
        scaled(X, J=5)


def test_sizes_of_unannotated_arrays_are_not_mistaken_for_symbols():
    def f(a):
        return a * N

    sdfg = dcpy.program(f).to_sdfg(X)
    assert sdfg.arguments == ["a", "N"]
    assert np.array_equal(sdfg.interpret(a=X, N=2), X * 2)


def test_symbols_of_functions_that_are_called():
    sdfg = calling.to_sdfg()
    values = X.copy()
    assert sdfg.interpret(A=values, K=3) == (6, 543, 547, 0)
    assert values[0] == 543


def test_maps_go_up():
    sdfg = strided.to_sdfg(X, N=9, M=5, K=2)
    assert np.array_equal(sdfg.interpret(A=X.copy(), N=9, M=5, K=2), [9, 1, 9, 3, 9, 5])
    with pytest.raises(ValueError, match=r"the step of dcpy\.map must be positive, not -1"):
        sdfg.interpret(A=X.copy(), N=9, M=5, K=-1)


def test_symbols_with_types_and_promises():
    a = dcpy.symbol("a_size", dtype=dcpy.int32, positive=True)
    assert str(a + 1) == "a_size + 1"
    with pytest.raises(dcpy.FrontendError, match="symbols are integers"):
        dcpy.symbol("x", dtype=dcpy.float64)


# -- compiled --------------------------------------------------------------------------------------------------------


@pytest.mark.cc
def test_compiled():
    assert np.array_equal(scaled(X, K=3), X * 3 + 6)
    assert np.array_equal(scaled(X, N=6, K=4), X * 4 + 6)
    assert np.array_equal(scaled(A=X[:4], K=np.int32(2)), X[:4] * 2 + 4)
    assert np.array_equal(scaled(np.ones(1), K=5, N=1), [6.0])
    assert np.array_equal(scaled(np.ones(1), K=5), [6.0])
    assert np.array_equal(strided(X.copy(), N=9, M=5, K=2), [9, 1, 9, 3, 9, 5])
    with pytest.raises(ValueError, match="must be positive"):
        strided(X.copy(), N=9, M=5, K=0)
    assert calling(X.copy(), K=3) == (6, 543, 547, 0)
    compiled = scaled.compile()
    assert np.array_equal(compiled(A=X, K=3, N=6), X * 3 + 6)
    with pytest.raises(dcpy.ArgumentError, match="got N=7"):
        compiled(A=X, K=3, N=7)


@pytest.mark.cc
def test_one_specialization_for_all_values():
    before = scaled(X, K=3)
    calls = scaled._symbolic[("K",)]
    count = calls.specializations
    for k in range(5):
        assert np.array_equal(scaled(X, K=k), X * k + 6)
    assert calls.specializations == count
    assert before.shape == (6,)


# -- SDFGs in programs -----------------------------------------------------------------------------------------------


def _scaling(A: dcpy.float64[N], out: dcpy.float64[N], factor: dcpy.float64):
    out[:] = A * factor + K


SCALING = dcpy.program(_scaling).to_sdfg()
RESULT = dcpy.program(lambda A: A.sum(axis=0) * 2).to_sdfg(np.ones((3, 4)))
WHOLE = dcpy.program(_scaling).to_sdfg()


@dcpy.program
def uses_sdfgs(a, m):
    b = np.empty_like(a)
    SCALING(A=a, out=b, factor=2.0, K=3)
    SCALING(a, m[:, 0], 0.5, K=a.shape[0])
    for t in range(2):
        WHOLE(A=b, out=a, factor=1, K=t, N=6)
    return b, RESULT(m)


def _uses_sdfgs(a, m):
    b = a * 2 + 3
    m[:, 0] = a * 0.5 + 6
    a[:] = b + 1
    return b, m.sum(axis=0) * 2


def test_sdfgs_called_in_programs():
    a, m, a2, m2 = X.copy(), np.ones((6, 4)), X.copy(), np.ones((6, 4))
    mine = uses_sdfgs.to_sdfg(a, m).interpret(a=a, m=m)
    theirs = _uses_sdfgs(a2, m2)
    for one, other in zip((*mine, a, m), (*theirs, a2, m2), strict=True):
        assert np.array_equal(one, other)


@pytest.mark.cc
def test_sdfgs_called_in_programs_compiled():
    a, m, a2, m2 = X.copy(), np.ones((6, 4)), X.copy(), np.ones((6, 4))
    for one, other in zip((*uses_sdfgs(a, m), a, m), (*_uses_sdfgs(a2, m2), a2, m2), strict=True):
        assert np.array_equal(one, other)


def test_sdfgs_in_maps():
    def f(m, out):
        for i in dcpy.map[0 : m.shape[0]]:
            SCALING(A=m[i], out=out[i], factor=2.0, K=1)

    m, out = np.ones((3, 4)), np.zeros((3, 4))
    dcpy.program(f).to_sdfg(m, out).interpret(m=m, out=out)
    assert np.array_equal(out, np.full((3, 4), 3.0))


def test_refused_calls_of_sdfgs():
    def missing(a):
        SCALING(A=a, out=a.copy())

    def unknown(a):
        SCALING(A=a, out=a.copy(), factor=1.0, J=3)

    def other_type(a):
        SCALING(A=a.astype(np.float32), out=a, factor=1.0, K=1)

    def overlapping(a):
        SCALING(A=a, out=a, factor=1.0, K=1)

    def other_size(a):
        SCALING(A=a, out=np.zeros(3), factor=1.0, K=1, N=6)

    assert "_scaling() is missing the arguments factor" in refusal(missing, X)
    assert "_scaling() got an unexpected keyword argument 'J'" in refusal(unknown, X)
    assert "_scaling() takes 'A' as an array float64[N], not an array float32" in refusal(other_type, X)
    assert "the arguments 'A' and 'out' of _scaling() may share memory" in refusal(overlapping, X)
    assert "_scaling() takes 'out' with a size of N, which is 6, not 3" in refusal(other_size, X)
