"""Device compilers: their input, their output, and the names of architectures.

A device compiler makes a `Binary` of one `Unit` for one chip. nvrtc.py and nvcc.py do it for NVIDIA's, hipcc.py for
AMD's; binaries.py runs them for a whole artifact.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from typing import Protocol

from dcpy.base.errors import ToolchainError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.codegen.artifact import Unit
from dcpy.runtime.gpu.kernel_resources import KernelResources

LANGUAGE = "device"  # of the units that are for device compilers


@dataclass(frozen=True, slots=True)
class Binary:
    """Machine code of all kernels of a unit for one chip, or PTX, which the driver compiles when it loads it.

    `arch` is what it was made for; `form` is the ending of its file. `resources` by kernel, empty for PTX.
    """

    arch: str
    form: str  # "cubin", "ptx", "hsaco"
    code: bytes
    resources: tuple[KernelResources, ...] = ()
    note: str = ""

    @property
    def file(self) -> str:
        """Its name in the folder of a program."""
        return f"kernels.{self.arch}.{self.form}"


class CompilationFailed(Exception):
    """A device compiler refused a unit: what it said, and the command or the options that it got."""

    def __init__(self, command: tuple[str, ...], output: str) -> None:
        super().__init__(output)
        self.command = command
        self.output = output


class DeviceCompiler(Protocol):
    """Makes binaries of device units. `id` changes whenever its machine code may."""

    @property
    def id(self) -> str: ...

    @property
    def architectures(self) -> tuple[str, ...]:
        """The chips that it knows, oldest first."""
        ...

    def compile(self, unit: Unit, headers: tuple[Unit, ...], arch: str, options: GpuOptions) -> Binary:
        """Raise `CompilationFailed`; `ToolchainError` where it cannot run at all, or does not know the chip."""
        ...


def nvidia_semantics(options: GpuOptions) -> tuple[str, ...]:
    """The options that give NumPy's results: denormal numbers stay, divisions and square roots round correctly,
    products and sums round apart. (NVRTC and nvcc have the same ones.)
    """
    exact = str(not options.fast_math).lower()
    flush = str(options.fast_math).lower()
    fast = ("--define-macro=DCPY_FAST_MATH",) if options.fast_math else ()
    fuse = str(options.fma or options.fast_math).lower()
    return (f"--ftz={flush}", f"--prec-div={exact}", f"--prec-sqrt={exact}", f"--fmad={fuse}", *fast)


def nvidia_target(arch: str, known: tuple[int, ...], compiler: str) -> tuple[str, str]:
    """The chip to compile for, as ``sm_90``, or ``compute_90`` (PTX) for one that is newer than all known; and why so.

    Raises `ToolchainError` for one that is older than all, and for what names no chip of NVIDIA's.
    """
    match = re.fullmatch(r"(?:sm_)?(\d{2,3})", arch)
    if match is None:
        raise ToolchainError(
            f"unknown GPU architecture {arch!r}",
            notes=("NVIDIA's are named by their compute capability: sm_75, sm_80, sm_90, sm_100",),
            help="set gpu.arch to one of these, or leave it empty for the chip that is there",
        )
    number = int(match[1])
    if number in known:
        return f"sm_{number}", ""
    older = [one for one in known if one < number]
    if not older:
        raise ToolchainError(
            f"{compiler} makes no code for sm_{number}: the oldest architecture that it knows is sm_{min(known)}",
            help="an older CUDA still does: pip install nvidia-cuda-nvrtc-cu12",
        )
    note = f"{compiler} does not know sm_{number}: PTX of sm_{max(older)} is compiled by the driver"
    return f"compute_{max(older)}", note


def run(command: tuple[str, ...], folder: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run a compiler; `ToolchainError` where it cannot be started, or does not end."""
    try:
        return subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise ToolchainError(f"{command[0]} cannot be run: {error}") from error
