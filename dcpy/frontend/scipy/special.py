"""``scipy.special``: its ufuncs that the C library has, or a short formula gives. Dtypes are those of SciPy's loops.

Formulas are computed in double precision. How far they are from SciPy's, which are approximations themselves, the tests
say: 1e-13 relative, but for `BETWEEN_LOGARITHMS`, which lose what logarithms of gamma functions lose.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import scipy.special as sc

from dcpy.base.errors import FrontendError
from dcpy.frontend.implements import implements
from dcpy.frontend.lower.arithmetic.elementwise import UFUNCS, ElementFn
from dcpy.frontend.numpy.ufuncs.ufunc_table import binary, unary
from dcpy.frontend.scipy.formulas import FormulaTerm, Operand, apply, in_double, select
from dcpy.ir.expressions.scalar import ScalarExpr, op

LARGEST_GAMMA = 171.0  # gamma(x) is finite up to here
BETWEEN_LOGARITHMS = ("beta", "betaln", "binom", "poch")


def exp(x: FormulaTerm) -> FormulaTerm:
    """The exponential."""
    return apply("exp", x)


def log(x: FormulaTerm) -> FormulaTerm:
    """The natural logarithm."""
    return apply("log", x)


def log1p(x: FormulaTerm) -> FormulaTerm:
    """The logarithm of 1 + x."""
    return apply("log1p", x)


def gamma(x: Operand) -> FormulaTerm:
    """The gamma function."""
    return apply("gamma", x)


def lgamma(x: Operand) -> FormulaTerm:
    """The logarithm of its magnitude."""
    return apply("lgamma", x)


def _is(x: FormulaTerm, y: FormulaTerm, undefined: FormulaTerm) -> FormulaTerm:
    """`y`, or NaN where `x` is."""
    return select(apply("isnan", x), x, select(apply("isnan", y), y, undefined))


# -- logistic and entropy --------------------------------------------------------------------------------------------


def expit(x: FormulaTerm) -> FormulaTerm:
    """The logistic function."""
    return 1.0 / (1.0 + exp(-x))


def logit(x: FormulaTerm) -> FormulaTerm:
    """Its inverse; near to a half by a difference, which is exact there."""
    near = 2.0 * (x - 0.5)
    return select((x < 0.3) | (x > 0.65), log(x / (1.0 - x)), log1p(near) - log1p(-near))


def log_expit(x: FormulaTerm) -> FormulaTerm:
    """The logarithm of the logistic function."""
    return select(x < 0.0, x - log1p(exp(x)), -log1p(exp(-x)))


def xlogy(x: FormulaTerm, y: FormulaTerm) -> FormulaTerm:
    """``x * log(y)``, and 0 where x is."""
    return select(x.same(0.0) & ~apply("isnan", y), 0.0, x * log(y))


def xlog1py(x: FormulaTerm, y: FormulaTerm) -> FormulaTerm:
    """``x * log1p(y)``, and 0 where x is."""
    return select(x.same(0.0) & ~apply("isnan", y), 0.0, x * log1p(y))


def entr(x: FormulaTerm) -> FormulaTerm:
    """``-x * log(x)``."""
    inner = select(x > 0.0, -x * log(x), select(x.same(0.0), 0.0, -math.inf))
    return select(apply("isnan", x), x, inner)


def rel_entr(x: FormulaTerm, y: FormulaTerm) -> FormulaTerm:
    """``x * log(x / y)``."""
    inside = select(x.same(0.0) & (y >= 0.0), 0.0, math.inf)
    return _is(x, y, select((x > 0.0) & (y > 0.0), x * log(x / y), inside))


def kl_div(x: FormulaTerm, y: FormulaTerm) -> FormulaTerm:
    """``x * log(x / y) - x + y``."""
    inside = select(x.same(0.0) & (y >= 0.0), y, math.inf)
    return _is(x, y, select((x > 0.0) & (y > 0.0), x * log(x / y) - x + y, inside))


# -- normal distribution ---------------------------------------------------------------------------------------------


def ndtr(x: FormulaTerm) -> FormulaTerm:
    """The share of a normal distribution below x."""
    return 0.5 * apply("erfc", x * -math.sqrt(0.5))


def ndtri(p: FormulaTerm) -> FormulaTerm:
    """Return the x for which `ndtr` of x is `p`."""
    return -math.sqrt(2.0) * apply("erfcinv", 2.0 * p)


# -- gamma and what is made of it ------------------------------------------------------------------------------------


def _is_small(*args: FormulaTerm) -> FormulaTerm:
    tests = [apply("abs", arg) < LARGEST_GAMMA for arg in args]
    found = tests[0]
    for test in tests[1:]:
        found = found & test
    return found


def rgamma(x: FormulaTerm) -> FormulaTerm:
    """``1 / gamma(x)``, 0 at the poles."""
    is_pole = (x <= 0.0) & x.same(apply("floor", x))
    return select(is_pole, 0.0, 1.0 / gamma(x))


def _sign(x: FormulaTerm) -> FormulaTerm:
    """The sign of gamma, away from its poles."""
    even = apply("fmod", apply("floor", x), 2.0).same(0.0)
    return select((x > 0.0) | even, 1.0, -1.0)


def betaln(a: FormulaTerm, b: FormulaTerm) -> FormulaTerm:
    """The logarithm of the magnitude of the beta function."""
    return select(a.same(0.0) | b.same(0.0), math.inf, lgamma(a) + lgamma(b) - lgamma(a + b))


def beta(a: FormulaTerm, b: FormulaTerm) -> FormulaTerm:
    """``gamma(a) * gamma(b) / gamma(a + b)``."""
    large = _sign(a) * _sign(b) * _sign(a + b) * exp(betaln(a, b))
    found = select(_is_small(a, b, a + b), gamma(a) * rgamma(a + b) * gamma(b), large)
    return select(a.same(0.0) & b.same(0.0), math.inf, found)


def binom(n: FormulaTerm, k: FormulaTerm) -> FormulaTerm:
    """Return the number of ways to choose `k` of `n`; whole numbers are rounded as long as floats hold them."""
    plain = gamma(n + 1.0) * rgamma(k + 1.0) * rgamma(n - k + 1.0)
    sign = _sign(n + 1.0) * _sign(k + 1.0) * _sign(n - k + 1.0)
    large = sign * exp(lgamma(n + 1.0) - lgamma(k + 1.0) - lgamma(n - k + 1.0))
    found = select(_is_small(n + 1.0, k + 1.0, n - k + 1.0), plain, large)
    is_whole = n.same(apply("floor", n)) & k.same(apply("floor", k)) & (n >= 0.0)
    inside = select((k < 0.0) | (k > n), 0.0, select(found < 2.0**50, apply("rint", found), found))
    return select(is_whole, inside, found)


def poch(z: FormulaTerm, m: FormulaTerm) -> FormulaTerm:
    """``gamma(z + m) / gamma(z)``."""
    large = _sign(z) * _sign(z + m) * exp(lgamma(z + m) - lgamma(z))
    found = select(_is_small(z, z + m), rgamma(z) / rgamma(z + m), large)
    is_pole = rgamma(z + m).same(0.0) & ~rgamma(z).same(0.0) & (z + m <= 0.0)
    return select(m.same(0.0), 1.0, select(is_pole, math.inf, found))


# -- powers ----------------------------------------------------------------------------------------------------------


def boxcox(x: FormulaTerm, power: FormulaTerm) -> FormulaTerm:
    """``(x**power - 1) / power``, the logarithm for a power of 0."""
    return select(apply("abs", power) < 1e-19, log(x), apply("expm1", power * log(x)) / power)


def boxcox1p(x: FormulaTerm, power: FormulaTerm) -> FormulaTerm:
    """The same of ``1 + x``."""
    found = apply("expm1", power * log1p(x)) / power
    return select((apply("abs", power) < 1e-19) | x.same(0.0), log1p(x), found)


def inv_boxcox(y: FormulaTerm, power: FormulaTerm) -> FormulaTerm:
    """The inverse of `boxcox`."""
    return select(power.same(0.0), exp(y), exp(log1p(power * y) / power))


def inv_boxcox1p(y: FormulaTerm, power: FormulaTerm) -> FormulaTerm:
    """The inverse of `boxcox1p`."""
    return select(power.same(0.0), apply("expm1", y), apply("expm1", log1p(power * y) / power))


def exp10(x: FormulaTerm) -> FormulaTerm:
    """Powers of 10."""
    return apply("pow", 10.0, x)


def exprel(x: FormulaTerm) -> FormulaTerm:
    """``(exp(x) - 1) / x``."""
    return select(apply("abs", x) < 1e-16, 1.0, select(x > 717.0, math.inf, apply("expm1", x) / x))


def cosm1(x: FormulaTerm) -> FormulaTerm:
    """``cos(x) - 1`` without cancellation."""
    half = apply("sin", 0.5 * x)
    return -2.0 * half * half


def huber(delta: FormulaTerm, r: FormulaTerm) -> FormulaTerm:
    """A square near to 0, and linear beyond."""
    size = apply("abs", r)
    found = select(size <= delta, 0.5 * r * r, delta * (size - 0.5 * delta))
    return select(delta < 0.0, math.inf, found)


def pseudo_huber(delta: FormulaTerm, r: FormulaTerm) -> FormulaTerm:
    """The same, smooth."""
    ratio = r / delta
    found = delta * delta * apply("expm1", 0.5 * log1p(ratio * ratio))
    return select(delta < 0.0, math.inf, select(delta.same(0.0) | r.same(0.0), 0.0, found))


#: those that are one operation, and those that are formulas
OPERATIONS: dict[np.ufunc, str] = {
    sc.erf: "erf", sc.erfc: "erfc", sc.gamma: "gamma", sc.gammaln: "lgamma", sc.j0: "bessel_j0", sc.j1: "bessel_j1",
    sc.y0: "bessel_y0", sc.y1: "bessel_y1", sc.exp2: "exp2", sc.expm1: "expm1", sc.log1p: "log1p", sc.cbrt: "cbrt",
    sc.erfinv: "erfinv", sc.erfcinv: "erfcinv", sc.digamma: "digamma",
}  # fmt: skip
_FORMULAS: dict[np.ufunc, Callable[..., FormulaTerm]] = {
    sc.expit: expit, sc.logit: logit, sc.log_expit: log_expit, sc.xlogy: xlogy, sc.xlog1py: xlog1py,
    sc.entr: entr, sc.rel_entr: rel_entr, sc.kl_div: kl_div, sc.ndtr: ndtr, sc.ndtri: ndtri,
    sc.beta: beta, sc.betaln: betaln, sc.binom: binom, sc.poch: poch, sc.rgamma: rgamma,
    sc.boxcox: boxcox, sc.boxcox1p: boxcox1p, sc.inv_boxcox: inv_boxcox,
    sc.inv_boxcox1p: inv_boxcox1p, sc.exprel: exprel, sc.cosm1: cosm1, sc.huber: huber,
    sc.pseudo_huber: pseudo_huber, sc.exp10: exp10,
}  # fmt: skip
FORMULAS: dict[np.ufunc, ElementFn] = {function: in_double(formula) for function, formula in _FORMULAS.items()}


def _of_reals(function: np.ufunc, fn: ElementFn) -> ElementFn:
    def call(*args: ScalarExpr) -> ScalarExpr:
        if any(arg.dtype.kind == "c" for arg in args):
            raise FrontendError(
                f"scipy.special.{function.__name__} of complex numbers is not compiled",
                help="write it for real numbers, or compute it outside of the program",
            )
        return fn(*args)

    return call


def _operation(name: str) -> ElementFn:
    return lambda *args: op(name, *args)


for _function, _fn in ({key: _operation(name) for key, name in OPERATIONS.items()} | FORMULAS).items():
    if _function not in UFUNCS:  # some are NumPy's own
        UFUNCS[_function] = _of_reals(_function, _fn)
        implements(_function)((unary if _function.nin == 1 else binary)(_function))
