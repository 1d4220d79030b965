"""The tasks of each step, in order of worth, given what earlier steps have found."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from benchmarks.device_campaign import counters
from benchmarks.device_campaign.ceilings import DEVICES, WHAT
from benchmarks.device_campaign.order import ORDER
from benchmarks.device_campaign.problems import PROBLEMS
from benchmarks.device_campaign.residents import ROOT, crash
from benchmarks.device_campaign.setting import BY_HAND, CEILINGS, KERNELS, Setting, age_of_caches
from benchmarks.device_campaign.tasks import Command, Desk, Question, Row, Task

Rows = Mapping[str, Mapping[str, Row]]  #: of earlier steps, by file, by key
OUT_OF_MEMORY = re.compile("memory|RESOURCE_EXHAUSTED", re.IGNORECASE)  # others had it then
TOOLS = ("memcheck", "racecheck", "initcheck", "synccheck")
COMPILED, TIMED = 30.0, 12.0  #: seconds for a kernel, in one framework
TOGETHER = 3  # kernels in one process of a sanitizer
SUITE = (
    "tests/end_to_end/test_gpu*.py",
    "tests/benchmarks/test_gpu.py",
    "tests/benchmarks/test_gpu_float32.py",
    "tests/libraries/vendor/test_*.py",
)


@dataclass(frozen=True)
class Known(Task):
    """What need not be asked again."""

    row: Row

    def run(self, desk: Desk, seconds: float) -> Row:
        return dict(self.row)


def dcpy_command(setting: Setting, *words: str) -> tuple[list[str], Mapping[str, str]]:
    """A module of this repository in the interpreter of dcpy, with its cache."""
    return [sys.executable, "-m", *words], setting.environment("dcpy")


def ceilings(setting: Setting, rows: Rows) -> Iterator[Task]:
    """What the device can do at best, by the first of PyTorch and CuPy that is there; then ``dcpy doctor --gpu``."""
    role = next(filter(None, (setting.role(name, CEILINGS) for name in DEVICES if name in setting.frameworks)), None)
    for what in WHAT if role else ():
        assert role is not None
        question = {"what": what, "size": setting.ceiling, "measured": min(setting.measured, 0.25)}
        yield Question({"ceiling": what, "framework": role.name}, 20 * setting.patience, role, question)
    if role is None:
        yield Known({"ceiling": "all"}, 1, {"status": "missing: neither PyTorch nor CuPy"})
    words, environment = dcpy_command(setting, "dcpy.cli.main", "doctor", "--gpu")
    yield Command({"doctor": "dcpy"}, 60 * setting.patience, words, environment, said)


def said(code: int, text: str) -> Row:
    """All that a command has said."""
    return {"lines": text.splitlines(), "status": "ok" if code == 0 else crash(code, text)}


def compiling(setting: Setting, rows: Rows) -> Iterator[Task]:
    """All kernels in all frameworks, compared with NumPy; what is compiled stays in their caches. dcpy is first."""
    names = setting.present()
    mine = [(kernel, "dcpy") for kernel in setting.kernels if "dcpy" in names]
    theirs = [(kernel, name) for kernel in setting.kernels for name in names if name != "dcpy"]
    age = age_of_caches(setting)
    for kernel, name in (*mine, *theirs):
        key = {"kernel": kernel, "framework": name, "caches": age}
        question = {"ask": "check", "kernel": kernel, "compared": setting.compared, "preset": setting.preset}
        role = setting.role(name, KERNELS)
        assert role is not None
        yield Question(key, COMPILED * setting.patience, role, question)


def clock(setting: Setting, rows: Rows) -> Iterator[Task]:
    """Kernel by kernel, in all frameworks; what did not get through the step before has its status from there.

    What that step has not reached is compiled here, with more time.
    """
    before = {(row["key"]["kernel"], row["key"]["framework"]): row for row in rows["2-compile"].values()}
    age = age_of_caches(setting)
    for kernel in setting.kernels:
        for name in setting.present():
            key = {"kernel": kernel, "framework": name}
            found = before.get((kernel, name))
            if found and found["status"] != "ok" and not OUT_OF_MEMORY.search(found["status"]):
                yield Known(key, 1, {"preset": setting.preset, "status": found["status"]})
                continue
            role = setting.role(name, KERNELS)
            assert role is not None
            warm = found is not None and found["key"]["caches"] == age
            limit = (TIMED if warm else COMPILED + TIMED) * setting.patience
            yield Question(key, limit, role, time_of(setting, kernel), {"preset": setting.preset})


def time_of(setting: Setting, kernel: str) -> dict[str, Any]:
    """The question for a kernel's time."""
    rest = {"preset": setting.preset, "repeat": setting.repeat, "measured": setting.measured}
    return {"ask": "time", "kernel": kernel, **rest}


def by_hand(setting: Setting, rows: Rows) -> Iterator[Task]:
    """Problem by problem: dcpy, CUDA C, numba-cuda."""
    for problem in PROBLEMS.values():
        for name in ("dcpy", "cuda-c", "numba-cuda"):
            key = {"problem": problem.name, "framework": name}
            role = setting.role(name, BY_HAND)
            if role is None:
                yield Known(key, 1, {"status": f"missing: {name}"})
                continue
            size = 500 if setting.simulated else problem.size
            question = {"problem": problem.name, "compared": 500, "size": size}
            question |= {"repeat": setting.repeat, "measured": setting.measured}
            yield Question(key, 20 * setting.patience, role, question)


