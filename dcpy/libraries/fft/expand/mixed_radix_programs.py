"""Mixed-radix programs: Fourier transforms of any length in dcpy's IR, in O(n log n), with nothing but loops.

All work on flat arrays of real numbers. Where the points of a line (one transform) are, symbols say: for ``x`` the
real part of point k of line ``(o, c)`` is at ``x0 + o*xo + c*xi + k*xk``, its imaginary part `xim` behind; for ``y``
likewise. So no operand is transposed or copied first, and the backward transform is the forward one of numbers whose
parts are swapped: ``x0 + 1`` and ``xim = -1``.

    forward_half, backward_half   real numbers, two to a complex one (in `real_transforms`)
    any_length                    decides: short lines, long lines, or lines whose length has a large prime factor
    direct                        some lines side by side, in vectors
    split                         a long line is a matrix: transforms along columns, turns, transforms along rows
    chirp                         Bluestein's: a convolution, by transforms of a longer length without large factors
    lines, roots                  what these are made of: steps in Stockham's order; exp(-2πi k / n)
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from string import Template

from dcpy.libraries.fft.expand.butterflies import stages

PLACES = ("x0", "xo", "xi", "xk", "xim", "y0", "yo", "yi", "yk", "yim")
SYMBOLS = ("X", "Y", "n", "outer", "inner", *PLACES)
#: what all take; the list of symbols is left open for more
HEAD = f"(x: $T[X], y: $T[Y], scale: $T) symbols(X: size, Y: size, n: size, outer, inner, {', '.join(PLACES)}"


def call(name: str, symbols: str = "", **given: str) -> str:
    """A call of a program of this file: operands and symbols are handed on, but for those that are given here.

    An operand that is `given` is a container and its size, ``"z[2*n]"``. `symbols` are those that it has in addition.
    """
    values = {name: name for name in SYMBOLS} | dict(part.split(" = ") for part in symbols.split("; ") if part)
    operands = {"scale": given.pop("scale", "scale")}
    for operand, size in (("x", "X"), ("y", "Y")):
        container, _, extent = given.pop(operand, f"{operand}[{size}]").partition("[")
        values[size] = extent[:-1]
        operands[operand] = f"{container}[0:{extent}"
    for table in ("w", "r"):
        if table in given:
            operands[table] = given.pop(table)
    values |= given
    connected = ", ".join(f"{key} = {value}" for key, value in operands.items())
    bound = ", ".join(f"{key} = {value}" for key, value in values.items())
    return f"call @fft_${{tag}}_{name} ({connected}) with ({bound}) outlined"


def filled(text: str, **calls: str) -> str:
    """`text` with its ``$names`` replaced; the dtype and the steps are left to `complete`."""
    return Template(text).safe_substitute(head=HEAD, **calls)


def _packed(x: str, y: str, *, backward: bool = False) -> str:
    """One transform of m points, from one array of complex numbers to another."""
    sizes = {"n": "m", "outer": "1", "inner": "1", "xk": "2", "yk": "2", "scale": "one"}
    first, other = ("1", "-1") if backward else ("0", "1")
    places = {"x0": first, "xim": other, "y0": first, "yim": other}
    zeros = dict.fromkeys(("xo", "xi", "yo", "yi"), "0")
    return call("split", "n1 = n1; n2 = m//n1", x=f"{x}[2*m]", y=f"{y}[2*m]", **sizes, **places, **zeros)


@dataclass(frozen=True, slots=True)
class LoopStyle:
    """Style of the programs' loops: `line_bytes` of numbers side by side, with schedules of loops in them.

    `by_line` is the condition under which lines are taken one by one or side by side; others are matrices (`split`).
    """

    name: str
    by_line: str
    line_bytes: int = 0
    sequential: str = ""
    vector: str = ""

    def complete(self, text: str, dtype: str, itemsize: int) -> str:
        """The text of programs for one dtype."""
        lanes = max(self.line_bytes // itemsize, 1)
        steps = Template(text).safe_substitute(stages=stages(lanes), by_line=self.by_line)
        words = {"sequential": self.sequential, "vector": self.vector, "tag": f"{self.name}{dtype}"}
        return Template(steps).substitute(series=_series(), T=dtype, W=str(lanes), V=str(lanes - 1), **words)


#: many lines are work for all, and of few each is: the same program for any machine
NEUTRAL = LoopStyle("", "n < 16 or n <= outer*inner")
#: lines side by side fill a vector; short ones do not pay to be split, nor do those that a cache holds many of
CPU = LoopStyle(
    "cpu_", "n < 16 or (inner >= 4 and (n < 4096 or (xi < xk and n < 65536)))", 64, " @sequential", " @vector"
)


_ANY_LENGTH = filled(
    """
