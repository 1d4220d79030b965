"""nvcc, for machines that have CUDA's compiler and no NVRTC: the same units, as one process per chip."""

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
from dcpy.runtime.gpu.device_compilers import Binary, CompilationFailed, nvidia_semantics, nvidia_target, run
from dcpy.runtime.gpu.kernel_resources import resources_in

OPTIONS = ("--std=c++17", "--ptxas-options=-v", "--define-macro=DCPY_CUDA", "-x", "cu", "-I.")


@dataclass(frozen=True, slots=True)
class Nvcc:
    """One nvcc on this machine."""

    path: str
    version: tuple[int, int]
    known: tuple[int, ...]

    @property
    def id(self) -> str:
        """``nvcc 13.0``."""
        return f"nvcc {self.version[0]}.{self.version[1]}"

    @property
    def architectures(self) -> tuple[str, ...]:
        """``("sm_75", …)``."""
        return tuple(f"sm_{one}" for one in self.known)

    def compile(self, unit: Unit, headers: tuple[Unit, ...], arch: str, options: GpuOptions) -> Binary:
        """The machine code of a unit for a chip; PTX for a chip that is newer than this nvcc."""
        target, note = nvidia_target(arch, self.known, self.id)
        form = "ptx" if target.startswith("compute_") else "cubin"
        command = (self.path, f"--{form}", f"--gpu-architecture={target}", *nvidia_semantics(options), *OPTIONS)
        with tempfile.TemporaryDirectory() as folder:
            for file in (unit, *headers):
                Path(folder, file.name).write_text(file.text)
            command = (*command, *unit.flags, unit.name, "-o", "binary")
            answer = run(command, folder)
            if answer.returncode != 0:
                raise CompilationFailed(command, answer.stderr + answer.stdout)
            code = Path(folder, "binary").read_bytes()
        return Binary(target, form, code, resources_in(answer.stderr + answer.stdout), note)


def find_nvcc(path: str = "nvcc") -> Nvcc | None:
    """The nvcc on PATH, or the one at `path`; None where there is none that runs."""
    found = shutil.which(path)
    return _asked(found) if found is not None else None


@functools.cache
def _asked(path: str) -> Nvcc | None:
    try:
        version = run((path, "--version")).stdout
        archs = run((path, "--list-gpu-code")).stdout
    except ToolchainError:
        return None
    release = re.search(r"release (\d+)\.(\d+)", version)
    known = sorted({int(number) for number in re.findall(r"sm_(\d+)\b", archs)})
    return Nvcc(path, (int(release[1]), int(release[2])), tuple(known)) if release and known else None
