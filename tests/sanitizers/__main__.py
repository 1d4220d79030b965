"""`python -m tests.sanitizers address|threads`: compiled tests under a sanitizer; 1 if it reports anything.

`address` is AddressSanitizer with UndefinedBehaviorSanitizer, over all kernels of NPBench, all traps, the examples,
NumPy's functions and random programs. `threads` is ThreadSanitizer, over what runs in parallel. Both start teams of
four threads however small the work is. That faults are reported is a test: test_sanitizers.py.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.sanitizers.sanitizer import SANITIZERS, reports
from tests.support.spent import Stopwatch

PARALLEL = (
    "tests/benchmarks/test_dcpy.py",
    "tests/end_to_end/dataflow/test_streams.py",
    "tests/end_to_end/test_maps.py",
    "tests/end_to_end/test_dependences.py",
    "tests/end_to_end/test_examples.py",
    "tests/fuzz",
)
TESTS = {
    "address": (
        "tests/benchmarks/test_dcpy.py",
        "tests/codegen",
        "tests/end_to_end",
        "tests/frontend/numpy",
        "tests/fuzz",
        "tests/libraries",
        "tests/runtime/gpu/test_deferred_errors.py",
        "tests/runtime/gpu/test_graphs.py",
        "tests/runtime/gpu/test_wide_programs.py",
        "tests/runtime/gpu/test_workspace.py",
        "--ignore=tests/codegen/fpga",  # processes of hardware have stacks of their own, which it takes for overflows
        "--ignore=tests/libraries/blas/expand/test_systolic_arrays.py",
        "--ignore=tests/end_to_end/test_standalone_programs.py",  # links programs of its own, as do the next two
        "--ignore=tests/end_to_end/test_ahead_of_time.py",
        "--deselect=tests/end_to_end/test_data_dependent_sizes.py::test_results_that_c_frees",
        "--deselect=tests/end_to_end/test_data_dependent_sizes.py::test_memory_is_freed_whatever_happens",  # measures
        "--deselect=tests/end_to_end/test_tuning.py::test_the_result_is_a_table_the_quickest_first",
        "--deselect=tests/libraries/test_compiled.py::test_no_reduction_needs_an_atomic",  # reads the code
    ),
    "threads": PARALLEL,
}


def main(name: str, *more: str) -> int:
    """Runs the tests (`more` goes to pytest), and prints what was reported."""
    watch = Stopwatch()
    with tempfile.TemporaryDirectory() as folder:
        pytest = ("-m", "pytest", "-q", "-n", "auto", "-m", "cc and not perf and not heavy", "-p", "no:cacheprovider")
        words = (*pytest, "-p", "tests.sanitizers.teams", *(more or TESTS[name]))
        status = SANITIZERS[name].run(Path(folder), *words)
        found = reports(Path(folder))
    print(
        f"{found}\n{name}: {found.count('ERROR: ') + found.count('WARNING: ') + found.count('runtime error: ')} reports"
    )
    print(f"{watch}")
    return 1 if found or status else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
