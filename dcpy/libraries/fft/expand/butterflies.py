"""The steps of a mixed-radix transform, as text of dcpy's IR: transforms of 2, 3, 4, 5, 7 points written out.

Stockham's order: a step reads ``a[parity]`` and writes ``a[1 - parity]``, each a plane of real and one of imaginary
parts. `rest` is the length that is left, `stride` the distance of neighbours; ``w[:, k]`` is exp(-2πi k / n). One step
makes of ``rest = radix * m`` points, for each p < m, one transform of the points p, p + m, ..., turned by multiples
of p. In the code of tasklets, ``x0`` and ``y0`` are the real and the imaginary part of point 0.
"""

from __future__ import annotations

import math

RADICES = (4, 2, 3, 5, 7)  # tried in this order


def stages(lanes: int) -> str:
    """The cases of a branch: the step for the first radix that divides `rest`. `lanes` transforms lie side by side."""
    known = " el".join(f"if rest % {radix} == 0 {{{_stage(radix, lanes)}}}" for radix in RADICES)
    return f"{known} else {{{_ANY_RADIX.replace('lanes', str(lanes))}}}"


def _stage(radix: int, lanes: int) -> str:
    reads, writes, code = [], [], [*_transform(radix), "r0 = c0", "i0 = s0"]
    for j in range(radix):
        for plane, (source, target) in enumerate((("x", "r"), ("y", "i"))):
            reads.append(f"{source}{j} <- a[parity, {plane}, q{radix} + stride*(p{radix} + m{radix}*{j})]")
            writes.append(f"{target}{j} -> a[1 - parity, {plane}, q{radix} + stride*({radix}*p{radix} + {j})]")
    for k in range(1, radix):
        turn = f"{k}*p{radix}*(stride//{lanes})"
        reads += [f"u{k} <- w[0, {turn}]", f"v{k} <- w[1, {turn}]"]
        code += [f"r{k} = c{k} * u{k} - s{k} * v{k}", f"i{k} = c{k} * v{k} + s{k} * u{k}"]
    tasklet = f"tasklet ({', '.join(reads)}) -> ({', '.join(writes)}) {{ {'; '.join(code)} }}"
    loops = f"map p{radix} = 0:m{radix}$sequential {{ map q{radix} = 0:stride$vector {{ {tasklet} }} }}"
    return f" let m{radix} = rest // {radix} {loops} let radix = {radix} "


def _transform(radix: int) -> list[str]:
    """``c0 + i s0, ...``: the transform of the points ``x0 + i y0, ...``."""
    match radix:
        case 2:
            return ["c0 = x0 + x1", "s0 = y0 + y1", "c1 = x0 - x1", "s1 = y0 - y1"]
        case 4:
            sums = [f"{p}{j}{j + 2} = {p}{j} + {p}{j + 2}; {p}{j}m = {p}{j} - {p}{j + 2}" for p in "xy" for j in (0, 1)]
            even = ["c0 = x02 + x13", "s0 = y02 + y13", "c2 = x02 - x13", "s2 = y02 - y13"]
            return [*sums, *even, "c1 = x0m + y1m", "s1 = y0m - x1m", "c3 = x0m - y1m", "s3 = y0m + x1m"]
    return _odd_transform(radix)


