"""Kernels in C: PolyBench/C, from wherever its sources are, by the compilers that are there, each in several ways.

PolyBench is not in this repository. Any folder will do that follows its conventions: a file ``KERNEL.c`` somewhere in
it, ``utilities/polybench.c`` and ``.h``, sizes that are macros and may be given (``-DN=400``), a program that prints
seconds if it is compiled with ``-DPOLYBENCH_TIME``. Sizes are those of the kernel of the same name in NPBench.
What a program in C computes is not compared with anything: it starts from numbers of its own.
"""

from __future__ import annotations

import math
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.timing import surroundings

Row = dict[str, Any]
NAME = "polybench-c"
BEST = ("-O3", "-march=native")
TIMED = ("-DPOLYBENCH_TIME", "-DPOLYBENCH_NO_FLUSH_CACHE")


@dataclass(frozen=True)
class Variant:
    """A compiler with flags, as one would type them."""

    compiler: str
    flags: tuple[str, ...]

    def __str__(self) -> str:
        return " ".join((self.compiler, *self.flags))


def variants(threads: int) -> list[Variant]:
    """gcc, clang, clang with Polly, with and without -ffast-math; with threads, what makes loops parallel, too."""
    found = []
    for compiler, more in _optimizers(threads):
        if shutil.which(compiler) and _takes(compiler, more):
            found += [Variant(compiler, (*BEST, *more, *fast)) for fast in ((), ("-ffast-math",))]
    return found


def _optimizers(threads: int) -> Iterator[tuple[str, tuple[str, ...]]]:
    polly = ("-mllvm", "-polly", "-mllvm", "-polly-vectorizer=stripmine")
    yield "gcc", ()
    yield "clang", ()
    yield "clang", polly
    if threads > 1:
        yield "gcc", ("-fopenmp", f"-ftree-parallelize-loops={threads}", "-floop-parallelize-all")
        yield "clang", (*polly, "-mllvm", "-polly-parallel", "-lgomp")


def _takes(compiler: str, flags: Sequence[str]) -> bool:
    """Whether a compiler knows the flags: not every clang has Polly."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "empty.c"
        source.write_text("int main(void) { return 0; }\n")
        words = [compiler, *BEST, str(source), "-o", str(source.with_suffix("")), *flags]
        return subprocess.run(words, capture_output=True, check=False).returncode == 0


def sources(folder: Path) -> dict[str, Path]:
    """The programs below a folder, by the names of NPBench's kernels: ``jacobi-2d`` is jacobi_2d, ``2mm`` k2mm."""
    found = {}
    for path in sorted(folder.rglob("*.c")):
        name = path.stem.replace("-", "_")
        if path.parent.name != "utilities":
            found[f"k{name}" if name[0].isdigit() else name] = path
    return found


@dataclass(frozen=True)
class Suite:
    """The programs of a folder; `repeat` runs of each variant, in `seconds` for all of it."""

    folder: Path
    repeat: int
    seconds: float

    def row(self, kernel: str, sizes: Mapping[str, float], environment: Mapping[str, str], threads: int) -> Row | None:
        """The fastest variant of a kernel; None where the folder has no such program."""
        source = sources(self.folder).get(kernel)
        if source is None:
            return None
        rows = [self._variant(source, variant, sizes, environment) for variant in variants(threads)]
        good = [row for row in rows if row["status"] == "ok"]
        fallback = rows[0] if rows else {"status": "refused: no C compiler"}
        return min(good, key=lambda row: float(row["median"]), default=fallback)

    def _variant(
        self, source: Path, variant: Variant, sizes: Mapping[str, float], environment: Mapping[str, str]
    ) -> Row:
        row: Row = {"variant": str(variant)}
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder) / "program"
            start = time.perf_counter()
            words = self._command(source, variant, sizes, program)
            built = subprocess.run(words, capture_output=True, text=True, check=False)
            if built.returncode:
                first = next(iter(built.stderr.strip().splitlines()), "no message")
                return row | {"status": f"refused: {first[:200]}"}
            row["first_call"] = time.perf_counter() - start
            try:
                times = list(self._times(program, environment))
            except subprocess.TimeoutExpired:
                return row | {"status": f"timeout: more than {self.seconds:g} s"}
            except (subprocess.SubprocessError, ValueError) as error:
                return row | {"status": f"crash: {error}"}
        return row | {"status": "ok", "times": times, "median": statistics.median(times)}

    def _command(self, source: Path, variant: Variant, sizes: Mapping[str, float], program: Path) -> list[str]:
        utilities = self.folder / "utilities"
        macros = [f"-D{name}={value}" for name, value in sizes.items() if isinstance(value, int)]
        files = [str(source), str(utilities / "polybench.c")]
        places = ["-I", str(utilities), "-I", str(source.parent)]
        return [variant.compiler, *files, *places, *TIMED, *macros, "-o", str(program), *variant.flags, "-lm"]

    def _times(self, program: Path, environment: Mapping[str, str]) -> Iterator[float]:
        """What runs of a program print; one more than counts, and fewer where time is over."""
        end = time.perf_counter() + self.seconds
        for number in range(self.repeat + 1):
            left = max(end - time.perf_counter(), 1.0)
            done = subprocess.run(
                [str(program)],
                env=surroundings(environment),
                capture_output=True,
                text=True,
                timeout=left,
                check=True,
            )
            taken = float(done.stdout.split()[-1])
            if not math.isfinite(taken):
                raise ValueError(f"it prints {taken}")
            if number:
                yield taken
            if number and time.perf_counter() > end:
                return
