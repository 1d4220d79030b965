"""What dcpy needs on a machine without a network: wheels that were carried there, and its native parts, built in place.

`download` is for the day before, `install` for the machine itself, which has a Python with NumPy, a C++ compiler, and
the packages of a CUDA image; islpy and OpenBLAS are in none.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from benchmarks.device_campaign.residents import ROOT

LACKED = {"islpy": "islpy", "scipy-openblas32": "scipy_openblas32"}  #: distributions, and what they are imported as
TESTING = ("hypothesis", "sortedcontainers", "pytest", "pluggy", "iniconfig", "packaging", "pygments")  #: for the tests
PRESENT = ("numpy", "sympy", "networkx", "jinja2")  #: dcpy needs them, too: a CUDA image with PyTorch has them
PLATFORMS = ("manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014", "manylinux1")
SITE = "site"  #: the folder of installed wheels, in that of a campaign's work
SECONDS = 600.0  #: of a download


class CannotInstall(Exception):
    """What is missing, and what to do about it."""


def download(folder: Path, version: str, machine: str, tell: Callable[[str], object]) -> None:
    """Fetches the wheels for a Python of this version, and says how to carry them."""
    words = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    words += ["--only-binary=:all:", "--implementation", "cp", "--python-version", version]
    words += [word for name in PLATFORMS for word in ("--platform", f"{name}_{machine}")]
    folder.mkdir(parents=True, exist_ok=True)
    _run([*words, "--dest", str(folder), *LACKED, *TESTING], "wheels are not downloaded", time.monotonic() + SECONDS)
    wheels = sorted(folder.glob("*.whl"))
    size, names = sum(path.stat().st_size for path in wheels) / 2**20, ", ".join(path.name for path in wheels)
    tell(f"{len(wheels)} wheels for Python {version}, {size:.1f} MiB, are in {folder}: {names}")
    tell("Carry that folder along with the checkout (git ignores *.whl), and there:")
    tell(f"    make device-campaign SECONDS=540 OUT=results WHEELS={folder} PYTHON=python3")


def install(work: Path, wheels: Path, end: float, tell: Callable[[str], object]) -> None:
    """Installs the wheels and builds what is missing, until `end` by `time.monotonic`.

    This process and those it starts find all of it. Raises `CannotInstall`.
    """
    use(work)
    absent = [name for name, module in LACKED.items() if not _is_there(module)]
    found = sorted(wheels.glob("*.whl")) if wheels.is_dir() else []
    if absent or (found and not all(map(_is_there, TESTING))):
        if not found:
            raise CannotInstall(
                f"{', '.join(absent)}: not installed, and {wheels} has no wheels of it; with a network, "
                f"`python -m benchmarks.device_campaign --prepare-wheels {wheels} --python {_version()}` fetches them"
            )
        words = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index"]
        words += ["--no-deps", "--no-compile", "--no-cache-dir", "--upgrade", "--target", str(work / SITE)]
        _run([*words, *map(str, found)], "wheels are not installed", end)
        use(work)
        tell(f"installed {', '.join(path.name for path in found)}")
    still = [name for name in (*LACKED.values(), *PRESENT) if not _is_there(name)]
    if still:
        raise CannotInstall(
            f"{', '.join(still)}: not in this Python ({sys.executable}); wheels can be carried in {wheels}"
        )
    if not _is_there("dcpy.runtime._dispatch"):
        build(work / "build", end)
        importlib.invalidate_caches()
        tell("built dcpy's native parts in place")


def build(folder: Path, end: float) -> None:
    """Builds the native parts by setup.py in a copy of their sources, and puts them in their places.

    pyproject.toml stays behind: setuptools before 77 refuses how it names the licence, and an image may have any.
    """
    shutil.rmtree(folder, ignore_errors=True)
    for source in (ROOT / "setup.py", *sorted((ROOT / "dcpy").rglob("*.cpp")), *sorted((ROOT / "dcpy").rglob("*.h"))):
        copy = folder / source.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
    _run([sys.executable, "setup.py", "-q", "build_ext", "--inplace"], "dcpy is not built", end, folder)
    for built in sorted((folder / "dcpy").rglob(f"*{sysconfig.get_config_var('EXT_SUFFIX')}")):
        shutil.copyfile(built, ROOT / built.relative_to(folder))


def use(work: Path) -> None:
    """Lets this process, and those it starts, find what is installed in the folder of a campaign's work."""
    site = str(work / SITE)
    if site not in sys.path:
        sys.path.append(site)
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (os.environ.get("PYTHONPATH", ""), site)))
    importlib.invalidate_caches()


def versions(names: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Of distributions that are installed."""
    import importlib.metadata

    for name in names:
        try:
            yield name, importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue


def _is_there(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


def _version() -> str:
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def _run(words: Sequence[str], failing: str, end: float, folder: Path | None = None) -> None:
    seconds = max(end - time.monotonic(), 0.0)
    try:
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=seconds, check=False)
    except subprocess.TimeoutExpired:
        raise CannotInstall(f"{failing}: more than the {seconds:.0f} s that were left") from None
    if done.returncode:
        told = [line for line in (done.stderr + done.stdout).strip().splitlines() if line.strip()]
        raise CannotInstall(f"{failing}: " + "\n".join(told[-12:] or ["no message"]))
