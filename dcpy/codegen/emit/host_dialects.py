"""Host dialects: C and C++, by the name that users give them in ``cpu.language``."""

from __future__ import annotations

from dcpy.base.option_groups.cpu import CpuOptions, Language
from dcpy.base.options import Options
from dcpy.codegen.emit.c99 import C99
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.emit.dialect import Dialect

DIALECTS: dict[Language, Dialect] = {Language.CPP: CPP, Language.C: C99}


def dialect_of(options: Options | CpuOptions | None) -> Dialect:
    """The dialect that options ask for; C++ without any."""
    if options is None:
        return CPP
    return DIALECTS[(options.cpu if isinstance(options, Options) else options).language]
