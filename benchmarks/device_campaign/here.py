"""What is here: the device, this code, and the versions of all who take part. Found out in processes of their own."""

from __future__ import annotations

import hashlib
import json
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any

from benchmarks.device_campaign.installing import versions
from benchmarks.device_campaign.residents import ROOT
from benchmarks.device_campaign.setting import Setting
from benchmarks.device_campaign.tasks import Command, Desk
from benchmarks.devices.device import device_that_is_there

DISTRIBUTIONS = (
    "numpy",
    "jax",
    "torch",
    "triton",
    "numba",
    "numba-cuda",
    "cupy-cuda12x",
    "cupy-cuda13x",
    "nvidia-cuda-nvrtc",
)
SECONDS = 60.0


def facts(setting: Setting, commit: str = "", seconds: float = SECONDS) -> dict[str, Any]:
    """What each file of results begins with; `device` is None where there is none, or it does not answer in time."""
    command = Command({}, SECONDS, [sys.executable, "-m", __name__], setting.environment("dcpy"), _last_line)
    found = command.run(Desk(setting.work, 0), min(seconds, SECONDS))
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "device": found.get("device"),
        "problem": "" if found["status"] == "ok" else found["status"],
        "simulated": setting.simulated,
        "preset": setting.preset,
        "commit": commit or _commit(),
        "sources": digest(),
        "python": platform.python_version(),
        "versions": dict(versions(DISTRIBUTIONS)) | _nvcc(),
        "missing": [name for name in setting.frameworks if setting.python(name) is None],
    }


def digest() -> str:
    """Of the compiler's sources: the same for the same code, with or without a repository around it."""
    found = hashlib.sha256()
    for path in sorted((ROOT / "dcpy").rglob("*")):
        if path.suffix in (".py", ".cpp", ".h"):
            found.update(str(path.relative_to(ROOT)).encode() + path.read_bytes())
    return found.hexdigest()[:12]


def _commit() -> str:
    try:
        done = subprocess.run(
            ["git", "rev-parse", "--short=12", "HEAD"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            timeout=10,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip()


def _nvcc() -> dict[str, str]:
    path = shutil.which("nvcc")
    if path is None:
        return {}
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return {}
    words = done.stdout.partition("release ")[2].split(",")
    return {"nvcc": words[0]} if words[0] else {}


def _last_line(code: int, said: str) -> dict[str, Any]:
    try:
        return {"device": json.loads(said.strip().splitlines()[-1]), "status": "ok"}
    except (IndexError, ValueError):
        return {"status": f"exit {code}: {said.strip()[-300:] or 'no message'}"}


def main() -> None:
    """Prints the device that this process finds."""
    device = device_that_is_there()
    print("\n" + json.dumps(None if device is None else asdict(device)))


if __name__ == "__main__":
    main()
