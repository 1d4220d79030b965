"""Atomic sums: threads of a device that may write one location, and sums whose order would show in their results."""

from __future__ import annotations

from dcpy.codegen.lower.context import Context
from dcpy.codegen.lower.gpu.program_state import kernel_of, program_of
from dcpy.ir.memlet import Memlet


def threads_collide(context: Context, memlet: Memlet) -> bool:
    """Return whether threads of a device may write one location; refuses where the order of a sum would show."""
    kernel, options = kernel_of(context), program_of(context.module).options
    assert kernel is not None  # the caller asked
    if not kernel.races(memlet, context.uses):
        return False
    dtype = context.locations[memlet.container].dtype
    if options.deterministic and not dtype.is_integer and memlet.wcr in ("add", "mul"):
        raise context.refuse(
            f"threads of a device combine floats in one place, {memlet}: the result would depend on their order",
            help="set gpu.deterministic=False to allow that",
        )
    return True
