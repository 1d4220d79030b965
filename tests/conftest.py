"""What every test shares: what the markers need, golden files, a cache of compiled programs."""

from __future__ import annotations

import gc
import itertools
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from dcpy.base.options import launched_by_mpi
from dcpy.runtime.compilers.toolchain import candidates
from dcpy.runtime.compilers.zig import command_of_zig
from tests.support import devices, optimization, tiers, verified_lir

TESTS_BETWEEN = 200  # collections of garbage
finished = itertools.count(1)
GOLDEN = Path(__file__).parent / "golden"
EMULATOR = Path(sys.prefix) / "lib" / "libintelocl_emu.so"  # Intel's, of FPGAs

TOLERATED = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
COMMON = {"deadline": None, "suppress_health_check": TOLERATED}
settings.register_profile("default", max_examples=50, derandomize=True, **COMMON)
settings.load_profile("default")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write golden files")
    parser.addoption("--mpi-jobs", action="store_true", help="tests that start jobs of several ranks")
    parser.addoption("--gpu-backend", default="simulator", help="where programs for GPUs run: simulator, cuda or hip")
    parser.addoption("--exhaustive", action="store_true", help="all combinations, all oracles")


def pytest_configure(config: pytest.Config) -> None:
    """Compiled programs are kept between runs, keyed by content, away from the user's own cache."""
    kept = "exhaustive" if config.getoption("--exhaustive") else "dcpy"
    os.environ.setdefault("DCPY_CACHE_DIR", str(config.rootpath / ".pytest_cache" / kept))
    os.environ.setdefault("DCPY_FULL_TRACEBACKS", "1")  # a test that fails shows where
    verified_lir.install()
    optimization.install()
    devices.BACKEND = config.getoption("--gpu-backend")
    tiers.EXHAUSTIVE = config.getoption("--exhaustive")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    compiler = next(filter(shutil.which, candidates()), None) or command_of_zig()
    for item in items:
        if item.get_closest_marker("cc") and not compiler:
            item.add_marker(pytest.mark.skip(reason="no C++ compiler on PATH"))
        if item.get_closest_marker("hls") and not EMULATOR.exists():
            item.add_marker(pytest.mark.skip(reason="no emulator of FPGAs: make test-fpga installs it"))
        if item.get_closest_marker("gpu") and shutil.which("nvidia-smi") is None:
            item.add_marker(pytest.mark.skip(reason="no GPU"))
        if item.get_closest_marker("mpi_job") and not item.config.getoption("--mpi-jobs"):
            item.add_marker(pytest.mark.skip(reason="starts several ranks: make test-mpi runs it"))
        if item.get_closest_marker("mpi") and not launched_by_mpi():
            item.add_marker(pytest.mark.skip(reason="of several ranks: make test-mpi starts them"))


def pytest_runtest_setup(item: pytest.Item) -> None:
    optimization.begin(item, Path(__file__).parent)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: the garbage collector need not look at millions of objects again."""
    _keep()


def pytest_runtest_logfinish() -> None:
    """Nor at what hundreds of tests have left in caches: those that collect garbage themselves take a second each."""
    if next(finished) % TESTS_BETWEEN == 0:
        _keep()


def _keep() -> None:
    gc.collect()
    gc.freeze()


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[..., None]:
    """Compare a text with tests/golden/<test file>/<test name>.txt; `pytest --update-golden` writes it."""

    def check(text: str, name: str = "") -> None:
        module = request.path.relative_to(Path(__file__).parent).with_suffix("")
        path = GOLDEN / module / f"{name or request.node.name}.txt"
        if request.config.getoption("--update-golden"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert path.is_file(), f"no golden file {path}; run pytest --update-golden and review the diff"
        assert text == path.read_text()

    return check
