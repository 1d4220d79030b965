"""What devices have no words for: the pass that places computations, and the text of kernels, agree about it."""

import pytest

from dcpy.codegen.gpu.gpu_cpp import DEVICE
from dcpy.transforms.gpu.placement.offloadable import MISSING
from dcpy.transforms.gpu.placement.place_computation import PlaceComputation
from tests.support.passes import Passed


def test_the_table_is_that_of_kernels():
    tables = DEVICE.operations.items()
    wordless = {kind: {name for name, word in table.items() if word is None} for kind, table in tables}
    assert {kind: names for kind, names in wordless.items() if names} == {k: set(names) for k, names in MISSING.items()}


@pytest.mark.parametrize(
    ("dtype", "value", "reason"),
    [
        ("f64", "bessel_j0(a)", "devices have no bessel_j0 of f64"),
        ("f16", "a + a", "devices have no numbers of f16"),
        ("f64", "f64(f16(a))", "devices have no numbers of f16"),
    ],
)
def test_the_host_does_it(dtype, value, reason):
    found = Passed(
        f"sdfg @f(A: {dtype}[N]) symbols(N: size) "
        f"{{ state {{ map i = 0:N {{ tasklet (a <- A[i]) -> (o -> A[i]) {{ o = {value} }} }} }} }}",
        PlaceComputation(),
    )
    found.says(f"on the host: {reason}", applied=False)
    assert "@grid" not in found.text
