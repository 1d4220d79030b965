"""The options of `dcpy.program` by keyword, for type checkers. `python -m docs.generate` writes it."""

from __future__ import annotations

from typing import Literal, TypedDict

from dcpy.base.option_groups.cpu import Language
from dcpy.base.option_groups.fpga import FpgaMode, Vendor
from dcpy.base.option_groups.gpu import Backend, Failures
from dcpy.base.option_groups.ranks import Replicas
from dcpy.base.options import DeviceType, IntOverflow


class OptionKeywords(TypedDict, total=False):
    """The values of each option; docs/reference/options.md says what it does."""

    cpu_compiler: str
    cpu_flags: tuple[str, ...] | list[str] | str
    cpu_language: Language | Literal["c++", "c"]
    cpu_openmp: bool
    cpu_fast_math: bool
    cpu_bounds_check: bool
    gpu_backend: Backend | Literal["auto", "cuda", "hip", "simulator"]
    gpu_arch: str
    gpu_driver: str
    gpu_fast_math: bool
    gpu_fma: bool
    gpu_deterministic: bool
    gpu_max_workspace: int
    gpu_graphs: bool
    gpu_libraries: bool
    gpu_errors: Failures | Literal["exact", "deferred"]
    gpu_profile: bool
    gpu_warp: int
    gpu_seed: int
    gpu_hooks: bool
    fpga_vendor: Vendor | Literal["xilinx", "intel"]
    fpga_mode: FpgaMode | Literal["simulate", "emulate", "hardware"]
    fpga_program: str
    fpga_library: str
    fpga_watchdog: int
    fpga_platform: str
    fpga_banks: str
    fpga_steps: int
    fpga_lanes: int
    fpga_systolic: bool
    fpga_pes: int
    device: DeviceType | Literal["cpu", "gpu", "fpga"]
    dump: str
    cache_dir: str
    simplify: bool
    auto_optimize: bool
    overrides: tuple[str, ...] | list[str] | str
    convert: bool
    allow_callbacks: bool
    int_overflow: IntOverflow | Literal["raise", "wrap"]
    distributed: bool
    check_races: bool
    full_tracebacks: bool
    disable: bool
    check: bool
    scalapack: str
    halo_steps: int
    halo_overlap: bool
    check_replicas: Replicas | Literal["sample", "all", "off"]
    check_messages: bool
    ranks_timeout: int


class ProgramKeywords(OptionKeywords, total=False):
    """The options of a program, and what its decorator takes beside them."""

    ignore_type_hints: bool