def _odd_transform(radix: int) -> list[str]:
    """Points j and -j are turned by conjugate factors: their sum meets the cosine only, their difference the sine."""
    half = range(1, radix // 2 + 1)
    code = [f"{p}p{j} = {p}{j} + {p}{radix - j}; {p}m{j} = {p}{j} - {p}{radix - j}" for j in half for p in "xy"]
    code += [f"{out}0 = " + " + ".join([f"{p}0", *(f"{p}p{j}" for j in half)]) for out, p in (("c", "x"), ("s", "y"))]
    for k in half:
        angles = {j: 2 * math.pi * (j * k % radix) / radix for j in half}
        for p in "xy":
            cosines = [f"{math.cos(angles[j])!r} * {p}p{j}" for j in half]
            sines = [f"{math.sin(angles[j])!r} * {p}m{j}" for j in half]
            code += [f"e{p}{k} = " + " + ".join([f"{p}0", *cosines]), f"o{p}{k} = " + " + ".join(sines)]
        code += [f"c{k} = ex{k} + oy{k}; s{k} = ey{k} - ox{k}"]
        code += [f"c{radix - k} = ex{k} - oy{k}; s{radix - k} = ey{k} + ox{k}"]
    return code


# As `_odd_transform`, with loops: results k and -k are the even part, summed up in the place of result k, plus and
# minus i times the odd part, in that of result -k.
_ANY_RADIX = """
  let radix = 11
  while rest % radix != 0 { let radix = radix + 2 }
  let m = rest // radix
  map p = 0:m$sequential {
    map z0 = 0:stride$vector { copy a[parity, 0, z0 + stride*p] -> a[1 - parity, 0, z0 + stride*radix*p]
                              copy a[parity, 1, z0 + stride*p] -> a[1 - parity, 1, z0 + stride*radix*p] }
    loop j0 = 1:radix { map z1 = 0:stride$vector {
      tasklet (x <- a[parity, 0, z1 + stride*(p + m*j0)], y <- a[parity, 1, z1 + stride*(p + m*j0)],
               c <- a[1 - parity, 0, z1 + stride*radix*p], s <- a[1 - parity, 1, z1 + stride*radix*p])
        -> (r -> a[1 - parity, 0, z1 + stride*radix*p], i -> a[1 - parity, 1, z1 + stride*radix*p])
        { r = c + x; i = s + y }
    } }
    loop k = 1:(radix + 1)//2 {
      let even = stride*(radix*p + k)
      let odd = stride*(radix*p + radix - k)
      map z2 = 0:stride$vector {
        tasklet (x <- a[parity, 0, z2 + stride*p], y <- a[parity, 1, z2 + stride*p])
          -> (ex -> a[1 - parity, 0, z2 + even], ey -> a[1 - parity, 1, z2 + even],
              ox -> a[1 - parity, 0, z2 + odd], oy -> a[1 - parity, 1, z2 + odd])
          { ex = x; ey = y; ox = $T(0.0); oy = $T(0.0) }
      }
      loop j = 1:(radix + 1)//2 {
        let turn = j*k*(n//radix) % n
        let one = stride*(p + m*j)
        let other = stride*(p + m*(radix - j))
        map z3 = 0:stride$vector {
          tasklet (x0 <- a[parity, 0, z3 + one], y0 <- a[parity, 1, z3 + one],
                   x1 <- a[parity, 0, z3 + other], y1 <- a[parity, 1, z3 + other], u <- w[0, turn], v <- w[1, turn],
                   ex <- a[1 - parity, 0, z3 + even], ey <- a[1 - parity, 1, z3 + even],
                   ox <- a[1 - parity, 0, z3 + odd], oy <- a[1 - parity, 1, z3 + odd])
            -> (fx -> a[1 - parity, 0, z3 + even], fy -> a[1 - parity, 1, z3 + even],
                px -> a[1 - parity, 0, z3 + odd], py -> a[1 - parity, 1, z3 + odd])
            { fx = ex + u*(x0 + x1); fy = ey + u*(y0 + y1); px = ox + v*(x0 - x1); py = oy + v*(y0 - y1) }
        }
      }
      let turn = k*p*(stride//lanes)
      let back = (radix - k)*p*(stride//lanes)
      map z = 0:stride$vector {
        tasklet (ex <- a[1 - parity, 0, z + even], ey <- a[1 - parity, 1, z + even],
                 ox <- a[1 - parity, 0, z + odd], oy <- a[1 - parity, 1, z + odd],
                 u0 <- w[0, turn], v0 <- w[1, turn], u1 <- w[0, back], v1 <- w[1, back])
          -> (fx -> a[1 - parity, 0, z + even], fy -> a[1 - parity, 1, z + even],
              px -> a[1 - parity, 0, z + odd], py -> a[1 - parity, 1, z + odd]) {
          c0 = ex - oy; s0 = ey + ox; c1 = ex + oy; s1 = ey - ox;
          fx = c0*u0 - s0*v0; fy = c0*v0 + s0*u0; px = c1*u1 - s1*v1; py = c1*v1 + s1*u1
        }
      }
    }
  }
"""
