"""The library node of Fourier transforms, along one axis of an array. How to compute it: `libraries.fft.expand`.

The dtypes of the operands say which transform it is: complex to complex; real to complex, of which only the first half
of the spectrum is computed, since the other mirrors it; or such a half to real.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from dcpy.ir.nodes import LibraryNode
from dcpy.ir.symbolic import Ranges

Norm = Literal["backward", "ortho", "forward"]
NORMS = get_args(Norm)


@dataclass(eq=False)
class Transform(LibraryNode):
    """``y[k] = factor * sum(x[j] * exp(∓2πi j k / n) for j in range(n))`` along `axis`; plus where `backward`.

    `norm` is NumPy's: which direction has the factor 1/n, or "ortho" for 1/√n in both. The sizes of ``x`` and ``y``
    agree, but for a half spectrum, which has n // 2 + 1 elements along `axis`. Both are of one precision.
    """

    kind = "fft.transform"
    axis: int = 0
    backward: bool = False
    norm: Norm = "backward"

    def meaning(self, inputs: Mapping[str, np.ndarray[Any, Any]], outputs: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """``numpy.fft``'s function for these dtypes."""
        x, y = inputs["x"], outputs["y"]
        if x.size == 0:
            return
        to_real = y.dtype.kind == "f"
        if x.dtype.kind == "f":
            y[...] = np.fft.rfft(x, axis=self.axis, norm=self.norm)
        elif to_real:
            y[...] = np.fft.irfft(x, y.shape[self.axis], self.axis, self.norm)
        else:
            y[...] = (np.fft.ifft if self.backward else np.fft.fft)(x, axis=self.axis, norm=self.norm)

    def is_scaled(self) -> bool:
        """Return whether there is a factor other than 1."""
        return self.norm != ("forward" if self.backward else "backward")

    def problems(self) -> Iterator[str]:
        """Wrong connectors, an axis that is not there, sizes that do not agree."""
        if tuple(self.inputs) != ("x",) or tuple(self.outputs) != ("y",):
            yield f"has the connectors x, y, not {', '.join(self.inputs | self.outputs)}"
            return
        if self.norm not in NORMS:
            yield f"has the norm {self.norm!r}, not one of {', '.join(NORMS)}"
        x, y = self.inputs["x"].subset.shape, self.outputs["y"].subset.shape
        if len(x) != len(y) or not 0 <= self.axis < len(x):
            yield f"transforms along axis {self.axis} of {len(x)} dimensions into {len(y)}"
            return
        for axis, (size, other) in enumerate(zip(x, y, strict=True)):
            if axis != self.axis and Ranges().proves_ne(size, other):
                yield f"sizes do not agree: {size} and {other} along axis {axis}"
