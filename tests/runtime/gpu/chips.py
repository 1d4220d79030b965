"""Compilers of device code where tests find them, units of hand-written kernels for them."""

from __future__ import annotations

import pytest

from dcpy.base.errors import ToolchainError
from dcpy.codegen.artifact import Artifact, Signature, Unit
from dcpy.runtime.gpu.device_compilers import LANGUAGE, DeviceCompiler
from dcpy.runtime.gpu.hipcc import find_hipcc
from dcpy.runtime.gpu.native import header
from dcpy.runtime.gpu.nvcc import find_nvcc
from dcpy.runtime.gpu.nvrtc import Nvrtc, find_nvidia_compiler
from dcpy.runtime.gpu.sass import find_tool

NVIDIA = ("sm_75", "sm_80", "sm_90", "sm_100")
AMD = ("gfx90a", "gfx1030")
HEADERS = tuple(Unit(name, header(name).read_text()) for name in ("dcpy_device.h", "dcpy_chips.h"))


def nvrtc() -> Nvrtc:
    """Skips where there is none."""
    try:
        found = find_nvidia_compiler()
    except ToolchainError as error:
        pytest.skip(f"no NVRTC: {error.help}")
    if not isinstance(found, Nvrtc):
        pytest.skip("no NVRTC, but nvcc")
    return found


def nvcc() -> DeviceCompiler:
    found = find_nvcc()
    if found is None:
        pytest.skip("no nvcc on PATH")
    return found


def hipcc() -> DeviceCompiler:
    try:
        return find_hipcc()
    except ToolchainError as error:
        pytest.skip(f"no hipcc: {error.help}")


def needs(tool: str) -> None:
    """Skips where one of CUDA's tools is not there."""
    if find_tool(tool) is None:
        pytest.skip(f"no {tool}: pip install nvidia-cuda-{tool}")


def unit_of(text: str, *rows: str, name: str = "kernels") -> Unit:
    """A device unit with these kernels, as generated ones are."""
    rows = rows or ("DCPY_ROW(none, 1, 0)",)
    whole = f'#include "dcpy_device.h"\n{text}\nDCPY_KERNELS({name}, {", ".join(rows)})\n'
    return Unit(f"{name}.kernels.cu", whole, LANGUAGE)


def artifact_of(unit: Unit, *headers: Unit) -> Artifact:
    return Artifact(Signature("program", ()), (unit, *(headers or HEADERS)))
