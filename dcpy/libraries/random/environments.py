"""NumPy's own C library of distributions, ``libnpyrandom.a``, which is linked into programs that draw.

NumPy's ``Generator`` is made of the same functions: what they draw is the same by construction. random.h has the rest.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

from dcpy.base.errors import ExpansionError
from dcpy.base.library_environment import Environment
from dcpy.base.prototypes import Prototype, prototype
from dcpy.ir.library.expansions import ForeignLibrary

NAME = "numpy.random"
LIBRARY = "npyrandom"

#: function -> result and parameters after the struct bitgen; d: double, i: int64_t
_DISTRIBUTIONS = {
    "double": """
        standard_uniform: standard_normal: standard_exponential: standard_cauchy: standard_gamma:d exponential:d
        chisquare:d standard_t:d pareto:d weibull:d power:d rayleigh:d uniform:dd normal:dd gamma:dd beta:dd f:dd
        noncentral_chisquare:dd laplace:dd gumbel:dd logistic:dd lognormal:dd wald:dd vonmises:dd noncentral_f:ddd
        triangular:ddd""",
    "float": "standard_uniform_f: standard_normal_f: standard_exponential_f: standard_gamma_f:f",
    "int64_t": "poisson:d geometric:d logseries:d zipf:d negative_binomial:dd hypergeometric:iii",
}
_LETTERS = {"d": "double", "f": "float", "i": "int64_t"}
_FILLS = ("standard_uniform_fill", "standard_normal_fill", "standard_exponential_fill", "standard_exponential_inv_fill")
_UNSIGNED = {"uint64": "uint64_t", "uint32": "uint32_t", "uint16": "uint16_t", "uint8": "uint8_t", "bool": "uint8_t"}


def prototypes() -> tuple[Prototype, ...]:
    """The C prototypes of the library's functions that the expansions call."""
    found = []
    for result, table in _DISTRIBUTIONS.items():
        for name, _, letters in (entry.partition(":") for entry in table.split()):
            found.append(f"{result} random_{name}({', '.join(['void *', *(_LETTERS[x] for x in letters)])});")
    for name in _FILLS:
        found.append(f"void random_{name}(void *, int64_t, double *);")
        found.append(f"void random_{name}_f(void *, int64_t, float *);")
    for name, kind in _UNSIGNED.items():
        found.append(f"void random_bounded_{name}_fill(void *, {kind}, {kind}, int64_t, bool, void *);")
        if name != "uint64":
            rest = f"{kind}, {kind}, {kind}, bool, void *, void *"
            found.append(f"{kind} random_buffered_bounded_{name}(void *, {rest});")
    return tuple(map(prototype, found))


@cache
def find_library() -> Environment:
    """Return NumPy's own library; `ExpansionError` where this NumPy came without."""
    folder = Path(np.__file__).parent / "random" / "lib"
    if not list(folder.glob(f"*{LIBRARY}.*")):
        raise ExpansionError(
            f"this NumPy has no {folder / f'lib{LIBRARY}.a'}", help="install NumPy from PyPI: pip install numpy"
        )
    declarations = (Path(__file__).parent / "random.h").read_text(encoding="utf-8")
    declarations = f"// for NumPy {np.__version__}\n{declarations}"  # another version may draw other numbers
    return Environment(NAME, declarations, prototypes(), (LIBRARY,), (str(folder),))


LIBRARY_OF_NUMPY = ForeignLibrary(NAME, find_library)
