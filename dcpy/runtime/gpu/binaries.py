"""From an artifact's device unit to machine code in the folder of its program, and back.

    kernels.sm_90.cubin     one for each requested chip
    resources.json          what each kernel needs there, and the digest of each binary; sealed, as manifests are

A binary whose digest differs is as good as none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dcpy.base.errors import DeviceError, ToolchainError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.codegen.artifact import Artifact
from dcpy.runtime.compilers.build import failure
from dcpy.runtime.gpu.device_compilers import LANGUAGE, Binary, CompilationFailed, DeviceCompiler
from dcpy.runtime.gpu.kernel_resources import KernelResources
from dcpy.runtime.storage.cache import read_sealed, write_sealed

RESOURCES = "resources.json"


@dataclass(frozen=True, slots=True)
class FoundBinary:
    """A binary in a folder: its file, the chip, what its kernels need (nothing is known of PTX)."""

    path: Path
    arch: str
    digest: str
    resources: tuple[KernelResources, ...] = ()
    note: str = ""

    def read(self) -> bytes | None:
        """The code; None where it is damaged."""
        try:
            code = self.path.read_bytes()
        except OSError:
            return None
        return code if hashlib.sha256(code).hexdigest() == self.digest else None


def build_device(
    artifact: Artifact,
    folder: Path,
    compiler: DeviceCompiler,
    archs: Iterable[str],
    options: GpuOptions,
    *,
    kept_at: Path,
) -> tuple[Binary, ...]:
    """Compile the device unit of `artifact` for each chip, and leave binaries and their resources in `folder`.

    `kept_at` is where the caller leaves the folder when this raises `ToolchainError`, as for `build`.
    """
    unit = next(unit for unit in artifact.units if unit.language == LANGUAGE)
    headers = tuple(unit for unit in artifact.units if not unit.language)
    try:
        binaries = tuple(compiler.compile(unit, headers, arch, options) for arch in archs)
    except CompilationFailed as error:
        raise failure(artifact, list(error.command), error.output, kept_at) from None
    for binary in binaries:
        (folder / binary.file).write_bytes(binary.code)
    write_sealed(folder / RESOURCES, json.dumps(_document(compiler, binaries), indent=1, sort_keys=True))
    return binaries


def _document(compiler: DeviceCompiler, binaries: tuple[Binary, ...]) -> dict[str, Any]:
    described = [
        {
            "file": binary.file,
            "arch": binary.arch,
            "digest": hashlib.sha256(binary.code).hexdigest(),
            "note": binary.note,
            "kernels": {one.kernel: one.as_numbers() for one in binary.resources},
        }
        for binary in binaries
    ]
    return {"compiler": compiler.id, "binaries": described}


def binaries_in(folder: Path) -> tuple[FoundBinary, ...]:
    """Return the binaries that `build_device` left in a folder; empty where that is damaged."""
    text = read_sealed(folder / RESOURCES)
    try:
        document = json.loads(text) if text is not None else {"binaries": ()}
        return tuple(
            FoundBinary(
                folder / Path(str(one["file"])).name,
                str(one["arch"]),
                str(one["digest"]),
                tuple(KernelResources.of_numbers(str(k), numbers) for k, numbers in sorted(one["kernels"].items())),
                str(one["note"]),
            )
            for one in document["binaries"]
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return ()


def binary_for(folder: Path, arch: str) -> tuple[FoundBinary, bytes]:
    """The machine code for a chip: its own, else that of an older chip of its generation, else PTX.

    Raises `ToolchainError` where the folder has none that is whole, `DeviceError` where none is for this chip.
    """
    found = binaries_in(folder)
    fitting = [(rank, one) for one in found if (rank := _fitness(one.arch, arch)) is not None]
    for _, one in sorted(fitting, key=lambda pair: pair[0], reverse=True):
        code = one.read()
        if code is not None:
            return one, code
    if fitting or not found:
        raise ToolchainError(
            f"the machine code for {arch} is damaged or missing", notes=(f"folder: {folder}",), help="dcpy cache clear"
        )
    there = ", ".join(one.arch for one in found)
    raise DeviceError(
        f"the program was compiled for {there}, and the device is {arch}",
        help="leave gpu.arch empty for the chip that is there, and compile again",
    )


def _fitness(arch: str, device: str) -> tuple[int, int] | None:
    """Return how well code for `arch` suits a device; None where it does not run there."""
    if arch == device:
        return 3, 0
    kind, _, number = arch.partition("_")
    if not (device.startswith("sm_") and number.isdigit()):  # code for AMD's chips runs on one kind of chip only
        return None
    have, want = int(number), int(device.removeprefix("sm_"))
    if kind == "sm" and have // 10 == want // 10 and have < want:
        return 2, have
    return (1, have) if kind == "compute" and have <= want else None
