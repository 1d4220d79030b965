"""Real transforms: real numbers have half a spectrum, so two of them are transformed as one complex number.

Where the length is odd, they are transformed as complex numbers. Symbols as in `mixed_radix_programs`; the backward
transform is written as one of swapped parts by itself.
"""

from __future__ import annotations

from functools import cache

from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import parse_sdfg
from dcpy.ir.types import DType
from dcpy.libraries.fft.expand.mixed_radix_programs import ANY_LENGTH, LoopStyle, call, filled

FORWARD, BACKWARD, COMPLEX = "forward_half", "backward_half", "any_length"


@cache
def program(kind: str, dtype: DType, style: LoopStyle) -> Sdfg:
    """The program `FORWARD`, `BACKWARD` or `COMPLEX` for real numbers of a dtype, with all that it calls.

    It is shared: copy it before use.
    """
    text = {FORWARD: _FORWARD + ANY_LENGTH, BACKWARD: _BACKWARD + ANY_LENGTH, COMPLEX: ANY_LENGTH}[kind]
    return parse_sdfg(style.complete(text, dtype.name, dtype.itemsize))


def _lines_of(name: str, length: str) -> dict[str, str]:
    """Return the strides of packed lines of complex numbers: operand ``x`` or ``y`` is a temporary."""
    return {f"{name}o": f"2*inner*{length}", f"{name}i": f"2*{length}", f"{name}k": "2"}


# With z[k] = x[2k] + i x[2k+1], the transforms of even and of odd elements are E = (Z[k] + conj Z[-k]) / 2 and
# O = (Z[k] - conj Z[-k]) / 2i. The result is E + exp(-2πi k / n) O.
_FORWARD = filled(
    """
sdfg @fft_${tag}_forward_half$head) {
  if n % 2 == 0 {
    $even
  } else {
    $odd
  }
}
sdfg @fft_${tag}_forward_even$head, h: size) {
  data w: $T[2, h + 1] transient
  data z: $T[2*outer*inner*h] transient
  call @fft_${tag}_roots (w = w[0:2, 0:h + 1]) with (K = h + 1, order = n, square = 0) outlined
  $pairs
  map o0 = 0:outer, c0 = 0:inner {
    let first = 2*h*(o0*inner + c0)
    let place = y0 + o0*yo + c0*yi
    tasklet (a <- z[first], b <- z[first + 1]) -> (r0 -> y[place], i0 -> y[place + yim],
      rh -> y[place + h*yk], ih -> y[place + h*yk + yim]) { r0 = a + b; rh = a - b; i0 = $T(0.0); ih = $T(0.0) }
  }
  map o = 0:outer, c = 0:inner, k = 1:h {
    tasklet (a <- z[2*(h*(o*inner + c) + k)], b <- z[2*(h*(o*inner + c) + k) + 1],
             c <- z[2*(h*(o*inner + c) + h - k)], d <- z[2*(h*(o*inner + c) + h - k) + 1], u <- w[0, k], v <- w[1, k])
      -> (re -> y[y0 + o*yo + c*yi + k*yk], im -> y[y0 + o*yo + c*yi + k*yk + yim]) {
      p = b + d; q = c - a; re = $T(0.5) * ((a + c) + (p*u - q*v)); im = $T(0.5) * ((b - d) + (p*v + q*u))
    }
  }
}
sdfg @fft_${tag}_forward_odd$head) {
  data u: $T[2*outer*inner*n] transient
  data z: $T[2*outer*inner*n] transient
  map o0 = 0:outer, c0 = 0:inner, k0 = 0:n {
    tasklet (a <- x[x0 + o0*xo + c0*xi + k0*xk]) -> (re -> u[2*(n*(o0*inner + c0) + k0)],
      im -> u[2*(n*(o0*inner + c0) + k0) + 1]) { re = a; im = $T(0.0) }
  }
  $whole
  map o = 0:outer, c = 0:inner, k = 0:n//2 + 1 {
    copy z[2*(n*(o*inner + c) + k)] -> y[y0 + o*yo + c*yi + k*yk]
    copy z[2*(n*(o*inner + c) + k) + 1] -> y[y0 + o*yo + c*yi + k*yk + yim]
  }
}
""",
    even=call("forward_even", "h = n//2"),
    odd=call("forward_odd"),
    pairs=call(
        "any_length", n="h", y="z[2*outer*inner*h]", xk="2*xk", xim="xk", y0="0", yim="1", **_lines_of("y", "h")
    ),
    whole=call(
        "any_length", x="u[2*outer*inner*n]", y="z[2*outer*inner*n]", x0="0", xim="1", y0="0", yim="1",
        **_lines_of("x", "n"), **_lines_of("y", "n"),
    ),
)  # fmt: skip

