"""Programs for FPGAs: the host's unit, that of the device, and the headers with which the device is simulated.

In a simulation there is one memory, that of the host: what the SDFG keeps beside or on the chip is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dcpy.base.library_environment import Environment
from dcpy.base.option_groups.fpga import FpgaMode, FpgaOptions, Vendor
from dcpy.base.options import Options
from dcpy.codegen.artifact import Artifact, Kernel, Signature, Unit
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.source_files import program_text
from dcpy.codegen.fpga.cycle_model.deadlock_detection import require_depths
from dcpy.codegen.fpga.cycle_model.program_time import ProgramTime, program_time
from dcpy.codegen.fpga.intel_opencl import INTEL
from dcpy.codegen.fpga.opencl_host import BoardFunction, board_units, whole
from dcpy.codegen.fpga.vitis_hls import VITIS
from dcpy.codegen.fpga.vitis_link import link_text, ports, require_banks
from dcpy.codegen.generate import unit_of
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.types import INDEX, STATUS, Pointer
from dcpy.codegen.lir.verify import require_valid
from dcpy.codegen.lir.verify_networks import require_networks
from dcpy.codegen.lower.context import ModuleContext
from dcpy.codegen.lower.fpga.channel_kernels import Networks, networks
from dcpy.codegen.lower.fpga.device_unit import Hardware
from dcpy.codegen.lower.fpga.fpga_lowering import FpgaLowering
from dcpy.codegen.lower.program.translation_unit import lower_program
from dcpy.codegen.signature import called_by_host, default_signature
from dcpy.ir.data import Allocation, Array, Data, Scalar, Space
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.fpga.boards import board
from dcpy.ir.fpga.memory import Partition
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.verify import FPGA_FORM, verify

#: those of the vendor, and what they need
HEADERS = (
    "fpga/hls_stream.h",
    "fpga/dcpy_outcomes.h",
    "fpga/dcpy_network.h",
    "fpga/dcpy_records.h",
    "dcpy_fibers.h",
)

VECTORS = "fpga/hls_vector.h"  #: and for tokens of several elements


def generate_fpga(
    sdfg: Sdfg,
    signature: Signature | None = None,
    environments: Mapping[str, Environment] | None = None,
    options: Options | None = None,
    costs: Costs = COSTS,
) -> Artifact:
    """The program of `sdfg`, which must have the form ``program`` (`InvalidSdfg` says where it has not), as `generate`.
    """
    chosen = options or Options()
    called_as = called_by_host(signature or default_signature(sdfg))
    require_banks(sdfg, board(chosen.fpga.platform))
    module, hardware = _lowered(sdfg, called_as, environments, chosen, costs)
    require_networks(hardware.kernels, hardware.functions)
    require_depths(hardware.kernels, hardware.functions)
    error = tree.Parameter("values", Pointer(INDEX))
    told = tree.Function(hardware.deadlock(module.base), STATUS, (error,), (), exported=True)
    called = hardware.launches.values() if hardware.board else hardware.kernels
    host = replace(module.finished(), declared=(*called, told) if hardware.kernels else ())
    return Artifact(
        replace(called_as, name=module.base, checks=tuple(module.checks), callbacks=tuple(module.callbacks)),
        (unit_of(host, CPP, module.base), *_device_units(sdfg, module, hardware, chosen.fpga)),
        kernels=_on_board(hardware),
    )


def predicted(
    sdfg: Sdfg,
    sizes: Mapping[str, int],
    signature: Signature | None = None,
    environments: Mapping[str, Environment] | None = None,
    options: Options | None = None,
    costs: Costs = COSTS,
    *,
    with_waits: bool = True,
) -> ProgramTime:
    """Return the predicted time of a call of `sdfg`, in the form ``program``, with these values of symbols.

    Without waits: if all queues were deep enough.
    """
    called_as = called_by_host(signature or default_signature(sdfg))
    chosen = options or Options()
    timed = replace(chosen, fpga=replace(chosen.fpga, mode=FpgaMode.SIMULATE))  # no counts for the host of a board
    module, hardware = _lowered(sdfg, called_as, environments, timed, costs)
    hosts = {function.name: function for function in module.functions}
    return program_time(
        hosts[module.program], module.functions, hardware.kernels, hardware.functions, sizes, with_waits=with_waits
    )


def _lowered(
    sdfg: Sdfg, signature: Signature, environments: Mapping[str, Environment] | None, options: Options, costs: Costs
) -> tuple[ModuleContext, Hardware]:
    """The host's functions, and those of the device."""
    verify(sdfg, FPGA_FORM)
    hardware = FpgaLowering(
        board=options.fpga.mode is not FpgaMode.SIMULATE, separate_ports=options.fpga.vendor is Vendor.XILINX
    )
    simulated = in_memory_of_the_host(sdfg)
    module = lower_program(simulated, signature, options.cpu, dict(environments or {}), costs, device=hardware)
    return module, hardware


