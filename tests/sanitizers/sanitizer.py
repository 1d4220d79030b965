"""Generated code in a Python process with a sanitizer: what is preloaded, which flags compile, where reports go."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
COMPILER = shutil.which("g++") or "g++"
NO_REPORTS = ("AddressSanitizer failed to allocate", "ASan doesn't fully support makecontext")
DEFINED = "signed-integer-overflow"  # by -fwrapv; g++ 12 fails on the check in headers of loops for teams
COMMON = {
    "DCPY_CPU_COMPILER": f"env -u LD_PRELOAD {COMPILER}",  # the compiler itself runs as it is
    "OMP_NUM_THREADS": "4",
    "OPENBLAS_NUM_THREADS": "1",
    "PYTHONMALLOC": "malloc",
}


@dataclass(frozen=True)
class Sanitizer:
    """One way of watching; `libraries` are those of the compiler, `options` its variables."""

    name: str
    flags: str
    libraries: tuple[str, ...]
    options: Mapping[str, str]

    def environment(self, folder: Path) -> dict[str, str]:
        """The variables of a process that is watched; caches and reports (``report.*``) go into `folder`."""
        preloaded = [_of_compiler(library) for library in self.libraries]
        if self.name == "threads":
            preloaded.append(_openmp(folder))
        log = f"log_path={folder / 'report'}"
        return {
            **os.environ,
            **COMMON,
            **{name: f"{value}:{log}" for name, value in self.options.items()},
            "LD_PRELOAD": " ".join(preloaded),
            "DCPY_CACHE_DIR": str(folder / "cache"),
            "DCPY_CPU_FLAGS": f"-O1 -g -march=native {self.flags}",
        }

    def run(self, folder: Path, *words: str) -> int:
        """Runs Python with these words, watched; its exit status."""
        return subprocess.run([sys.executable, *words], env=self.environment(folder), check=False).returncode


SANITIZERS = {
    one.name: one
    for one in (
        Sanitizer(
            "address",
            f"-fsanitize=address,undefined -fno-sanitize-recover=all -fno-sanitize={DEFINED}",
            ("asan", "ubsan"),
            {"ASAN_OPTIONS": "detect_leaks=0:allocator_may_return_null=1", "UBSAN_OPTIONS": "print_stacktrace=1"},
        ),
        Sanitizer("threads", "-fsanitize=thread", ("tsan",), {"TSAN_OPTIONS": "exitcode=66:report_signal_unsafe=0"}),
    )
}


def reports(folder: Path) -> str:
    """What sanitizers reported. That memory is exhausted is no report: programs raise `MemoryError` then."""
    lines = (line for path in sorted(folder.glob("report.*")) for line in path.read_text(errors="replace").splitlines())
    return "\n".join(line for line in lines if not any(told in line for told in NO_REPORTS))


def _of_compiler(library: str) -> str:
    command = [COMPILER, f"-print-file-name=lib{library}.so"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def _openmp(folder: Path) -> str:
    """OpenMP over POSIX threads: openmp.c says why."""
    library = folder / "openmp.so"
    if not library.exists():
        flags = ["-O1", "-g", "-fPIC", "-shared", "-fsanitize=thread", "-x", "c", str(HERE / "openmp.c")]
        subprocess.run([COMPILER, *flags, "-o", str(library)], check=True)
    return str(library)
