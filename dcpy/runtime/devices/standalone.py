"""Programs for a device without Python: the machine code of the kernels, and what opens the device, in the library.

The native code of the drivers (or of the simulator) is compiled into the library of the program, with one generated
unit more, which has two functions:

    const char *NAME_open(int32_t device);  // before the first call: null, or why it cannot
    void NAME_close(void);                  // after the last one
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from dcpy.base.errors import DcpyError, ToolchainError
from dcpy.base.options import Backend, Options
from dcpy.codegen.artifact import DEVICE, Artifact, Unit
from dcpy.runtime.build import failure
from dcpy.runtime.devices.compilers import Binary, CompilationFailed, DeviceCompiler
from dcpy.runtime.devices.native import FLAGS, unit_of

COLUMNS = 24  # bytes of machine code on a line
HEADER = """
/* Opens the device of this number, before anything else; NULL, or why that cannot be. */
const char *{name}_open(int32_t device);

/* After the last call. */
void {name}_close(void);
"""


def with_device(artifact: Artifact, options: Options, archs: Sequence[str]) -> tuple[Artifact, tuple[Binary, ...]]:
    """The artifact with the units that open its device, and the machine code for each chip: that is among them, too.

    Raises `ToolchainError` and `DeviceError`.
    """
    name = artifact.signature.name
    if options.gpu.backend is Backend.SIMULATOR:
        from dcpy.runtime.devices.simulator.library import sources

        text = _simulated(name, options)
        return _with_units(artifact, [*map(unit_of, sources()), _opening_unit(name, text)], "-pthread"), ()
    from dcpy.runtime.devices.drivers import sources as of_drivers

    backend = "hip" if options.gpu.backend is Backend.HIP else "cuda"
    binaries = _compiled(artifact, backend, options, archs)
    text = _driven(name, backend, options, [kernel.name for kernel in artifact.kernels], binaries)
    return _with_units(artifact, [*map(unit_of, of_drivers()), _opening_unit(name, text)], "-ldl", "-pthread"), binaries


def header_with_device(header: str, name: str) -> str:
    """The C header of the program, with the functions that open its device."""
    place = header.index(f"/* Before the first call. Returns 0. */\nint32_t {name}_init")
    return header[:place] + HEADER.format(name=name).lstrip() + "\n" + header[place:]


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
    from dcpy.runtime.devices.hipcc import find_hipcc
    from dcpy.runtime.devices.nvrtc import find_nvidia_compiler
    from dcpy.runtime.devices.toolchains import device_compiler

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
    """Opens a simulated device for the kernels of this library."""
    gpu = options.gpu
    return f"""// {name}: opens a simulated device.
#include "simulator.h"

extern "C" const struct dcpy_unit {name}_kernels;
extern "C" void {name}_attach(void *device);
extern "C" dcpy_device *dcpy_simulator_open(const dcpy_unit *unit, const simulator::Settings *settings);
extern "C" void dcpy_simulator_close(dcpy_device *device);

static dcpy_device *opened;

extern "C" __attribute__((visibility("default"))) const char *{name}_open(int32_t)
{{
    const simulator::Settings settings = {{{gpu.warp}, 0, 1, 0, {gpu.seed}, int64_t(1) << 32}};
    if (!opened) opened = dcpy_simulator_open(&{name}_kernels, &settings);
    if (!opened) return "the simulator finds no room for its addresses";
    {name}_attach(opened);
    return nullptr;
}}

extern "C" __attribute__((visibility("default"))) void {name}_close(void)
{{
    if (opened) dcpy_simulator_close(opened);
    opened = nullptr;
}}
"""


def _driven(name: str, backend: str, options: Options, kernels: Sequence[str], binaries: Sequence[Binary]) -> str:
    """Opens a device by its driver, with the machine code for its chip."""
    numbered = list(enumerate(binaries))
    images = "\n".join(f"static const unsigned char image_{n}[] = {{{_bytes(one.code)}}};" for n, one in numbered)
    rows = ", ".join(f'{{"{one.arch}", image_{n}}}' for n, one in numbered)
    names = ", ".join(f'"{kernel}"' for kernel in kernels)
    chips = ", ".join(one.arch for one in binaries)
    return f"""// {name}: opens a device by its driver; the machine code of its kernels for {chips}.
#include "exports.h"

#include <stdio.h>
#include <string.h>

{images}

static const struct {{ const char *arch; const void *code; }} images[] = {{{rows or '{"", nullptr}'}}};
static const char *const kernels[] = {{{names or "nullptr"}}};
static dcpy_device *opened;
static dcpy_failure failed;

extern "C" void {name}_attach(void *device);

extern "C" __attribute__((visibility("default"))) const char *{name}_open(int32_t number)
{{
    if (opened) return nullptr;
    dcpy_context *context = dcpy_open_context("{backend}", "{options.gpu.driver}", number, &failed);
    if (!context) return failed.text;
    dcpy_facts facts;
    dcpy_facts_of(context, &facts);
    const void *code = nullptr;
    for (const auto &image : images)
        if (!strcmp(image.arch, facts.arch)) code = image.code;
    for (const auto &image : images)  // code in the driver's own language is for all later chips
        if (!code && !strncmp(image.arch, "compute_", 8)) code = image.code;
    if (!code && {len(kernels)}) {{
        snprintf(failed.text, sizeof failed.text, "it was compiled for {chips}, and the device is %s", facts.arch);
        return failed.text;
    }}
    opened = dcpy_open_program(context, code, {len(kernels)}, kernels, &failed);
    if (!opened) return failed.text;
    {name}_attach(opened);
    return nullptr;
}}

extern "C" __attribute__((visibility("default"))) void {name}_close(void)
{{
    if (opened) dcpy_close_program(opened);
    opened = nullptr;
}}
"""


def _bytes(code: bytes) -> str:
    rows = (code[start : start + COLUMNS] for start in range(0, len(code), COLUMNS))
    return ",\n".join(",".join(map(str, row)) for row in rows)
