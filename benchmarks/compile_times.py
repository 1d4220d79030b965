"""How long first calls take, with an empty cache, in new processes: dcpy's own share by phase, and the C++ compiler's.

    python -m benchmarks.compile_times [--plain | --auto] [NAME ...]

The programs are those of `benchmarks/codes`, ``generated-COUNT`` (statements) and ``terms-COUNT`` (one sum). Times are
processor seconds of this process and of the compiler, so that a busy machine disturbs them little; what importing dcpy
and the program costs is not in them.
"""

from __future__ import annotations

import argparse
import tempfile

from benchmarks.codes import NAMES
from benchmarks.timing import in_new_process

COUNTS = (100, 250, 500, 1000, 2000)
TERMS = (200, 400)
PROGRAMS = (*NAMES, *(f"generated-{count}" for count in COUNTS), *(f"terms-{count}" for count in TERMS))
PHASES = ("frontend", "simplify", "optimize", "lower", "codegen", "load")

MEASURE = """
import importlib, importlib.util, json, pathlib, resource, sys, time
import dcpy
from benchmarks.codes import generated
name, auto, folder = sys.argv[1], sys.argv[2] == "auto", pathlib.Path(sys.argv[3])
kind, _, count = name.partition("-")
if count:
    path = folder / "generated_program.py"
    path.write_text((generated.terms if kind == "terms" else generated.source)(int(count)))
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    arguments = generated.arguments(16)
else:
    module = importlib.import_module(f"benchmarks.codes.{name}")
    arguments = module.arguments(16)
program = dcpy.program(module.program, auto_optimize=auto, cache_dir=str(folder / "cache"))
of_compiler = lambda: sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
start, wall = time.process_time(), time.perf_counter()
program(*arguments)
own, wall = time.process_time() - start, time.perf_counter() - wall
phases = {phase: seconds for phase, seconds in program.profile.items() if phase != "compiler"}
scale = own / (sum(phases.values()) or 1.0)
files = [path.read_text().splitlines() for path in (folder / "cache").rglob("*.cpp")]
print(json.dumps({
    "own": own, "compiler": of_compiler(), "wall": wall, "lines": sum(map(len, files)),
    **{phase: seconds * scale for phase, seconds in phases.items()},
}))
"""


def measure(name: str, *, auto: bool) -> dict[str, float]:
    """Processor seconds of one first call: ``own``, ``compiler``, and each phase; and lines of C++."""
    with tempfile.TemporaryDirectory() as folder:
        result: dict[str, float] = in_new_process(MEASURE, name, "auto" if auto else "plain", folder, cache=folder)
    return result


def row(name: str, mode: str, found: dict[str, float]) -> str:
    """One line of the table."""
    phases = " | ".join(f"{found.get(phase, 0.0):.2f}" for phase in PHASES)
    return f"| {name} | {mode} | {found['own']:.2f} | {phases} | {found['compiler']:.2f} | {found['lines']:.0f} |"


def growth(seconds: dict[str, float]) -> float:
    """Time per statement of the longest generated program measured over that at 250 statements."""
    longest = max(int(name.split("-")[1]) for name in seconds)
    return seconds[f"generated-{longest}"] / longest / (seconds["generated-250"] / 250)


def main() -> None:
    """Prints the table, a row as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PROGRAMS))
    parser.add_argument("--plain", action="store_true", help="without auto_optimize only")
    parser.add_argument("--auto", action="store_true", help="with auto_optimize only")
    chosen = parser.parse_args()
    modes = [mode for mode in ("plain", "auto") if getattr(chosen, mode)] or ["plain", "auto"]
    print(f"| program | mode | dcpy, s | {' | '.join(PHASES)} | C++ compiler, s | lines of C++ |")
    print("|---" * (len(PHASES) + 5) + "|")
    for mode in modes:
        generated: dict[str, float] = {}
        sums: dict[str, float] = {}
        for name in chosen.names or PROGRAMS:
            found = measure(name, auto=mode == "auto")
            print(row(name, mode, found), flush=True)
            if name.startswith("generated-"):
                generated[name] = found["own"]
            if name.startswith("terms-"):
                sums[name] = found["own"] + found["compiler"]
        if "generated-250" in generated and len(generated) > 1:
            print(f"\n{mode}: time per statement grows {growth(generated):.2f}-fold from 250 statements to the most\n")
        if all(f"terms-{count}" in sums for count in TERMS):
            few, many = (sums[f"terms-{count}"] for count in TERMS)
            print(f"\n{mode}: {TERMS[1]} terms take {many / few:.2f} times as long as {TERMS[0]}\n")


if __name__ == "__main__":
    main()
