"""Builds what is native: the dispatcher, `dcpy.runtime._dispatch`, and the drivers of GPUs. The rest of the package is
in pyproject.toml.

The drivers' library needs no SDK. dcpy/runtime/devices/native.py opens it with ctypes, when a GPU is first used; it is
compiled then where it is missing, or its text has changed.
"""

from __future__ import annotations

import hashlib
import sysconfig
from glob import glob
from pathlib import Path

import numpy
from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

HELP = """
dcpy could not build its native dispatcher.

It needs a C++17 compiler and the headers of this Python:
    Debian, Ubuntu   apt install g++ python3-dev
    Fedora           dnf install gcc-c++ python3-devel
    macOS            xcode-select --install
"""


class BuildNative(build_ext):
    """`build_ext` whose failures say which package to install."""

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
    """Of the names and texts of files, as dcpy/runtime/devices/native.py has it."""
    found = hashlib.sha256()
    for path in map(Path, sorted(paths, key=lambda path: Path(path).name)):
        found.update(f"{path.name}\n{path.read_text()}\n".encode())
    return found.hexdigest()


DRIVERS = sorted(glob("dcpy/runtime/devices/drivers/*.cpp"))
HEADERS = [*sorted(glob("dcpy/runtime/devices/drivers/*.h")), "dcpy/codegen/include/dcpy_table.h"]

setup(
    cmdclass={"build_ext": BuildNative},
    ext_modules=[
        Extension(
            "dcpy.runtime._dispatch",
            sources=sorted(glob("dcpy/runtime/dispatch/*.cpp")),
            depends=[*sorted(glob("dcpy/runtime/dispatch/*.h")), "dcpy/codegen/include/dcpy_table.h"],
            include_dirs=[numpy.get_include(), "dcpy/codegen/include"],
            define_macros=[
                ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
                ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
            ],
            extra_compile_args=["-std=c++17", "-O2", "-fvisibility=hidden"],
            language="c++",
        ),
        Extension(
            "dcpy.runtime.devices.drivers._drivers",  # beside its sources: no module of Python
            sources=DRIVERS,
            depends=HEADERS,
            include_dirs=["dcpy/codegen/include"],
            define_macros=[("DCPY_TEXT", f'"{digest([*DRIVERS, *HEADERS])}"')],
            extra_compile_args=["-std=c++17", "-O2", "-fvisibility=hidden"],
            extra_link_args=["-ldl", "-pthread"],
            language="c++",
            optional=True,
        ),
    ],
)
