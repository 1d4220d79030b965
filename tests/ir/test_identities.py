"""Identities: each conflict resolution has one in each dtype that it combines."""

import numpy as np
import pytest

from dcpy.frontend.dataflow.wcr_lambdas import UFUNCS
from dcpy.ir import types
from dcpy.ir.expressions.identities import identity_value, neutral_value
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS
from dcpy.ir.verify.rules.memlets import combines

DTYPES = [
    types.bool_, types.int8, types.uint8, types.int64, types.uint64, types.float32, types.float64, types.complex128,
]  # fmt: skip


@pytest.mark.parametrize("operation", CONFLICT_RESOLUTIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_combining_with_an_identity_changes_nothing(operation, dtype):
    if not combines(operation, dtype.kind):
        return
    values = np.array([0, 1, 1, 0, 1] if dtype.kind == "b" else [0, 1, 2, 77, 100], dtype.numpy)
    for of in (identity_value, neutral_value):
        start = np.full_like(values, of(operation, dtype))
        np.testing.assert_array_equal(UFUNCS[operation](start, values).astype(dtype.numpy), values)


@pytest.mark.parametrize("dtype", [types.float64, types.complex128], ids=str)
def test_the_neutral_value_of_sums_keeps_the_sign_of_zero(dtype):
    total = np.add(np.array(neutral_value("add", dtype)), np.array(-0.0, dtype.numpy))
    assert np.signbit(total.real)


def test_an_operation_without_identity_is_an_error():
    with pytest.raises(ValueError, match="'sub' has no identity"):
        identity_value("sub", types.int64)
