"""Partial derivatives of the scalar operations, as texts in the expression language of the IR.

A text is over the arguments ``a``, ``b``, ``c`` and the value ``y``; ``0`` stands for no dependence. At kinks: the
derivative of `abs`, `sign` and rounding at a jump is 0, ties of `max` and `min` have one half each. A real value of a
complex argument has the real part of the product with its partial.

Sources: Abramowitz and Stegun, chapters 4, 6, 7 and 9; ``mod`` as ``a - b*floor(a/b)``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Partials:
    """Partials of an operation: a text for each argument.

    `linear`: the operation of the tangents is the tangent of the operation, and there are no texts. `singular`: a
    partial may be infinite or NaN where the value is finite, so that 0 times it must be taken as 0. `refused` says why
    there are none.
    """

    texts: tuple[str, ...] = ()
    linear: bool = False
    singular: bool = False
    refused: str = ""

    @property
    def is_flat(self) -> bool:
        """Return whether the value has derivative 0 wherever it has one."""
        return not self.linear and not self.refused and all(text == "0" for text in self.texts)


_TIE = "@select(a == b, 0.5, @select({first}, 1.0, 0.0))"  # one half each
_SMOOTH = {
    "add": ("1", "1"),
    "sub": ("1", "-1"),
    "mul": ("b", "a"),
    "neg": ("-1",),
    "square": ("2.0*a",),
    "exp": ("y",),
    "exp2": ("0.6931471805599453*y",),
    "expm1": ("y + 1.0",),
    "sin": ("cos(a)",),
    "cos": ("-sin(a)",),
    "tan": ("1.0 + y*y",),
    "atan": ("1.0/(1.0 + a*a)",),
    "sinh": ("cosh(a)",),
    "cosh": ("sinh(a)",),
    "tanh": ("1.0 - y*y",),
    "asinh": ("1.0/sqrt(a*a + 1.0)",),
    "deg2rad": ("0.017453292519943295",),
    "rad2deg": ("57.29577951308232",),
    "abs": ("sign(a)",),
    "max": (_TIE.format(first="a > b"), _TIE.format(first="b > a")),
    "min": (_TIE.format(first="a < b"), _TIE.format(first="b < a")),
    "fmax": (_TIE.format(first="a > b or isnan(b)"), _TIE.format(first="b > a or isnan(a)")),
    "fmin": (_TIE.format(first="a < b or isnan(b)"), _TIE.format(first="b < a or isnan(a)")),
    "copysign": ("@copysign(1.0, a)*@copysign(1.0, b)", "0"),
    "heaviside": ("0", "@select(a == 0.0, 1.0, 0.0)"),
    "erf": ("1.1283791670955126*exp(-(a*a))",),
    "erfc": ("-1.1283791670955126*exp(-(a*a))",),
    "bessel_j0": ("-bessel_j1(a)",),
    "bessel_j1": ("@select(a == 0.0, 0.5, bessel_j0(a) - y/a)",),
    "ldexp": ("@ldexp(1.0, b)", "0"),
}
_SINGULAR = {
    "div": ("1.0/b", "-(y/b)"),
    "pow": ("@select(b == 0.0, 0.0, b*a**(b - 1.0))", "@select(a == 0.0, 0.0, y*log(a))"),
    "sqrt": ("0.5/y",),
    "cbrt": ("1.0/(3.0*(y*y))",),
    "reciprocal": ("-(y*y)",),
    "log": ("1.0/a",),
    "log2": ("1.0/(0.6931471805599453*a)",),
    "log10": ("1.0/(2.302585092994046*a)",),
    "log1p": ("1.0/(1.0 + a)",),
    "asin": ("1.0/sqrt((1.0 - a)*(1.0 + a))",),
    "acos": ("-1.0/sqrt((1.0 - a)*(1.0 + a))",),
    "acosh": ("1.0/(sqrt(a - 1.0)*sqrt(a + 1.0))",),
    "atanh": ("1.0/((1.0 - a)*(1.0 + a))",),
    "atan2": ("b/(a*a + b*b)", "-(a/(a*a + b*b))"),
    "hypot": ("@select(y == 0.0, 0.0, a/y)", "@select(y == 0.0, 0.0, b/y)"),
    "logaddexp": ("exp(a - y)", "exp(b - y)"),
    "logaddexp2": ("exp2(a - y)", "exp2(b - y)"),
    "mod": ("1", "-floor(a/b)"),
    "fmod": ("1", "-trunc(a/b)"),
    "ieee_remainder": ("1", "(y - a)/b"),
    "gamma": ("y*digamma(a)",),
    "lgamma": ("digamma(a)",),
    "erfinv": ("0.886226925452758*exp(y*y)",),
    "erfcinv": ("-0.886226925452758*exp(y*y)",),
    "bessel_y0": ("-bessel_y1(a)",),
    "bessel_y1": ("bessel_y0(a) - y/a",),
}
_OF_THE_MAGNITUDE = {"cabs": ("conj(a)/complex(y, 0.0)",)}
_LINEAR = "conj real imag complex select"
_FLAT = {
    1: "sign floor ceil rint trunc spacing invert not isnan isinf isfinite signbit ctz of_bits exponent",
    2: "or and eq ne lt le gt ge bitor bitxor bitand lshift rshift floordiv nextafter gcd lcm xor round_to "
    "add_fits sub_fits mul_fits pow_fits lshift_fits",
    3: "powmod range_length",
}
_REFUSED = {"digamma": "there is no trigamma function yet", "bits": "it takes the bits of a number"}

PARTIALS: dict[str, Partials] = {
    **{name: Partials(texts) for name, texts in _SMOOTH.items()},
    **{name: Partials(texts, singular=True) for name, texts in (_SINGULAR | _OF_THE_MAGNITUDE).items()},
    **{name: Partials(linear=True) for name in _LINEAR.split()},
    **{name: Partials(("0",) * arity) for arity, names in _FLAT.items() for name in names.split()},
    **{name: Partials(refused=reason) for name, reason in _REFUSED.items()},
}
