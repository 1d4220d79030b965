"""Builds what is native: the dispatcher `dcpy.runtime._dispatch`, and the drivers and the simulator of GPUs.

The rest is in pyproject.toml. Without any compiler, pip brings the clang of a wheel for the build (`setup_requires`).

The libraries of the drivers and of the simulator need no SDK. dcpy/runtime/gpu/native.py opens them with ctypes, when a
GPU is first used; they are compiled then where they are missing, or their texts have changed.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import sys
import sysconfig
from glob import glob
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

if sys.platform in ("win32", "cygwin"):
    raise SystemExit("dcpy does not run on Windows: install it in WSL, which is a Linux (wsl --install -d Ubuntu)")

HELP = """
dcpy could not build its native dispatcher.

It needs a C++17 compiler and the headers of this Python:
    Debian, Ubuntu   apt install g++ python3-dev
    Fedora           dnf install gcc-c++ python3-devel
    macOS            xcode-select --install
"""


ZIG = "ziglang"  # a wheel with a compiler: as in the extra `compiler` of pyproject.toml


def other_compiler() -> list[str]:
    """The command to compile by where what this Python was built with is missing: clang++, or Zig's; else nothing."""
    configured = os.environ.get("CXX") or sysconfig.get_config_var("CXX") or "g++"
    if shutil.which(shlex.split(configured)[0]):
        return []
    return next(([name] for name in ("g++", "clang++") if shutil.which(name)), [sys.executable, "-m", ZIG, "c++"])


def in_one_word(command: list[str], folder: Path) -> str:
    """The path of a script that runs the command."""
    folder.mkdir(parents=True, exist_ok=True)
    script = (folder / "c++").absolute()
    script.write_text(f'#!/bin/sh\nexec {shlex.join(command)} "$@"\n')
    script.chmod(0o755)
    return str(script)


class BuildNative(build_ext):
    """`build_ext` by the compiler that is there, whose failures say which package to install."""

    def build_extensions(self) -> None:
        """Put the other compiler in front of the configured options, where there is one."""
        if command := other_compiler():
            if len(command) > 1:  # setuptools takes the first word of what links C++ for all of the command
                command = [in_one_word(command, Path(self.build_temp))]
            for name in ("compiler", "compiler_so", "compiler_cxx", "compiler_so_cxx", "linker_so", "linker_so_cxx"):
                if configured := getattr(self.compiler, name, None):
                    setattr(self.compiler, name, [*command, *configured[1:]])
        super().build_extensions()

    def build_extension(self, extension: Extension) -> None:
        """Compile, or stop with the names of the packages that are missing."""
        if extension.optional:
            super().build_extension(extension)
            return
        header = Path(sysconfig.get_paths()["include"], "Python.h")
        if not header.is_file():
            raise SystemExit(f"{HELP}\nMissing: {header}")
        try:
            super().build_extension(extension)
        except CompileError as error:
            raise SystemExit(f"{HELP}\nThe compiler said (see above): {error}") from error


def digest(paths: list[str]) -> str:
    """Of the names and texts of files, as dcpy/runtime/native_sources.py has it."""
    found = hashlib.sha256()
    for path in map(Path, sorted(paths, key=lambda path: Path(path).name)):
        found.update(f"{path.name}\n{path.read_text()}\n".encode())
    return found.hexdigest()


DISPATCH = sorted(glob("dcpy/runtime/dispatch/*.cpp"))
DISPATCH_HEADERS = [*sorted(glob("dcpy/runtime/dispatch/*.h")), "dcpy/codegen/include/dcpy_table.h"]
DRIVERS = sorted(glob("dcpy/runtime/gpu/drivers/*.cpp"))
DRIVERS_HEADERS = [*sorted(glob("dcpy/runtime/gpu/drivers/*.h")), "dcpy/codegen/include/dcpy_table.h"]
SIMULATOR = sorted(glob("dcpy/runtime/gpu/simulator/native/*.cpp"))
SIMULATOR_HEADERS = [
    *sorted(glob("dcpy/runtime/gpu/simulator/native/*.h")),
    *(f"dcpy/codegen/include/dcpy_{name}.h" for name in ("device", "fibers", "table")),
]


def device_library(
    name: str, sources: list[str], headers: list[str], compile_args: list[str], link_args: list[str]
) -> Extension:
    """A library of the devices, beside its sources: no module of Python. Without it, the first call compiles it."""
    return Extension(
        name,
        sources=sources,
        depends=headers,
        include_dirs=["dcpy/codegen/include"],
        define_macros=[("DCPY_TEXT", f'"{digest([*sources, *headers])}"')],
        extra_compile_args=["-std=c++17", "-O2", "-fvisibility=hidden", *compile_args],
        extra_link_args=["-pthread", *link_args],
        language="c++",
        optional=True,
    )


setup(
    cmdclass={"build_ext": BuildNative},
    setup_requires=[ZIG] if ZIG in other_compiler() else [],
    ext_modules=[
        Extension(
            "dcpy.runtime._dispatch",
            sources=DISPATCH,
            depends=DISPATCH_HEADERS,
            include_dirs=[numpy.get_include(), "dcpy/codegen/include"],
            define_macros=[
                ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
                ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
                ("DCPY_TEXT", f'"{digest([*DISPATCH, *DISPATCH_HEADERS])}"'),
            ],
            extra_compile_args=["-std=c++17", "-O2", "-fvisibility=hidden"],
            language="c++",
        ),
        device_library("dcpy.runtime.gpu.drivers._drivers", DRIVERS, DRIVERS_HEADERS, [], ["-ldl"]),
        device_library(
            "dcpy.runtime.gpu.simulator.native._simulator",
            SIMULATOR,
            SIMULATOR_HEADERS,
            ["-pthread", "-fno-strict-aliasing", "-U_FORTIFY_SOURCE"],  # longjmp leaves the stacks of fibers
            [],
        ),
    ],
)
