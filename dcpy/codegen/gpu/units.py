"""GPU units: the kernels of a program, and the headers that they share with the host's unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcpy.base.library_environment import Environment
from dcpy.codegen.artifact import HEADERS, Kernel, Unit
from dcpy.codegen.emit.source_files import program_text
from dcpy.codegen.gpu.gpu_cpp import DEVICE
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.traversal import shared_bytes

HOST = Environment("device", declarations=f'#include "{HEADERS[0]}"')  #: what the host's unit needs before its helpers


def device_units(module: tree.Module, stem: str) -> tuple[Unit, ...]:
    """The text of the kernels, and the headers."""
    headers = tuple(Unit(name, _header(name)) for name in HEADERS)
    if not module.kernels:
        return headers
    own = replace(module, name=stem, functions=(), slots=(), reports_errors=False, combinations=())
    text, places = program_text(own, DEVICE, environments=(), vector_functions=frozenset())
    return (Unit(f"{stem}{DEVICE.suffix}", text, DEVICE.language, DEVICE.flags, places), *headers)


def described(kernels: Sequence[tree.Kernel]) -> tuple[Kernel, ...]:
    """The kernels for the runtime, in the order of their numbers."""
    return tuple(
        Kernel(one.name, one.threads, shared_bytes(one), one.small_of, one.indices, one.span) for one in kernels
    )


def _header(name: str) -> str:
    return (Path(__file__).parents[1] / "include" / name).read_text()