sdfg @fft_${tag}_any_length$head) {
  let rest = n
  let prime = 2
  while prime < 32 {
    while rest > 1 and rest % prime == 0 { let rest = rest // prime }
    let prime = prime + 1
  }
  if rest > 1 {
    let unit = 1
    while 16*unit < 2*n - 1 { let unit = 2*unit }
    let units = (2*n - 2)//unit + 1
    if units == 11 { let units = 12 }
    if units == 13 or units == 14 { let units = 15 }
    let m = units*unit
    let n1 = i64(sqrt(f64(m)))
    while m % n1 != 0 { let n1 = n1 - 1 }
    $chirp
  } elif $by_line {
    $direct
  } else {
    let n1 = i64(sqrt(f64(n)))
    while n % n1 != 0 { let n1 = n1 - 1 }
    $split
  }
}
""",
    direct=call("direct"),
    split=call("split", "n1 = n1; n2 = n//n1"),
    chirp=call("chirp", "m = m; n1 = n1"),
)

_DIRECT = filled(
    """
sdfg @fft_${tag}_direct$head) {
  data w: $T[2, n] transient
  call @fft_${tag}_roots (w = w[0:2, 0:n]) with (K = n, order = n, square = 0) outlined
  $lines
}
""",
    lines=call("lines", "R = n; period = 0", w="w[0:2, 0:n]", r="w[0:2, 0:n]"),
)

# Point j1*n2 + j2 is in row j1 and column j2. After the columns, element (k1, j2) turns by k1*j2 / n; after the rows,
# element (k1, k2) is result k1 + k2*n1.
_SPLIT = filled(
    """
sdfg @fft_${tag}_split$head, n1: size, n2: size) {
  data w1: $T[2, n1] transient
  data w2: $T[2, n2] transient
  data w: $T[2, n2 + 1] transient
  data z: $T[2*n] transient
  data one: $T transient
  tasklet () -> (value -> one) { value = $T(1.0) }
  call @fft_${tag}_roots (w = w1[0:2, 0:n1]) with (K = n1, order = n1, square = 0) outlined
  call @fft_${tag}_roots (w = w2[0:2, 0:n2]) with (K = n2, order = n2, square = 0) outlined
  call @fft_${tag}_roots (w = w[0:2, 0:n2 + 1]) with (K = n2 + 1, order = n, square = 0) outlined
  loop o = 0:outer { loop c = 0:inner {
    $columns
    $rows
  } }
}
""",
    columns=call(
        "lines", "R = n2 + 1; period = n2", w="w1[0:2, 0:n1]", r="w[0:2, 0:n2 + 1]", scale="one", y="z[2*n]",
        n="n1", outer="1", inner="n2", x0="x0 + o*xo + c*xi", xi="xk", xk="xk*n2",
        y0="0", yi="2", yk="2*n2", yim="1",
    ),
    rows=call(
        "lines", "R = n2; period = 0", w="w2[0:2, 0:n2]", r="w2[0:2, 0:n2]", x="z[2*n]",
        n="n2", outer="1", inner="n1", x0="0", xi="2*n2", xk="2", xim="1",
        y0="y0 + o*yo + c*yi", yi="yk", yk="yk*n1",
    ),
)  # fmt: skip

# With c[j] = exp(-πi j² / n), since 2jk = j² + k² - (k - j)²: result k is c[k] times the sum of
# x[j] * c[j] * conj(c[k - j]), a convolution.
_CHIRP = filled(
    """
