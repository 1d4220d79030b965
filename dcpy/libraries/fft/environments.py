"""FFTW: where to find it, and what a program needs to call it.

FFTW comes with the wheel of pyfftw (the extra ``fft``), or from the system. Programs call a function of their
own (`FUNCTION`), which keeps FFTW's plans: making one costs more than a short transform.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from string import Template

from dcpy.base.errors import ExpansionError
from dcpy.base.installation import install_extra
from dcpy.base.library_environment import Environment
from dcpy.base.platforms import HERE
from dcpy.ir import types
from dcpy.ir.library.expansions import ForeignLibrary

FUNCTION = {types.float64: "dcpy_fftw", types.float32: "dcpy_fftwf"}
_PREFIX = {types.float64: "fftw", types.float32: "fftwf"}
_LIBRARIES = ("libfftw3", "libfftw3f")
_FOLDERS = ("lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu")

_SHARED = """\
extern "C" int sched_yield(void);

struct dcpy_fftw_dim {
    int64_t n, from, to;
};

struct dcpy_fftw_plan {
    int64_t key[13], users, used;
    void *plan;
};

// FFTW may make one plan at a time, whichever program asks: inline variables are one for the whole process.
struct dcpy_fftw_plans {
    char busy;
    int64_t clock;
    dcpy_fftw_plan kept[32];

    void lock() { while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) sched_yield(); }
    void unlock() { __atomic_clear(&busy, __ATOMIC_RELEASE); }
};
"""

# Kinds: 0 forward, 1 backward, 2 from real numbers, 3 to real numbers. 64: estimate; 16: keep the input.
_FUNCTION = """\
extern "C" void *${p}_plan_guru64_dft(int, const dcpy_fftw_dim *, int, const dcpy_fftw_dim *, void *, void *, int,
                                      unsigned);
extern "C" void *${p}_plan_guru64_dft_r2c(int, const dcpy_fftw_dim *, int, const dcpy_fftw_dim *, void *, void *,
                                          unsigned);
extern "C" void *${p}_plan_guru64_dft_c2r(int, const dcpy_fftw_dim *, int, const dcpy_fftw_dim *, void *, void *,
                                          unsigned);
extern "C" void ${p}_execute_dft(void *, void *, void *);
extern "C" void ${p}_execute_dft_r2c(void *, void *, void *);
extern "C" void ${p}_execute_dft_c2r(void *, void *, void *);
extern "C" void ${p}_destroy_plan(void *);
extern "C" int ${p}_alignment_of(void *);

inline dcpy_fftw_plans ${p}_dcpy_plans;

// Transforms outer*inner lines of n points; returns whether there was no memory for a plan.
[[maybe_unused]] static int32_t $function(int32_t kind, void *x, void *y, int64_t n, int64_t outer, int64_t xo,
                                          int64_t yo, int64_t inner, int64_t xi, int64_t yi, int64_t xk, int64_t yk)
{
    if (outer == 0 || inner == 0) return 0;
    // A plan is for arrays of the same strides and alignments, which are one array or not, as those it was made for.
    const int64_t key[13] = {kind, n, outer, xo, yo, inner, xi, yi, xk, yk, ${p}_alignment_of(x), ${p}_alignment_of(y),
                             x == y};
    dcpy_fftw_plans &plans = ${p}_dcpy_plans;
    dcpy_fftw_plan *found = nullptr, *oldest = nullptr;
    plans.lock();
    for (dcpy_fftw_plan &kept : plans.kept) {
        if (kept.plan != nullptr && __builtin_memcmp(kept.key, key, sizeof(key)) == 0) found = &kept;
        if (kept.users == 0 && (oldest == nullptr || kept.used < oldest->used)) oldest = &kept;
    }
    void *plan = found == nullptr ? nullptr : found->plan;
    if (found == nullptr) {
        const dcpy_fftw_dim points = {n, xk, yk}, lines[2] = {{outer, xo, yo}, {inner, xi, yi}};
        plan = kind == 3   ? ${p}_plan_guru64_dft_c2r(1, &points, 2, lines, x, y, 64 | 16)
               : kind == 2 ? ${p}_plan_guru64_dft_r2c(1, &points, 2, lines, x, y, 64 | 16)
                           : ${p}_plan_guru64_dft(1, &points, 2, lines, x, y, kind == 0 ? -1 : 1, 64 | 16);
        if (plan != nullptr && oldest != nullptr) {
            if (oldest->plan != nullptr) ${p}_destroy_plan(oldest->plan);
            __builtin_memcpy(oldest->key, key, sizeof(key));
            oldest->plan = plan;
            found = oldest;
        }
    }
    if (found != nullptr) {
        found->users++;
        found->used = ++plans.clock;
    }
    plans.unlock();
    if (plan == nullptr) return 1;
    if (kind == 3) ${p}_execute_dft_c2r(plan, x, y);
    else if (kind == 2) ${p}_execute_dft_r2c(plan, x, y);
    else ${p}_execute_dft(plan, x, y);
    plans.lock();
    if (found != nullptr) found->users--;
    else ${p}_destroy_plan(plan);
    plans.unlock();
    return 0;
}
"""


@cache
def find_fftw() -> Environment:
    """FFTW in both precisions; `ExpansionError` where it is not installed."""
    for folder in _places():
        found = [_library(folder, name) for name in _LIBRARIES]
        if all(found):
            return Environment(
                "fftw",
                declarations="\n".join([_SHARED, *map(_function, FUNCTION)]),
                libraries=tuple(f":{name}" for name in found),
                library_dirs=(str(folder),),
            )
    raise ExpansionError("FFTW is not installed for this Python", help=install_extra("fft"))


def _function(dtype: types.DType) -> str:
    return Template(_FUNCTION).substitute(p=_PREFIX[dtype], function=FUNCTION[dtype])


def _places() -> Iterator[Path]:
    """Folders that may have it. The wheel is only looked at, not imported."""
    spec = importlib.util.find_spec("pyfftw")
    if spec is not None and spec.origin:
        yield Path(spec.origin).parent.parent / "pyfftw.libs"
    for root in dict.fromkeys((sys.prefix, sys.base_prefix, "/usr", "/usr/local")):
        yield from (Path(root) / folder for folder in _FOLDERS)


def _library(folder: Path, name: str) -> str:
    """The library's file in a folder: ``libfftw3.so``, ``libfftw3.so.3``, ``libfftw3-6b98.so.3.5``; "" without.

    On macOS: ``libfftw3.3.dylib``.
    """
    files = (*folder.glob(f"{name}{HERE.suffix}*"), *folder.glob(f"{name}[-.]*{HERE.suffix}*"))
    return min((file.name for file in files), default="")


FFTW = ForeignLibrary("fftw", find_fftw)
