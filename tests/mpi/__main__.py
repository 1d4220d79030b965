"""``python -m tests.mpi [2 3 4 | all]``: tests of several ranks, one mpirun for each number of them."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dcpy.base.errors import DcpyError
from dcpy.base.options import environment_of_ranks
from dcpy.cli.rank_launcher import command_for
from tests.support.message_counter import compiled_counter

ROOT = Path(__file__).parents[2]
ALL = range(1, 9)
JOBS = ("tests/mpi/test_jobs.py", "tests/mpi/test_errors_in_jobs.py", "tests/mpi/test_signals.py")
SECONDS = int(600 * (1 + os.getloadavg()[0] / (os.cpu_count() or 1)))  # longer where others compute, too


def run(ranks: int, *arguments: str) -> int:
    """The tests of so many ranks; where they fail, what each rank other than 0 said is printed."""
    with tempfile.TemporaryDirectory() as folder:
        rest = ["-q", "-p", "no:cacheprovider", "tests/mpi/on_ranks", *arguments]
        command = command_for(ranks, ["-m", "tests.mpi.rank", folder, *rest])
        python = command.index(sys.executable)
        command[python:python] = ["env", f"LD_PRELOAD={compiled_counter(folder)}"]
        environment = environment_of_ranks(ranks) | {"DCPY_FULL_TRACEBACKS": "1"}
        start = time.perf_counter()
        try:
            code = subprocess.run(command, cwd=ROOT, env=environment, timeout=SECONDS, check=False).returncode
        except subprocess.TimeoutExpired:
            code = 124
        print(f"{ranks} ranks: {'ok' if code == 0 else f'exit code {code}'}, {time.perf_counter() - start:.1f} s")
        for path in sorted(Path(folder).glob("rank*.txt")) if code else ():
            print(f"--- {path.stem}\n{path.read_text()[-4000:]}")
    return code


def main(arguments: list[str]) -> int:
    """All numbers of ranks in turn, beside jobs that fail; the worst exit code."""
    numbers = [word for word in arguments if word.isdecimal() or word == "all"] or ["2", "3", "4"]
    rest = [word for word in arguments if word not in numbers]
    counts = list(ALL) if "all" in numbers else [int(word) for word in numbers]
    try:
        command_for(1, [])
    except DcpyError as error:
        print(f"skipped: {error.message} ({error.help})")
        return 0
    jobs = [sys.executable, "-m", "pytest", "-q", "--mpi-jobs", *JOBS, *rest]
    jobs += [] if "all" in numbers else ["-m", "not heavy"]
    with ThreadPoolExecutor(1) as beside:  # a rank compiles while the others wait: one job leaves processors idle
        ran = beside.submit(subprocess.run, jobs, cwd=ROOT, timeout=SECONDS, check=False, text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        codes = [run(ranks, *rest) for ranks in counts]
    print(ran.result().stdout)
    return max(*codes, ran.result().returncode % 5)  # 5: none selected


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