sdfg @fft_${tag}_chirp$head, m: size, n1: size) {
  data w: $T[2, n] transient
  data filter: $T[2*m] transient
  data u: $T[2*m] transient
  data v: $T[2*m] transient
  data z: $T[2*m] transient
  data one: $T transient
  tasklet () -> (value -> one) { value = $T(1.0) }
  call @fft_${tag}_roots (w = w[0:2, 0:n]) with (K = n, order = 2*n, square = 1) outlined
  map j0 = 0:m {
    let at = min(j0, m - j0)
    if at < n {
      tasklet (c <- w[0, at], s <- w[1, at]) -> (r -> u[2*j0], i -> u[2*j0 + 1]) { r = c; i = -s }
    } else {
      tasklet () -> (r -> u[2*j0], i -> u[2*j0 + 1]) { r = $T(0.0); i = $T(0.0) }
    }
  }
  $transform_filter
  map j1 = n:m {
    tasklet () -> (r -> u[2*j1], i -> u[2*j1 + 1]) { r = $T(0.0); i = $T(0.0) }
  }
  loop o = 0:outer { loop c = 0:inner {
    map j2 = 0:n {
      tasklet (a <- x[x0 + o*xo + c*xi + j2*xk], b <- x[x0 + o*xo + c*xi + j2*xk + xim], c <- w[0, j2], s <- w[1, j2])
        -> (r -> u[2*j2], i -> u[2*j2 + 1]) { r = a*c - b*s; i = a*s + b*c }
    }
    $transform_points
    map j3 = 0:m {
      tasklet (a <- v[2*j3], b <- v[2*j3 + 1], c <- filter[2*j3], s <- filter[2*j3 + 1])
        -> (r -> v[2*j3], i -> v[2*j3 + 1]) { r = a*c - b*s; i = a*s + b*c }
    }
    $transform_back
    map j4 = 0:n {
      tasklet (a <- z[2*j4], b <- z[2*j4 + 1], c <- w[0, j4], s <- w[1, j4], factor <- scale)
        -> (r -> y[y0 + o*yo + c*yi + j4*yk], i -> y[y0 + o*yo + c*yi + j4*yk + yim])
        { f = factor / $T(m); r = (a*c - b*s) * f; i = (a*s + b*c) * f }
    }
  } }
}
""",
    transform_filter=_packed("u", "filter"),
    transform_points=_packed("u", "v"),
    transform_back=_packed("v", "z", backward=True),
)

_LINES = """
sdfg @fft_${tag}_lines(x: $T[X], y: $T[Y], w: $T[2, n], r: $T[2, R], scale: $T)
    symbols(X: size, Y: size, n: size, R: size, outer, inner, period, x0, xo, xi, xk, xim, y0, yo, yi, yk, yim) {
  map o = 0:outer, t = 0:(inner + $V)//$W {
    data a: $T[2, 2, n*$W] transient
    let lanes = min($W, inner - t*$W)
    let from = x0 + o*xo + t*$W*xi
    let to = y0 + o*yo + t*$W*yi
    map k0 = 0:n, b0 = 0:lanes$sequential {
      copy x[from + b0*xi + k0*xk] -> a[0, 0, k0*$W + b0]
      copy x[from + b0*xi + k0*xk + xim] -> a[0, 1, k0*$W + b0]
    }
    map k1 = 0:n, b1 = lanes:$W$sequential {
      tasklet () -> (re -> a[0, 0, k1*$W + b1], im -> a[0, 1, k1*$W + b1]) { re = $T(0.0); im = $T(0.0) }
    }
    let parity = 0
    let stride = $W
    let rest = n
    while rest > 1 {
      $stages
      let parity = 1 - parity
      let stride = stride*radix
      let rest = rest//radix
    }
    if period > 0 {
      map k2 = 0:n, b2 = 0:lanes$sequential {
        let high = i64(f64(k2*(t*$W + b2)) * (1.0 / f64(period)))
        let low = k2*(t*$W + b2) - high*period
        tasklet (x <- a[parity, 0, k2*$W + b2], y <- a[parity, 1, k2*$W + b2],
                 u0 <- w[0, high], v0 <- w[1, high], u1 <- r[0, low], v1 <- r[1, low])
          -> (re -> y[to + b2*yi + k2*yk], im -> y[to + b2*yi + k2*yk + yim])
          { u = u0*u1 - v0*v1; v = u0*v1 + v0*u1; re = x*u - y*v; im = x*v + y*u }
      }
    } else {
      map k3 = 0:n, b3 = 0:lanes$sequential {
        tasklet (x <- a[parity, 0, k3*$W + b3], y <- a[parity, 1, k3*$W + b3], f <- scale)
          -> (re -> y[to + b3*yi + k3*yk], im -> y[to + b3*yi + k3*yk + yim]) { re = x*f; im = y*f }
      }
    }
  }
}
"""

_ROOTS = """
sdfg @fft_${tag}_roots(w: $T[2, K]) symbols(K: size, order, square) {
  map k = 0:K {
    tasklet () -> (re -> w[0, k], im -> w[1, k]) {
      turn = k + square*(k*k - k);
      quarter = i64(rint(f64(4*turn) / f64(order)));
      angle = 1.5707963267948966 * f64(4*turn - quarter*order) / f64(order);
      $series;
      is_odd = (quarter & 1) == 1;
      c = select(is_odd, sine, cosine); s = select(is_odd, cosine, sine);
      re = $T(select(((quarter + 1) & 2) == 0, c, -c)); im = $T(select((quarter & 2) == 0, -s, s))
    }
  }
}
"""


def _series() -> str:
    """Taylor's series of sine and cosine for at most an eighth of a turn, to the last bit; unlike calls, vectors."""
    sine, cosine = "0.0", "0.0"
    for n in range(17, 2, -2):
        sine = f"square_ * ({1 / math.factorial(n) * (-1) ** (n // 2)!r} + {sine})"
        cosine = f"square_ * ({1 / math.factorial(n - 1) * (-1) ** (n // 2)!r} + {cosine})"
    return f"square_ = angle * angle; sine = angle + angle * ({sine}); cosine = 1.0 + {cosine}"


ANY_LENGTH = "".join((_ANY_LENGTH, _DIRECT, _SPLIT, _CHIRP, _LINES, _ROOTS))  #: the programs for complex numbers
