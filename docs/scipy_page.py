"""The page of SciPy's functions: what compiles, by module, with the signatures that dcpy takes."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from dcpy.frontend.implements import OPTIONAL, implemented
from dcpy.frontend.scipy.sparse_matrices import CLASSES, Csr
from dcpy.frontend.specialize.record_arguments import SPARSE_FIELDS
from docs.numpy_page import plain

INTRODUCTION = """# SciPy's functions that compile

Made from the registry. Where SciPy is installed and imported, programs call these functions natively: dcpy asks SciPy
for their names and dtypes, and compiles expressions, library nodes and loops of its own. Any other function of SciPy's
is refused; compute it outside of the program, or let the program call it, as
`f = dcpy.callback(scipy.special.iv, returns=...)`.

Values are SciPy's within rtol 1e-13, and 1e-10 for `linalg` and `ndimage`; in single precision 1e-5. `beta`, `betaln`,
`binom`, `comb`, `perm` and `poch` of arguments above 171 subtract logarithms: 1e-10. `j0`, `j1`, `y0`, `y1` and
logarithms of gamma functions are near to SciPy's between -1 and 1: within 1e-14. At infinite arguments, where SciPy
takes limits, functions that are made of gamma functions may be NaN. Signs of eigenvectors may be others. Functions of
real numbers take no complex ones.
"""


SPARSE = """## scipy.sparse

Matrices of the classes {classes} are arguments and globals of programs: `A @ x` with a vector or a dense matrix,
`A.dot(x)`, `A.T @ x`, {members}. They are passed by their arrays: nothing is copied, and no element of a
matrix is written. Sums and products of two sparse matrices, and indexing, are refused.
"""


def scipy_page() -> Iterator[str]:
    """Every function of SciPy's that compiles, by module."""
    packages = [package for package in OPTIONAL if package.startswith("scipy.")]
    for package in packages:
        importlib.import_module(package)
    found = implemented()
    yield INTRODUCTION
    for package in packages:
        lines = [name + plain(found[name]) for name in found if name.startswith(f"{package}.")]
        if lines:
            yield "\n".join((f"## {package}\n\n```text", *lines, "```\n"))
    members = ", ".join(f"`.{name}`" for name in (*SPARSE_FIELDS, *vars(Csr)) if not name.startswith("_"))
    yield SPARSE.format(classes=", ".join(f"`{name}`" for name in CLASSES), members=members)
