"""Programs without the C++ library: dcpy's own code includes headers of C only, throws nothing, allocates as C does.

Where all units of a program are such, they are compiled without exceptions, whose tables and landing pads nobody uses,
and linked without the library, whose names take a linker as long as the rest of its work. A foreign library may be an
archive of C++, which needs it; only Zig leaves it out there, too, since it would compile it first.
"""

from __future__ import annotations

import re

from dcpy.base.platforms import HERE, LINUX, Platform
from dcpy.codegen.artifact import Artifact
from dcpy.runtime.compilers.zig import FAMILY as ZIG
from dcpy.runtime.compilers.zig import WITHOUT_CPP

#: an include of anything but the C library, or dcpy's table of a device, which needs no more
OTHER_HEADER = re.compile(
    r'#include(?!\s*(?:<(?:errno|math|stdint|stdio|stdlib|string|sys/types|time)\.h>|"dcpy_table\.h"))'
)
VECTORS = "mvec"  #: the library of glibc's vector functions, which Zig's C library lacks
OF_C = frozenset({"m", VECTORS})
#: for g++, which learned clang's word late: what it links by itself, but libstdc++
ONLY_C = ("-nodefaultlibs", "-lc", "-lgcc")


def compile_words(artifact: Artifact, family: str) -> tuple[str, ...]:
    """The words that compile its units; none where they need the library."""
    return ("-fno-exceptions",) if _does_without(artifact, family) else ()


def link_words(artifact: Artifact, family: str, *, executable: bool, platform: Platform = HERE) -> tuple[str, ...]:
    """The words that link it, after all others; none where it needs the library, or where a compiler has no such words.

    An executable of g++ may need what sanitizers link by default; a library finds that where it is loaded.
    """
    if not _does_without(artifact, family):
        return ()
    if family != "gcc":
        return (WITHOUT_CPP,)
    return ONLY_C if platform == LINUX and not executable else ()


def _does_without(artifact: Artifact, family: str) -> bool:
    linked = {name for environment in artifact.environments for name in environment.libraries}
    return (family == ZIG or linked <= OF_C) and not any(
        OTHER_HEADER.search(unit.text) for unit in artifact.units if unit.language
    )
