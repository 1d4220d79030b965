"""Programs for a device without Python: the machine code of the kernels, and what opens the device, in the library.

The native code of the drivers (or of the simulator) is compiled into the library of the program, with one generated
unit more, which has two functions:

    const char *NAME_open(int32_t device);  // before the first call: null, or why it cannot
    void NAME_close(void);                  // after the last one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError, ToolchainError
from dcpy.base.option_groups.gpu import Backend
from dcpy.base.options import Options
from dcpy.base.templates import environment_of
from dcpy.codegen.artifact import DEVICE, Artifact, Unit
from dcpy.runtime.compilers.build import failure
from dcpy.runtime.gpu.device_compilers import Binary, CompilationFailed, DeviceCompiler
from dcpy.runtime.gpu.native import FLAGS, unit_of

if TYPE_CHECKING:
    import jinja2

COLUMNS = 24  # bytes of machine code on a line
TEMPLATES = Path(__file__).parent / "templates"


def with_device(artifact: Artifact, options: Options, archs: Sequence[str]) -> tuple[Artifact, tuple[Binary, ...]]:
    """The artifact with the units that open its device, and the machine code for each chip: that is among them, too.

    Raises `ToolchainError` and `DeviceError`.
    """
    name = artifact.signature.name
    if options.gpu.backend is Backend.SIMULATOR:
        from dcpy.runtime.gpu.simulator.library import sources

        text = _simulated(name, options)
        return _with_units(artifact, [*map(unit_of, sources()), _opening_unit(name, text)], "-pthread"), ()
    from dcpy.runtime.gpu.drivers import sources as of_drivers

    backend = "hip" if options.gpu.backend is Backend.HIP else "cuda"
    binaries = _compiled(artifact, backend, options, archs)
    text = _driven(name, backend, options, [kernel.name for kernel in artifact.kernels], binaries)
    return _with_units(artifact, [*map(unit_of, of_drivers()), _opening_unit(name, text)], "-ldl", "-pthread"), binaries


def header_with_device(header: str, name: str) -> str:
    """The C header of the program, with the functions that open its device."""
    place = header.index(f"/* Before the first call. Returns 0. */\nint32_t {name}_init")
    return header[:place] + _templates().get_template("header.h.j2").render(name=name) + "\n" + header[place:]


def _with_units(artifact: Artifact, units: Sequence[Unit], *flags: str) -> Artifact:
    known = {unit.name for unit in artifact.units}
    new = tuple(unit for unit in units if unit.name not in known)  # headers that both read are the same
    return replace(artifact, units=(*artifact.units, *new), flags=(*artifact.flags, *flags))


def _opening_unit(name: str, text: str) -> Unit:
    return Unit(f"{name}.device.cpp", text, "C++", ("-std=c++17", *FLAGS))


def _compiled(artifact: Artifact, backend: str, options: Options, archs: Sequence[str]) -> tuple[Binary, ...]:
    unit = next((unit for unit in artifact.units if unit.language == DEVICE), None)
    if unit is None:
        return ()
    compiler, chips = _compiler(backend, options, archs)
    headers = tuple(unit for unit in artifact.units if not unit.language)
    try:
        return tuple(compiler.compile(unit, headers, arch, options.gpu) for arch in chips)
    except CompilationFailed as error:
        raise failure(artifact, list(error.command), error.output, Path()) from None


def _compiler(backend: str, options: Options, archs: Sequence[str]) -> tuple[DeviceCompiler, tuple[str, ...]]:
    from dcpy.runtime.gpu.compiler_selection import device_compiler
    from dcpy.runtime.gpu.hipcc import find_hipcc
    from dcpy.runtime.gpu.nvrtc import find_nvidia_compiler

    if archs:
        return (find_hipcc() if backend == "hip" else find_nvidia_compiler()), tuple(archs)
    try:
        compiler, arch = device_compiler(backend, options)
    except ToolchainError:
        raise
    except DcpyError as error:
        raise ToolchainError(
            "there is no device to compile for, and no chip is named",
            notes=(error.message,),
            help="name the chips: --arch sm_80,sm_90; or --backend simulator, which runs on this processor",
        ) from error
    return compiler, (arch,)


def _simulated(name: str, options: Options) -> str:
    """Open a simulated device for the kernels of this library."""
    return _templates().get_template("simulated.cpp.j2").render(name=name, gpu=options.gpu)


def _driven(name: str, backend: str, options: Options, kernels: Sequence[str], binaries: Sequence[Binary]) -> str:
    """Open a device by its driver, with the machine code for its chip."""
    return _templates().get_template("driven.cpp.j2").render(
        name=name,
        backend=backend,
        driver=options.gpu.driver,
        kernels=kernels,
        binaries=binaries,
        chips=", ".join(one.arch for one in binaries),
    )


@cache
def _templates() -> jinja2.Environment:
    return environment_of(TEMPLATES, {"bytes": _bytes})


def _bytes(code: bytes) -> str:
    rows = (code[start : start + COLUMNS] for start in range(0, len(code), COLUMNS))
    return ",\n".join(",".join(map(str, row)) for row in rows)
