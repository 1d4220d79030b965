"""Options of programs for CPUs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dcpy.base.platforms import HERE


class Language(Enum):
    """Language of generated code for CPUs."""

    CPP = "c++"
    C = "c"


@dataclass(frozen=True, slots=True)
class CpuOptions:
    """Settings of the ``cpu`` target."""

    compiler: str = "auto"  #: executable, or ``auto``: the first of g++, clang++, clang++-19, … on PATH, else Zig's
    flags: tuple[str, ...] = ("-O3", HERE.native)  #: compiler flags, which come after dcpy's own and override them
    language: Language = Language.CPP  #: language of the generated code: ``c++``, or ``c`` (not for all programs)
    openmp: bool = True  #: run parallel maps on several threads
    fast_math: bool = False  #: may change results in the last bits, and NaN and infinities; off by default
    bounds_check: bool = True  #: check each index that is not proved to be in range
