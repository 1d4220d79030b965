"""Lowered programs, as explanations and libraries without Python see them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dcpy.base.options import Options
    from dcpy.codegen.artifact import Artifact, Signature
    from dcpy.ir.editing.remarks import Remark
    from dcpy.ir.sdfg import Sdfg
    from dcpy.runtime.loading.kernel_cycles import SimulatedKernel


@dataclass(frozen=True, slots=True)
class LoweredProgram:
    """A program in codegen form, and what explanations need.

    `remarks` are those of its passes. `sizes` are the values of symbols that the user gives, `typical` those of a
    typical run; `simulated` has the cycles of simulated kernels in a run with these sizes. How it is called and
    its text are made on demand.
    """

    sdfg: Sdfg
    options: Options
    remarks: Sequence[Remark]
    sizes: Mapping[str, int]
    typical: Mapping[str, int]
    simulated: Mapping[str, SimulatedKernel]
    signature: Callable[[], Signature]
    artifact: Callable[[], Artifact]

    @property
    def likely_sizes(self) -> dict[str, int]:
        """The values of symbols as the user gives them, those of a typical run for the others."""
        return {**self.typical, **self.sizes}


@dataclass(frozen=True, slots=True)
class StandaloneProgram:
    """A program that needs no Python: its text, its C header, and files of machine code, by name."""

    artifact: Artifact
    header: str
    binaries: Mapping[str, bytes] = field(default_factory=dict)