# The same, backward: Z[k] = X[k] + conj X[h-k] + i exp(2πi k / n) (X[k] - conj X[h-k]). The imaginary parts of the
# first and, of an even length, the last element do not count.
_BACKWARD = filled(
    """
sdfg @fft_${tag}_backward_half$head) {
  if n % 2 == 0 {
    $even
  } else {
    $odd
  }
}
sdfg @fft_${tag}_backward_even$head, h: size) {
  data w: $T[2, h + 1] transient
  data z: $T[2*outer*inner*h] transient
  call @fft_${tag}_roots (w = w[0:2, 0:h + 1]) with (K = h + 1, order = n, square = 0) outlined
  map o0 = 0:outer, c0 = 0:inner {
    let first = 2*h*(o0*inner + c0)
    let place = x0 + o0*xo + c0*xi
    tasklet (a <- x[place], b <- x[place + h*xk]) -> (re -> z[first], im -> z[first + 1]) { re = a + b; im = a - b }
  }
  map o = 0:outer, c = 0:inner, k = 1:h {
    tasklet (a <- x[x0 + o*xo + c*xi + k*xk], b <- x[x0 + o*xo + c*xi + k*xk + xim],
             c <- x[x0 + o*xo + c*xi + (h - k)*xk], d <- x[x0 + o*xo + c*xi + (h - k)*xk + xim],
             u <- w[0, k], v <- w[1, k])
      -> (re -> z[2*(h*(o*inner + c) + k)], im -> z[2*(h*(o*inner + c) + k) + 1]) {
      p = a - c; q = b + d; re = (a + c) + (p*v - q*u); im = (b - d) + (p*u + q*v)
    }
  }
  $pairs
}
sdfg @fft_${tag}_backward_odd$head) {
  data u: $T[2*outer*inner*n] transient
  data z: $T[2*outer*inner*n] transient
  map o0 = 0:outer, c0 = 0:inner, k0 = 0:n {
    tasklet (a <- x[x0 + o0*xo + c0*xi + min(k0, n - k0)*xk], b <- x[x0 + o0*xo + c0*xi + min(k0, n - k0)*xk + xim])
      -> (re -> u[2*(n*(o0*inner + c0) + k0)], im -> u[2*(n*(o0*inner + c0) + k0) + 1]) {
      re = a; im = select(k0 == 0, $T(0.0), select(2*k0 < n, b, -b))
    }
  }
  $whole
  map o = 0:outer, c = 0:inner, k = 0:n {
    copy z[2*(n*(o*inner + c) + k)] -> y[y0 + o*yo + c*yi + k*yk]
  }
}
""",
    even=call("backward_even", "h = n//2"),
    odd=call("backward_odd"),
    pairs=call(
        "any_length", n="h", x="z[2*outer*inner*h]", x0="1", xim="-1", y0="y0 + yk", yk="2*yk", yim="-yk",
        **_lines_of("x", "h"),
    ),
    whole=call(
        "any_length", x="u[2*outer*inner*n]", y="z[2*outer*inner*n]", x0="1", xim="-1", y0="1", yim="-1",
        **_lines_of("x", "n"), **_lines_of("y", "n"),
    ),
)  # fmt: skip
