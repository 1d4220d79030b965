"""The LAPACK library that dcpy can call: OpenBLAS, by LAPACK's C interface, LAPACKE.

LAPACKE would refuse matrices that hold NaN. NumPy does not, so this is turned off when a program is loaded.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

from dcpy.base.library_environment import Environment
from dcpy.base.prototypes import Prototype, prototype
from dcpy.ir.library.expansions import ForeignLibrary
from dcpy.libraries.blas.environments import OPENBLAS_PREFIX as CBLAS_PREFIX
from dcpy.libraries.blas.environments import find_openblas

LAPACKE_PREFIX = "scipy_LAPACKE_"

#: routine -> parameters; T is the element type, R its real type; ``_work``: with its workspace, which others allocate
ROUTINES = {
    "potrf": "int, char, int, T *, int",
    "getrf": "int, int, int, T *, int, int *",
    "getrs": "int, char, int, int, const T *, int, const int *, T *, int",
    "getri_work": "int, int, T *, int, const int *, T *, int",
    "gesv": "int, int, int, T *, int, int *, T *, int",
    "geqrf_work": "int, int, int, T *, int, T *, T *, int",
    "orgqr_work": "int, int, int, int, T *, int, const T *, T *, int",
    "gesdd": "int, char, int, int, T *, int, R *, T *, int, T *, int",
    "syevd": "int, char, char, int, T *, int, R *",
    "geev": "int, char, char, int, T *, int, T *, T *, int, T *, int",
    "gelsd": "int, int, int, int, T *, int, T *, int, R *, R, int *",
}
_OF_COMPLEX = {"orgqr_work": "ungqr_work", "syevd": "heevd"}
_TYPES = {"s": ("float", "float"), "d": ("double", "double"), "c": ("void", "float"), "z": ("void", "double")}
_DECLARATIONS = """\
extern "C" void scipy_LAPACKE_set_nancheck(int);
static const int dcpy_lapack_nancheck = (scipy_LAPACKE_set_nancheck(0), 0);  // NaN is a number like others
"""


def function(routine: str, letter: str) -> str:
    """The C function of a routine for one precision: ``scipy_LAPACKE_dsyevd``, ``scipy_LAPACKE_zheevd``."""
    return LAPACKE_PREFIX + letter + (_OF_COMPLEX.get(routine, routine) if letter in "cz" else routine)


def prototypes() -> tuple[Prototype, ...]:
    """The C prototypes of the functions that the expansions call, in all four precisions."""
    lines = [
        f"int {function(name, letter)}({parameters.replace('T', element).replace('R', real)});"
        for name, parameters in ROUTINES.items()
        for letter, (element, real) in _TYPES.items()
        if name != "geev" or letter in "cz"  # of real matrices it has other parameters
    ]
    for letter, (element, _) in _TYPES.items():
        factor = f"const {element} *" if letter in "cz" else element
        rest = f"int, int, int, int, int, int, int, {factor}, const {element} *, int, {element} *, int"
        lines.append(f"void {CBLAS_PREFIX}{letter}trsm({rest});")
    return tuple(map(prototype, lines))


@cache
def find_openblas_lapack() -> Environment:
    """LAPACK of OpenBLAS; `ExpansionError` where it is not installed."""
    return replace(find_openblas(), name="lapack.openblas", declarations=_DECLARATIONS, prototypes=prototypes())


OPENBLAS = ForeignLibrary("lapack.openblas", find_openblas_lapack)
