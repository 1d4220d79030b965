"""Vector math: the C functions with a vectorized version in the C library (glibc's libmvec).

Their error is at most 4 units in the last place. Only these are declared `omp declare simd`: the linker must find them.
"""

from __future__ import annotations

import os
import platform

from dcpy.base.library_environment import Environment

SINCE_2_22 = "exp log pow sin cos"
SINCE_2_35 = """
    acos acosh asin asinh atan atan2 atanh cbrt cosh erf erfc exp2 expm1 hypot log10 log1p log2 sinh tan tanh
"""
LIBRARY = Environment("libmvec", libraries=("mvec", "m"))


def vector_functions(machine: str = "", libc: str = "") -> frozenset[str]:
    """Names of functions, double and float; empty where this machine's C library has none."""
    if (machine or platform.machine()) != "x86_64":
        return frozenset()
    version = _glibc(libc or _libc())
    names = (SINCE_2_22 if version >= (2, 22) else "") + " " + (SINCE_2_35 if version >= (2, 35) else "")
    return frozenset(name + suffix for name in names.split() for suffix in ("", "f"))


def _libc() -> str:
    """``glibc 2.36``, or "" elsewhere."""
    try:
        return os.confstr("CS_GNU_LIBC_VERSION") or ""
    except (AttributeError, ValueError, OSError):
        return ""


def _glibc(text: str) -> tuple[int, int]:
    name, _, version = text.partition(" ")
    if name != "glibc":
        return (0, 0)
    major, minor = version.split(".")[:2]
    return int(major), int(minor)
