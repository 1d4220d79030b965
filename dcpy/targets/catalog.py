"""Every target by name, and which one a device type stands for; loaded when it is first asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dcpy.base.errors import DcpyError
from dcpy.base.options import DeviceType
from dcpy.base.registry import Registry

if TYPE_CHECKING:  # who only asks whether there is one is spared all that it is made of
    from dcpy.targets.target import Target

TARGETS: Registry[Target] = Registry(
    "target",
    {"cpu": "dcpy.targets.cpu:CPU", "fpga": "dcpy.targets.fpga:FPGA", "gpu": "dcpy.targets.gpu:GPU"},
)


class UnsupportedDevice(DcpyError):
    """A device that no target of this version is for."""

    code = "driver.unsupported-device"


def require_device(device: DeviceType) -> None:
    """`UnsupportedDevice` where no target is for a device; loads none."""
    if device.value not in TARGETS:
        raise UnsupportedDevice(
            f"dcpy prints code for CPUs and GPUs so far, not for {device.value}",
            help="use device=dcpy.DeviceType.CPU, or GPU",
        )


def target_for(device: DeviceType) -> Target:
    """The target of a device; `UnsupportedDevice` where there is none."""
    require_device(device)
    return TARGETS[device.value]
