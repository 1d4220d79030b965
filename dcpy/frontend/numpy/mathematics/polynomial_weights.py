"""Weight functions of orthogonal polynomials (`numpy.polynomial`), by which Gauss quadratures integrate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.polynomial import chebyshev, hermite, hermite_e, laguerre, legendre

from dcpy.frontend.numpy.python_implementations import written_in_python


@written_in_python(chebyshev.chebweight)
def chebweight(x: Any) -> Any:
    """The weight of Chebyshev polynomials, at points between -1 and 1."""
    return 1.0 / (np.sqrt(1.0 + x) * np.sqrt(1.0 - x))


@written_in_python(legendre.legweight)
def legweight(x: Any) -> Any:
    """The weight of Legendre polynomials: 1 everywhere, NaN where a point is no number."""
    return x * 0.0 + 1.0


@written_in_python(hermite.hermweight)
def hermweight(x: Any) -> Any:
    """The weight of physicists' Hermite polynomials."""
    return np.exp(-(x**2))


@written_in_python(hermite_e.hermeweight)
def hermeweight(x: Any) -> Any:
    """The weight of probabilists' Hermite polynomials."""
    return np.exp(-0.5 * x**2)


@written_in_python(laguerre.lagweight)
def lagweight(x: Any) -> Any:
    """The weight of Laguerre polynomials."""
    return np.exp(-x)
