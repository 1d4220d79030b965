"""Builds the native dispatcher, `dcpy.runtime._dispatch`; the rest of the package is in pyproject.toml."""

from __future__ import annotations

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


class BuildDispatcher(build_ext):
    """`build_ext` whose failures say which package to install."""

    def build_extension(self, extension: Extension) -> None:
        """Compile, or stop with the names of the packages that are missing."""
        header = Path(sysconfig.get_paths()["include"], "Python.h")
        if not header.is_file():
            raise SystemExit(f"{HELP}\nMissing: {header}")
        try:
            super().build_extension(extension)
        except CompileError as error:
            raise SystemExit(f"{HELP}\nThe compiler said (see above): {error}") from error


setup(
    cmdclass={"build_ext": BuildDispatcher},
    ext_modules=[
        Extension(
            "dcpy.runtime._dispatch",
            sources=sorted(glob("dcpy/runtime/dispatch/*.cpp")),
            depends=sorted(glob("dcpy/runtime/dispatch/*.h")),
            include_dirs=[numpy.get_include()],
            define_macros=[
                ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
                ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
            ],
            extra_compile_args=["-std=c++17", "-O2", "-fvisibility=hidden"],
            language="c++",
        )
    ],
)
