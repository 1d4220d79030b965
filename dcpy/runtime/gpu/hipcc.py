"""hipcc, for AMD's chips: one process per chip, which gives a code object."""

from __future__ import annotations

import functools
import re
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dcpy.base.errors import ToolchainError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.codegen.artifact import Unit
from dcpy.runtime.gpu.device_compilers import Binary, CompilationFailed, run
from dcpy.runtime.gpu.kernel_resources import KernelResources

INSTALL = "ROCm has it, and Debian: apt install hipcc libamdhip64-dev (370 MB)"
FOR_AMD = ("env", "HIP_PLATFORM=amd")  # where CUDA is, too, hipcc would take nvcc
OPTIONS = (
    "--genco",
    "-O3",
    "-std=c++17",
    "-DDCPY_HIP",
    "-Rpass-analysis=kernel-resource-usage",
    "-I.",
)
KNOWN = ("gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100")  # proposed where none is named


@dataclass(frozen=True, slots=True)
class Hipcc:
    """One hipcc on this machine."""

    path: str
    version: str

    @property
    def id(self) -> str:
        """``hipcc 5.2, clang 15.0.6``."""
        return f"hipcc {self.version}"

    @property
    def architectures(self) -> tuple[str, ...]:
        """Some; the compiler itself knows which there are."""
        return KNOWN

    def compile(self, unit: Unit, headers: tuple[Unit, ...], arch: str, options: GpuOptions) -> Binary:
        """The code object of a unit for a chip, ``gfx90a``."""
        if not re.fullmatch(r"gfx[0-9a-f]{3,4}", arch):
            raise ToolchainError(
                f"unknown GPU architecture {arch!r}",
                notes=(f"AMD's are named {', '.join(KNOWN)}",),
                help="set gpu.arch to one of these, or leave it empty for the chip that is there",
            )
        contract = "fast" if options.fma or options.fast_math else "off"  # off: products and sums round apart
        exact = ("-fhip-fp32-correctly-rounded-divide-sqrt",)
        rounding = ("-ffast-math", "-DDCPY_FAST_MATH") if options.fast_math else exact
        command = (self.path, *OPTIONS, f"--offload-arch={arch}", f"-ffp-contract={contract}", *rounding, *unit.flags)
        with tempfile.TemporaryDirectory() as folder:
            for file in (unit, *headers):
                Path(folder, file.name).write_text(file.text)
            command = (*command, "-x", "hip", unit.name, "-o", "binary")
            answer = run((*FOR_AMD, *command), folder)
            if answer.returncode != 0:
                raise CompilationFailed(command, answer.stderr + answer.stdout)
            code = Path(folder, "binary").read_bytes()
        return Binary(arch, "hsaco", code, resources_in(answer.stderr))


def find_hipcc(path: str = "hipcc") -> Hipcc:
    """The hipcc on PATH, or the one at `path`; `ToolchainError` where there is none that runs."""
    found = shutil.which(path)
    version = _version(found) if found is not None else None
    if found is None or version is None:
        raise ToolchainError("no compiler for AMD GPUs is found: hipcc is not on PATH", help=INSTALL)
    return Hipcc(found, version)


@functools.cache
def _version(path: str) -> str | None:
    try:
        said = run((*FOR_AMD, path, "--version")).stdout
    except ToolchainError:
        return None
    hip, clang = re.search(r"HIP version: (\d+\.\d+)", said), re.search(r"clang version (\S+)", said)
    return f"{hip[1]}, clang {clang[1]}" if hip and clang else None


_REMARK = re.compile(r"remark:\s+(Function Name|VGPRs|ScratchSize \[bytes/lane\]|VGPRs Spill|LDS Size[^:]*): (\S+)")


def resources_in(log: str) -> tuple[KernelResources, ...]:
    """Return clang's remarks on kernels: vector registers, bytes of a thread's stack and of a block's shared memory.

    A spilled register is 4 bytes.
    """
    found: dict[str, dict[str, int]] = {}
    here: dict[str, int] = {}
    for match in _REMARK.finditer(log):
        what, value = match.groups()
        if what == "Function Name":
            here = found.setdefault(value, {})
        elif what == "VGPRs":
            here["registers"] = int(value)
        elif what == "VGPRs Spill":
            here["spill_stores"] = here["spill_loads"] = 4 * int(value)
        else:
            here["shared" if what.startswith("LDS") else "stack"] = int(value)
    complete = (kernel for kernel in sorted(found) if "registers" in found[kernel])
    return tuple(KernelResources(kernel, **found[kernel]) for kernel in complete)
