"""Vector variants for clang: which function of glibc's libmvec computes several calls of a C function at once.

``declare simd`` says so to g++. clang ignores it in loops, and its own table (``-fveclib=libmvec``) has five functions.
LLVM reads the attribute ``vector-function-abi-variant``, for which C++ has no word, but an option of LLVM adds
attributes to functions that a unit defines. So a header in front of the unit defines a function that calls the C
function, and takes its name, for each that the unit declares as vectorized; a file beside it lists their attributes.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from dcpy.codegen.artifact import Unit

IN_CLANGS_TABLE = frozenset(name + suffix for name in ("exp", "log", "pow", "sin", "cos") for suffix in ("", "f"))
DECLARED = re.compile(r"#pragma omp declare simd notinbranch\n(double|float) (\w+)\(([^)]*)\)")
REGISTERS = {"b": (16, "__SSE2__"), "d": (32, "__AVX2__")}  #: letters of the vector ABI: bytes, and when they are there
SIZES = {"double": 8, "float": 4}
SECONDS = 60  # for a compiler to answer


def with_variants(unit: Unit, command: Sequence[str], folder: Path) -> tuple[str, ...]:
    """Write a unit's header and attributes into `folder`; returns the flags with which a clang reads them.

    There are none where the unit declares only what clang knows, or where the clang is too old for such a file.
    """
    functions = [found for found in DECLARED.findall(unit.text) if found[1] not in IN_CLANGS_TABLE]
    if not functions or not _reads_attributes(tuple(command)):
        return ()
    header, attributes = f"{unit.name}.variants.h", f"{unit.name}.variants.csv"
    pairs = [_variants(kind, name, operands.count(",") + 1) for kind, name, operands in functions]
    (folder / header).write_text("".join(text for text, _ in pairs))
    (folder / attributes).write_text("".join(line for _, line in pairs))
    return _flags(header, attributes)


def _flags(header: str, attributes: str) -> tuple[str, ...]:
    return ("-include", header, "-mllvm", f"-forceattrs-csv-path={attributes}")


def _variants(kind: str, name: str, operands: int) -> tuple[str, str]:
    """Definitions and attributes for a function of C."""
    scalar = f"dcpy_scalar_{name}"
    lines, mapped = [], []
    for letter, (size, present) in REGISTERS.items():
        lanes = size // SIZES[kind]
        vector, variant = f"dcpy_{kind}_x{lanes}", f"_ZGV{letter}N{lanes}{'v' * operands}_{name}"
        declared = f"{vector} {variant}({', '.join([vector] * operands)})"
        lines += [
            f"#ifdef {present}",
            f"typedef {kind} {vector} __attribute__((vector_size({size})));",
            f'extern "C" {declared};',
            f"[[gnu::used]] static void *const dcpy_kept{variant} = (void *){variant};",
            "#endif",
        ]
        mapped.append(f"_ZGV_LLVM_N{lanes}{'v' * operands}_{scalar}({variant})")
    params = [f"{kind} x{number}" for number in range(operands)]
    args = ", ".join(f"x{number}" for number in range(operands))
    hidden = '[[gnu::noinline, gnu::const, gnu::visibility("hidden")]] inline'
    lines += [
        'extern "C" {',
        f"{kind} {name}({', '.join(params)}) noexcept;",
        f"{hidden} {kind} {scalar}({', '.join(params)}) noexcept",
        f"{{ return {name}({args}); }}",
        "}",
        f"#define {name} {scalar}",
    ]
    return "\n".join(lines) + "\n", f"{scalar},vector-function-abi-variant={','.join(mapped)}\n"


@cache
def _reads_attributes(command: tuple[str, ...]) -> bool:
    """Return whether a clang takes a file of attributes; runs it once in a process."""
    import subprocess  # late: a warm start needs neither
    import tempfile

    header, line = _variants("double", "atan2", 2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "variants.h").write_text(header)
        (folder / "variants.csv").write_text(line)
        (folder / "probe.cpp").write_text("")
        flags = ("-std=c++17", "-O1", *_flags("variants.h", "variants.csv"))
        words = [*command, *flags, "-c", "probe.cpp", "-o", "probe.o"]
        try:
            done = subprocess.run(words, cwd=folder, capture_output=True, check=False, timeout=SECONDS)
        except (OSError, subprocess.SubprocessError):
            return False
        return done.returncode == 0 and (folder / "probe.o").exists()
