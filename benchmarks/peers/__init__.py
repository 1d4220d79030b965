"""Who takes part in a comparison: each framework's name, package, interpreter, and how a kernel's source becomes its.

The text that `Framework.adapt` makes is the text that runs, so line counts and coverage are counted, not claimed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.peers import adapt

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENTS = ROOT / ".venv-peers"


@dataclass(frozen=True)
class Framework:
    """One column of the table. `variants` are tried in order until one compiles; each maps source text to source text.

    `package` is what it is imported as. NumPy and dcpy are those of this interpreter, peers have their own.
    """

    name: str
    package: str
    variants: Sequence[Callable[[str, str, dict[str, Any]], str]]
    environment: dict[str, str]

    @property
    def python(self) -> Path | None:
        """The interpreter that has the package; None where `make bench-peers` has not installed it."""
        if self.package in ("numpy", "dcpy"):
            return Path(sys.executable)
        python = ENVIRONMENTS / self.name / "bin" / "python"
        return python if python.exists() else None


FRAMEWORKS = {
    framework.name: framework
    for framework in (
        Framework("numpy", "numpy", (adapt.unchanged,), {}),
        Framework("dcpy", "dcpy", (adapt.for_dcpy,), {}),
        Framework("dcpy-plain", "dcpy", (adapt.for_dcpy_plain,), {}),
        Framework("numba", "numba", (adapt.for_numba_parallel, adapt.for_numba), {}),
        Framework("pythran", "pythran", (adapt.for_pythran,), {}),
        Framework("dace", "dace", (adapt.for_dace,), {}),
        Framework("jax", "jax", (adapt.for_jax,), {"JAX_ENABLE_X64": "1", "JAX_PLATFORMS": "cpu"}),
    )
}
