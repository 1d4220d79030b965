"""Library environment: what a call to a foreign C library needs, declared by libraries, carried by the artifact.

It lives in `base` because both `libraries` and `codegen.artifact` speak of it, and neither may import the other.
"""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.base.prototypes import Prototype


@dataclass(frozen=True, slots=True)
class Environment:
    """C declarations and linker options of a foreign library.

    Of `prototypes` a program gets those whose function it calls; `declarations` it gets as they are.
    """

    name: str
    declarations: str = ""
    prototypes: tuple[Prototype, ...] = ()  # prototype("double f(double);")
    libraries: tuple[str, ...] = ()  # names for -l; ":libx.so.2" names a file
    library_dirs: tuple[str, ...] = ()  # absolute, used for -L and the run path
    include_dirs: tuple[str, ...] = ()
    opens_more: bool = False  # loads further libraries while it runs, which no linker knows of
    runtime: bool = False  # of a device: opened when the program is loaded; nothing is declared or linked
