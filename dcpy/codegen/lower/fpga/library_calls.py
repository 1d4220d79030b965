"""Library calls in programs for FPGAs: refused, because no library of the host runs on the chip."""

from __future__ import annotations

from dcpy.base.errors import CodegenError
from dcpy.base.library_environment import Environment
from dcpy.ir.nodes import ForeignCall


def require_no_library(node: ForeignCall, environment: Environment) -> None:
    """`CodegenError` where a function is called that a library of the host declares."""
    if environment.declarations or environment.prototypes:
        raise CodegenError(
            f"{node.function}() of the library {environment.name!r} cannot be called from a program for an FPGA",
            span=node.span,
            notes=("ranks send messages by MPI",) if environment.name.startswith("mpi") else (),
            help='leave out device="fpga"',
        )
