"""How it is computed: loops, which take any dtype and stride, and a function in C, which takes packed float64.

The C function is part of the environment's declarations here; a library that is installed would be declared, with
``libraries=("heat",)`` and ``library_dirs`` saying where it is.
"""

from dcpy.ir import types
from dcpy.ir.expressions.scalar import Index, Ref, cast, op
from dcpy.ir.nodes import ForeignCall
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import ONE, ZERO, max_of
from dcpy.libraries.api import Environment, ForeignLibrary, expands
from examples.user_library.node import Diffuse

SOURCE = """
static inline void user_diffuse(int64_t n, const double *u, double w, double *out) {
    for (int64_t i = 0; i < n; ++i)
        out[i] = i == 0 || i == n - 1 ? u[i] : u[i] + w * (u[i + 1] - 2 * u[i] + u[i - 1]);
}
"""

HEAT = ForeignLibrary("user.heat", lambda: Environment("user.heat", declarations=SOURCE))


@expands(Diffuse, "maps")
def diffuse_loops(node, f):
    """All points in parallel."""
    u, w, out = f.input("u"), f.input("w"), f.output("out")
    (size,) = u.shape

    def moved(left, middle, right, factor):
        two_middles = op("add", middle, middle)
        return op("add", middle, op("mul", cast(factor, u.dtype), op("add", op("sub", right, two_middles), left)))

    with f.map(Range(ZERO, size)) as i:
        f.put(out.at(i), u.at(i))
    with f.map(Range(ONE, max_of(size - 1, 1))) as i:
        f.compute(out.at(i), moved, u.at(i - 1), u.at(i), u.at(i + 1), w.at())


@expands(Diffuse, "c", environment="user.heat")
def diffuse_in_c(node, f):
    """A call of `user_diffuse`."""
    u, w, out = f.input("u"), f.input("w"), f.output("out")
    if (u.dtype, u.strides, out.strides) != (types.float64, (ONE,), (ONE,)):
        f.decline("takes packed float64 only")
    arguments = (Index(u.shape[0]), "u", cast(Ref("w", w.dtype), types.float64), "out")
    inputs = {"u": u.memlet, "w": w.memlet}
    f.add(ForeignCall("user_diffuse", arguments, inputs, {"out": out.memlet}, "user.heat"))
