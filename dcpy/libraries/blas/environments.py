"""The BLAS libraries that dcpy can call, where to find them, and their C declarations.

OpenBLAS comes from PyPI with dcpy (the wheel scipy-openblas32, whose functions have the prefix ``scipy_``); MKL is used
where it is installed. Both count with 32-bit integers.
"""

from __future__ import annotations

import importlib.util
import sys
from functools import cache
from pathlib import Path

from dcpy.base.errors import ExpansionError
from dcpy.base.installation import install_extra
from dcpy.base.library_environment import Environment
from dcpy.base.platforms import HERE
from dcpy.base.prototypes import Prototype, prototype
from dcpy.ir.library.expansions import ForeignLibrary

OPENBLAS_PREFIX = "scipy_cblas_"
MKL_PREFIX = "cblas_"
_REAL = {"s": "float", "d": "double"}
_MKL_FOLDERS = ("lib", "lib/intel64", "lib64")
_ONEAPI = "/opt/intel/oneapi/mkl/latest"  # where Intel's own installer puts it
_MKL_THREADING_GNU = 3  # one OpenMP runtime per process: that of the compiled program


def cblas_prototypes(prefix: str) -> tuple[Prototype, ...]:
    """The C prototypes of the functions that the expansions call; enumerations are passed as ints."""
    lines = []
    for letter in "sdcz":
        real = _REAL.get(letter)
        value, pointer = (real, real) if real else ("const void *", "void")
        lines += [
            f"void {prefix}{letter}gemm(int, int, int, int, int, int, {value}, const {pointer} *, int, "
            f"const {pointer} *, int, {value}, {pointer} *, int);",
            f"void {prefix}{letter}syrk(int, int, int, int, int, {value}, const {pointer} *, int, {value}, "
            f"{pointer} *, int);",
            f"void {prefix}{letter}gemv(int, int, int, int, {value}, const {pointer} *, int, "
            f"const {pointer} *, int, {value}, {pointer} *, int);",
            f"void {prefix}{letter}ger{'' if real else 'u'}(int, int, int, {value}, const {pointer} *, int, "
            f"const {pointer} *, int, {pointer} *, int);",
        ]
        vectors = f"int, const {pointer} *, int, const {pointer} *, int"
        lines.append(
            f"{real} {prefix}{letter}dot({vectors});" if real else f"void {prefix}{letter}dotu_sub({vectors}, void *);"
        )
    return tuple(map(prototype, lines))


@cache
def find_openblas() -> Environment:
    """OpenBLAS of the wheel scipy-openblas32; `ExpansionError` where it is not installed.

    The wheel is only looked at, not imported: that would load the library into the compiler's process.
    """
    spec = importlib.util.find_spec("scipy_openblas32")
    folder = Path(spec.origin).parent / "lib" if spec is not None and spec.origin else None
    found = sorted(folder.glob(f"libscipy_openblas*{HERE.suffix}")) if folder is not None else []
    if not found:
        raise ExpansionError("OpenBLAS is not installed for this Python", help="pip install scipy-openblas32")
    return Environment(
        "openblas",
        prototypes=cblas_prototypes(OPENBLAS_PREFIX),
        libraries=(found[0].stem.removeprefix("lib"),),
        library_dirs=(str(found[0].parent),),
    )


@cache
def find_mkl() -> Environment:
    """MKL's single library, on the GNU threading layer; `ExpansionError` where it is not installed."""
    return mkl_within((*dict.fromkeys((sys.prefix, sys.base_prefix)), _ONEAPI))


def mkl_within(roots: tuple[str, ...]) -> Environment:
    """MKL under one of the given installation folders; the first that has it.

    Its header has to be there, as mkl-devel brings it: libraries alone came with something else (ScaLAPACK does), and
    what is installed for programs of several ranks changes nothing for those of one.
    """
    for root in roots:
        if not (Path(root) / "include" / "mkl.h").is_file():
            continue
        for folder in (Path(root) / name for name in _MKL_FOLDERS):
            found = sorted(folder.glob("libmkl_rt.so*"), reverse=True)
            if found:
                return Environment(
                    "mkl",
                    declarations=_mkl_threading(),
                    prototypes=cblas_prototypes(MKL_PREFIX),
                    libraries=(f":{found[0].name}",),
                    library_dirs=(str(folder),),
                    opens_more=True,
                )
    raise ExpansionError("MKL is not installed for this Python", help=install_extra("mkl"))


def _mkl_threading() -> str:
    return (
        'extern "C" int MKL_Set_Threading_Layer(int);\n'
        f"static const int dcpy_mkl_layer = MKL_Set_Threading_Layer({_MKL_THREADING_GNU});  // GNU OpenMP\n"
    )


OPENBLAS = ForeignLibrary("openblas", find_openblas)
MKL = ForeignLibrary("mkl", find_mkl)
