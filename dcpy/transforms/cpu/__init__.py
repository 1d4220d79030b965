"""Making things explicit for CPUs: every map gets a schedule, every transient a storage."""

from dcpy.transforms.cpu.lowering import lower_for_cpu

__all__ = ["lower_for_cpu"]
