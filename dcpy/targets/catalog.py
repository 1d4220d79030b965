"""Every target by name, and which one a device type stands for; loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError
from dcpy.base.options import DeviceType, add_group, group_kinds
from dcpy.base.registry import Registry

if TYPE_CHECKING:  # names are looked up without loading targets
    from dcpy.targets.command_line import CommandLine
    from dcpy.targets.target import Target

TARGETS: Registry[Target] = Registry(
    "target",
    {
        "cpu": "dcpy.targets.cpu.target:CPU",
        "gpu": "dcpy.targets.gpu.target:GPU",
        "fpga": "dcpy.targets.fpga.target:FPGA",
    },
)

#: expansions of library nodes that a target takes first; `plugins` passes them to `ir.library.expansions`
ORDERS = {
    "cpu": "dcpy.targets.cpu.expansions:CPU",
    "gpu": "dcpy.targets.gpu.expansions:GPU",
    "fpga": "dcpy.targets.fpga.expansions:FPGA",
}

#: what ``sdfgcc`` asks for a target, which is known without its passes
COMMAND_LINES: Registry[CommandLine] = Registry(
    "target",
    {
        "cpu": "dcpy.targets.cpu.command_line:CPU",
        "gpu": "dcpy.targets.gpu.command_line:GPU",
        "fpga": "dcpy.targets.fpga.command_line:FPGA",
    },
)


def register(target: Target, *, host: str = "cpu") -> Target:
    """Add a target of your own to all that dcpy looks up by the name of a device; return it.

    From then on ``device=NAME`` chooses it, and ``NAME_option=`` sets one of its options; a target whose options are
    those of another one is set by the other's. `host` is the target whose expansions of library nodes it can use, too.
    Raises `DcpyError` where the name is taken, or is not that of its device, or where its options cannot be read.
    """
    from dcpy.ir.library.expansions import TARGET_EXPANSIONS, TargetExpansions
    from dcpy.runtime.loading.devices import DEVICES

    if target.device.value != target.name:
        raise DcpyError(
            f"the target {target.name!r} is for the device {target.device.value!r}",
            help=f"give it device=DeviceType.named({target.name!r})",
        )
    if target.name in TARGETS:
        raise DcpyError(f"the target {target.name!r} exists already")
    if target.options not in group_kinds().values():
        add_group(target.name, target.options)
    TARGETS.add(target.name, target)
    TARGET_EXPANSIONS.add(target.name, TargetExpansions(target.expansions, host))
    COMMAND_LINES.add(target.name, target.command_line)
    DEVICES.add(target.name, target.runtime)
    return target


class UnsupportedDevice(DcpyError):
    """A device that no target of this version is for."""

    code = "driver.unsupported-device"


def require_device(device: DeviceType) -> None:
    """`UnsupportedDevice` where no target is for a device; loads none."""
    if device.value not in TARGETS:
        raise UnsupportedDevice(
            f"dcpy prints code for {', '.join(TARGETS)} so far, not for {device.value}",
            help="use device=dcpy.DeviceType.CPU, or another of these",
        )


def target_for(device: DeviceType) -> Target:
    """The target of a device; `UnsupportedDevice` where there is none."""
    require_device(device)
    return TARGETS[device.value]
