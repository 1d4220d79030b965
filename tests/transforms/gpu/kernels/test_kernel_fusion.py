"""KernelFusion: maps side by side are launched together, where threads can have the same parameters."""

import pytest

from dcpy.transforms.gpu.kernels.kernel_fusion import KernelFusion
from tests.support.passes import Passed

HEAD = "sdfg @f(A: f64[N], B: f64[N], C: f64[N], s: f64[1], m: f64[1], p: i64[N]) symbols(N: size)"


def fused(*maps, largest=32):
    return Passed(f"{HEAD} {{ state {{ {' '.join(maps)} }} }}", KernelFusion(largest))


DOUBLE = "map i = 0:N { tasklet (a <- A[i]) -> (o -> B[i]) { o = 2.0 * a } }"
SQUARE = "map j = 0:N { tasklet (a <- A[j]) -> (o -> C[j]) { o = a * a } }"
SUM = "map k = 0:N { tasklet (a <- A[k]) -> (o -> s[0] (add)) { o = a } }"
MOST = "map l = 0:N { tasklet (a <- A[l]) -> (o -> m[0] (max)) { o = a } }"


def test_maps_over_the_same_points_are_one():
    fused(DOUBLE, SQUARE).becomes(f"""{HEAD} {{ state {{ map i = 0:N {{
        tasklet (a <- A[i]) -> (o -> B[i]) {{ o = 2.0 * a }}
        tasklet (a <- A[i]) -> (o -> C[i]) {{ o = a * a }} }} }} }}""").same_values(N=[0, 4]).says(
        "map i: one kernel with the map over j"
    )


def test_sums_fuse_with_sums():
    found = fused(SUM, DOUBLE, MOST, SQUARE).same_values(N=[1, 4])
    assert found.text.count("map ") == 2
    assert found.text.index("s[0] (add)") < found.text.index("m[0] (max)") < found.text.index("-> B[i]")


@pytest.mark.parametrize(
    "other",
    [
        SUM,  # one thread's, or many blocks'
        SQUARE.replace("0:N", "1:N"),
        SQUARE.replace("A[j]", "B[N - 1 - j]"),
        "map j = 0:N { let k = wrap(p[j], N, 0)  state { tasklet () -> (o -> s[0] (add)) { o = 1.0 } } }",
    ],
)
def test_others_stay_apart(other):
    assert fused(DOUBLE, other).text.count("map ") == 2


def test_sums_of_sums_are_not_one_blocks():
    """Several blocks share the sums of columns: what depends on all of them is another kernel's."""
    first = "map i = 0:N { map k = 0:N { tasklet (a <- A[k], b <- A[i]) -> (o -> B[i] (add)) { o = a * b } } }"
    second = "map j = 0:N { map l = 0:N { tasklet (a <- A[l], b <- B[j]) -> (o -> C[j] (add)) { o = a * b } } }"
    assert fused(first, second).text.count("map ") == 4


def test_kernels_have_a_limited_size():
    assert fused(DOUBLE, SQUARE, largest=1).text.count("map ") == 2
