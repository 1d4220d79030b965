"""The setting of a campaign: sizes, repetitions and interpreters, on a device or in the simulator."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.device_campaign.order import ORDER
from benchmarks.device_campaign.residents import Role
from benchmarks.devices import FRAMEWORKS

KERNELS, CEILINGS, BY_HAND = (f"benchmarks.device_campaign.{name}" for name in ("of_kernels", "ceilings", "by_hand"))
PROCESSES = 14  #: that compile at once, where there are processors for them


@dataclass(frozen=True)
class Setting:
    """What a campaign is run with. `work` holds caches of compiled programs: with it, a later campaign starts warm.

    `compared` is the preset that results are compared with NumPy's at, `preset` that which is measured.
    """

    work: Path
    simulated: bool
    preset: str = "paper"
    compared: str = "S"
    kernels: tuple[str, ...] = tuple(ORDER)
    frameworks: tuple[str, ...] = tuple(FRAMEWORKS)
    ceiling: int = 1 << 30  #: bytes of an array
    measured: float = 0.4  #: seconds of calls of a kernel
    repeat: int = 50
    patience: float = 1.0  #: times the limits of single tasks
    jobs: int = field(default_factory=lambda: max(1, min(PROCESSES, (os.cpu_count() or 2) - 1)))

    def python(self, framework: str) -> Path | None:
        """The interpreter that has a peer; None where nothing has it."""
        if framework in FRAMEWORKS:
            return FRAMEWORKS[framework].python
        package = "numba" if framework == "numba-cuda" else "numpy"
        return Path(sys.executable) if importlib.util.find_spec(package) is not None else None

    def role(self, framework: str, module: str) -> Role | None:
        """Who answers for a framework; None where it is missing."""
        python = self.python(framework)
        if python is None:
            return None
        exact = {} if module == CEILINGS else self.environment(framework, python)
        return Role(framework, module, python, exact)

    def environment(self, framework: str, python: Path = Path(sys.executable)) -> Mapping[str, str]:
        """What a framework reads: places of its caches, and that it computes in full precision."""
        folder = self.cache(framework)
        own = FRAMEWORKS[framework].environment if framework in FRAMEWORKS else {}
        return {name: value.format(folder=folder, prefix=python.parent.parent) for name, value in own.items()}

    def cache(self, framework: str) -> Path:
        """The folder of what a framework has compiled."""
        folder = self.work / "caches" / framework
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def present(self) -> list[str]:
        """The frameworks that are asked for, and there."""
        return [name for name in self.frameworks if self.python(name) is not None]


def age_of_caches(setting: Setting) -> str:
    """A word for the caches that are there now: rows about what they hold carry it."""
    path = setting.work / "caches" / "made"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(os.urandom(8).hex())
    return path.read_text()