def time_function(base: str) -> str:
    """The function of a simulation that returns how long kernels have run (`runtime.fpga.simulation`)."""
    return f"{base}_told"


def deadlock_function(base: str) -> str:
    """The function of a simulation that returns which process waits for which in a deadlock."""
    return f"{base}_circle"


def _device_units(
    sdfg: Sdfg, module: ModuleContext, hardware: Hardware, options: FpgaOptions
) -> tuple[Unit, ...]:
    """The text of the kernels for the vendor's tools, and what runs it here: a simulation, or a board's host."""
    if not hardware.kernels:
        return ()
    intel = _intel(module, hardware) if options.vendor is Vendor.INTEL else None
    if hardware.board:
        source = "" if intel is None else intel[0].text
        text = _vitis(module, hardware, on_board=True) if intel is None else intel[0]
        parts = {kernel.name: whole(kernel) for kernel in hardware.kernels} if intel is None else intel[1].parts
        called = [BoardFunction(hardware.launches[name], parts[name]) for name in parts]
        host = board_units(module.base, called, hardware, source)
        return (*host, text) if intel is not None else (*host, text, _link(sdfg, hardware, options))
    text = _vitis(module, hardware, on_board=False)
    headers = (*HEADERS, *((VECTORS,) if Path(VECTORS).name in text.text else ()))
    units = (text, *(Unit(Path(name).name, _header(name)) for name in headers))
    return units if intel is None else (*units, intel[0])


def _on_board(hardware: Hardware) -> tuple[Kernel, ...]:
    """The networks that a board runs; a simulation has none."""
    found = hardware.kernels if hardware.board else ()
    return tuple(Kernel(kernel.name, (1, 1, 1), 0, span=kernel.span) for kernel in found)


def _link(sdfg: Sdfg, hardware: Hardware, options: FpgaOptions) -> Unit:
    names = [kernel.name for kernel in hardware.kernels]
    return Unit("link.cfg", link_text(names, tuple(ports(sdfg, hardware.kernels)), board(options.platform)))


def _vitis(module: ModuleContext, hardware: Hardware, *, on_board: bool) -> Unit:
    """The kernels in Vitis HLS C++. A simulation compiles them; for a board, the vendor's tool does."""
    own = tree.Module(
        f"{module.base}: kernels", tuple(hardware.functions), tuple(module.combinations), tuple(module.tables)
    )
    text, places = program_text(own, VITIS, environments=(), vector_functions=frozenset())
    processes = tuple(function for function in own.functions if function not in hardware.kernels)
    require_valid(replace(own, functions=processes), {})
    name = f"{module.base}{VITIS.suffix}"
    if on_board:
        return Unit(name, text, places=places)
    sites = ", ".join(
        f'{{"{site.process}", "{site.stream}", {"true" if site.pushing else "false"}, {site.number}}}'
        for site in hardware.queue_sites
    )
    text += f"\nDCPY_SITES({hardware.deadlock(module.base)}, {sites or _NOWHERE})\n"
    text += f"DCPY_TOLD({time_function(module.base)})\nDCPY_CIRCLE({deadlock_function(module.base)})\n"
    return Unit(name, text, VITIS.language, (*VITIS.flags, "-Wno-unknown-pragmas"), places)


def _intel(module: ModuleContext, hardware: Hardware) -> tuple[Unit, Networks]:
    """The kernels in OpenCL with channels, for the vendor's tool and its emulator, and which run together."""
    found = networks(hardware.functions, hardware.kernels)
    kernels = tuple(part.function for parts in found.parts.values() for part in parts)
    own = tree.Module(
        f"{module.base}: kernels", (*found.callees, *kernels), tables=tuple(module.tables), channels=found.channels
    )
    text, places = program_text(own, INTEL, environments=(), vector_functions=frozenset())
    return Unit(f"{module.base}{INTEL.suffix}", text, places=places), found


_NOWHERE = '{"", "", false, 0}'


def _header(name: str) -> str:
    return (Path(__file__).parents[1] / "include" / name).read_text()


def in_memory_of_the_host(sdfg: Sdfg) -> Sdfg:
    """A copy in which all memory is the host's, and what is on the chip is local."""
    found = copy_sdfg(sdfg)
    for region in found.body.walk_regions():
        for name, desc in region.containers.items():
            region.containers[name] = _of_the_host(name, desc)
    found.forget_names()
    return found


def _of_the_host(name: str, desc: Data) -> Data:
    match desc:
        case Array(allocation=Allocation.REGISTERS | Allocation.SHIFT_REGISTER):
            each = tuple(Partition(axis, "complete") for axis in range(len(desc.shape)))
            return replace(desc, space=Space.HOST, allocation=Allocation.STACK, partition=each)
        case Array() if desc.allocation is Allocation.BRAM:
            return replace(desc, space=Space.HOST, allocation=Allocation.STACK)
        case Array() | Scalar():
            return replace(desc, space=Space.HOST)
    return desc