def ablation(setting: Setting, rows: Rows) -> Iterator[Task]:
    """Each pass for GPUs that is a choice, left out of kernels where it changes something: first one kernel each."""
    fires: dict[str, list[str]] = {name: [] for name in choices()}
    by_kernel = {row["key"]["kernel"]: row for row in rows["2-compile"].values() if "passes" in row}
    for kernel in filter(by_kernel.__contains__, setting.kernels):
        for name in filter(fires.__contains__, by_kernel[kernel]["passes"]):
            fires[name].append(kernel)
    role = setting.role("dcpy", KERNELS)
    assert role is not None
    for kernels in zip_longest(*fires.values()):
        for name, kernel in zip(fires, kernels, strict=True):
            if kernel is not None:
                question = {**time_of(setting, kernel), "ask": "ablate", "without": name, "compared": setting.compared}
                yield Question({"pass": name, "kernel": kernel}, 20 * setting.patience, role, question)


def choices() -> list[str]:
    """The passes for GPUs that decide what pays: programs may do without them."""
    from dcpy.base.option_groups.gpu import GpuOptions
    from dcpy.transforms.gpu.lowering import gpu_pipeline

    steps = [step for step in gpu_pipeline(GpuOptions()).parts() if step.optional]
    return [step.name for step in steps if type(step).__module__.startswith("dcpy.transforms.gpu.")]


def sanitizer(setting: Setting, rows: Rows) -> Iterator[Task]:
    """compute-sanitizer's tools over all kernels at their smallest sizes."""
    if shutil.which("compute-sanitizer") is None:
        yield Known({"tool": "compute-sanitizer"}, 1, {"status": "missing: compute-sanitizer is not on PATH"})
        return
    groups = [setting.kernels[k : k + TOGETHER] for k in range(0, len(setting.kernels), TOGETHER)]
    for tool in TOOLS:
        for names in map(",".join, groups):
            words = ("tests.sanitizers.device", "--tools", tool, "--only", names, "--jobs", "1")
            command, environment = dcpy_command(setting, *words)
            yield Command({"tool": tool, "kernels": names}, 60 * setting.patience, command, environment, reports)


def reports(code: int, text: str) -> Row:
    """What a tool reports: none, lines, or that it fails."""
    lines = text.splitlines()
    if code == 0:
        return {"status": "ok"}
    return {"lines": lines, "status": f"wrong: {len(lines) - 1} reports" if code == 1 else crash(code, text)}


def counted(setting: Setting, rows: Rows) -> Iterator[Task]:
    """Bytes and occupancy of kernels by ncu, for ten programs."""
    if shutil.which("ncu") is None:
        yield Known({"tool": "ncu"}, 1, {"status": "missing: ncu is not on PATH"})
        return
    for kernel in [name for name in counters.KERNELS if name in setting.kernels]:
        words, environment = dcpy_command(setting, "benchmarks.device_campaign.once", kernel, setting.preset)
        yield Command(
            {"tool": "ncu", "kernel": kernel},
            30 * setting.patience,
            [*counters.NCU, *words],
            environment,
            counters.read,
        )


def tests(setting: Setting, rows: Rows) -> Iterator[Task]:
    """The tests marked `gpu`, then those of programs on GPUs, file by file."""
    backend = "simulator" if setting.simulated else "cuda"
    missing = [name for name in ("pytest", "hypothesis") if importlib.util.find_spec(name) is None]
    if missing:
        yield Known({"file": "all"}, 1, {"status": f"missing: {', '.join(missing)}"})
        return
    files = sorted(file for pattern in SUITE for file in ROOT.glob(pattern))
    marked = [file for file in files if "pytest.mark.gpu" in file.read_text()]
    for file in (*marked, *(file for file in files if file not in marked)):
        name = str(file.relative_to(ROOT))
        words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        words += ["-o", "filterwarnings=default", "--gpu-backend", backend, name]
        environment = {"DCPY_CACHE_DIR": str(setting.cache("tests")), "HYPOTHESIS_STORAGE_DIRECTORY": str(setting.work)}
        yield Command({"file": name}, 120 * setting.patience, words, environment, passed, ROOT)


NO_TESTS = 5  # pytest's exit status


def passed(code: int, text: str) -> Row:
    """How many tests passed, and the names of those that failed."""
    lines = [line for line in text.splitlines() if line.strip()]
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    last = lines[-1].strip("= ") if lines else "no message"
    if code == 1 and failed:
        return {"lines": failed, "status": f"wrong: {last}"}
    return {"said": last, "status": "ok"} if code in (0, NO_TESTS) else {"status": crash(code, text)}


Tasks = Callable[[Setting, Rows], Iterator[Task]]


def kernels_in_order(names: Sequence[str]) -> tuple[str, ...]:
    """Those of the suite that are named, in the order of a campaign."""
    return tuple(name for name in ORDER if name in names)


def files_of(out: Path) -> list[Path]:
    """What a campaign has written, in the order of its steps."""
    return sorted(out.glob("[1-9]-*.json"))
