"""Lowering for the made-up device: no signals to ask for, no libraries to call."""

from __future__ import annotations

from dcpy.base.errors import CodegenError
from dcpy.base.library_environment import Environment
from dcpy.codegen.lower.device_lowering import DeviceLowering
from dcpy.ir.nodes import ForeignCall
from tests.targets.made_up.options import BareOptions


class BareLowering(DeviceLowering):
    """A processor without an operating system."""

    is_host = False

    def __init__(self, options: BareOptions) -> None:
        self.reserved_words = frozenset(options.words)

    def require_callable(self, node: ForeignCall, environment: Environment) -> None:
        raise CodegenError(f"{node.function}() cannot be called on a bare machine", span=node.span)
