"""``python -m benchmarks.device_campaign --seconds 540 --out results``: all that is asked of a GPU, in so many seconds.

Steps in order of worth, each with its share of the time; what an earlier campaign into the same folder has found stays.
`--prepare-wheels` is for the day before, `--report` for afterwards. Without a GPU it says so and ends with 2;
DCPY_GPU_BACKEND=simulator tries all of it on the simulator.
"""

from __future__ import annotations

import argparse
import os
import platform
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.device_campaign import installing, residents
from benchmarks.device_campaign.here import facts
from benchmarks.device_campaign.plan import STEPS, Campaign
from benchmarks.device_campaign.residents import ROOT
from benchmarks.device_campaign.setting import Setting
from benchmarks.device_campaign.steps import files_of, kernels_in_order
from benchmarks.device_campaign.store import UNFINISHED, read
from benchmarks.devices import FRAMEWORKS
from benchmarks.devices.device import is_simulated
from benchmarks.npbench import kernels

NO_GPU = "no GPU: nothing is measured, and nothing is said about time (dcpy doctor --gpu says what was looked for)"
SIMULATED = {"preset": "XS", "compared": "XS", "ceiling": 1 << 16, "measured": 0.05, "repeat": 3}


def options(words: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.device_campaign", description=__doc__)
    parser.add_argument("--seconds", type=float, default=540.0, help="for everything")
    parser.add_argument("--out", type=Path, default=Path("build/device-campaign/results"), help="folder of results")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "device-campaign", help="folder of caches")
    parser.add_argument("--steps", help="names, with commas between: " + ", ".join(step.name for step in STEPS))
    parser.add_argument("--only", help="kernels, with commas between")
    parser.add_argument("--frameworks", default=",".join(FRAMEWORKS), help="of " + ", ".join(FRAMEWORKS))
    parser.add_argument("--preset", choices=("XS", "S", "M", "L", "paper"), help="that is measured (default: paper)")
    parser.add_argument("--compared", choices=("XS", "S", "M", "L", "paper"), help="at which results are compared (S)")
    parser.add_argument("--jobs", type=int, help="processes that compile at once")
    parser.add_argument("--patience", type=float, default=1.0, help="times the limits of single tasks")
    parser.add_argument("--commit", default="", help="what is measured, where there is no repository")
    parser.add_argument("--wheels", type=Path, default=ROOT / ".whl", help="folder of wheels that were carried along")
    parser.add_argument("--prepare-wheels", type=Path, metavar="DIR", help="download them into a folder, and end")
    parser.add_argument(
        "--python", default=f"{sys.version_info.major}.{sys.version_info.minor}", help="for that version"
    )
    parser.add_argument("--machine", default=platform.machine(), help="and that processor")
    parser.add_argument(
        "--report", type=Path, help="a Markdown file that takes the tables of what OUT has; measures nothing"
    )
    chosen = parser.parse_args(words)
    named = [step.name for step in STEPS]
    chosen.steps = chosen.steps.split(",") if chosen.steps else named
    chosen.only = chosen.only.split(",") if chosen.only else list(kernels())
    chosen.frameworks = chosen.frameworks.split(",")
    for name, known in ((chosen.steps, named), (chosen.only, kernels()), (chosen.frameworks, FRAMEWORKS)):
        unknown = sorted(set(name) - set(known))
        if unknown:
            parser.error(f"unknown: {', '.join(unknown)}; known: {', '.join(known)}")
    return chosen


def setting_of(chosen: argparse.Namespace) -> Setting:
    """What the words ask for, on what is here."""
    simulated = is_simulated()
    more = dict(SIMULATED) if simulated else {}
    more |= {name: value for name in ("preset", "compared", "jobs") if (value := getattr(chosen, name)) is not None}
    names = tuple(name for name in FRAMEWORKS if name in chosen.frameworks)
    return Setting(
        chosen.work.absolute(),
        simulated,
        kernels=kernels_in_order(chosen.only),
        frameworks=names,
        patience=chosen.patience,
        **more,
    )


def main(words: Sequence[str] | None = None) -> int:
    start = time.monotonic()
    chosen = options(words)
    if chosen.report:
        from benchmarks.device_campaign import report

        return report.write(chosen.out, chosen.report)
    try:
        if chosen.prepare_wheels:
            installing.download(chosen.prepare_wheels, chosen.python, chosen.machine, print)
            return 0
        chosen.out.mkdir(parents=True, exist_ok=True)
        (chosen.work / "tmp").mkdir(parents=True, exist_ok=True)
        installing.install(chosen.work.absolute(), chosen.wheels.absolute(), start + chosen.seconds, print)
        return campaign(chosen, start + chosen.seconds)
    except (installing.CannotInstall, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 1


def campaign(chosen: argparse.Namespace, end: float) -> int:
    """Runs the steps that are chosen until `end`: 0 where it got through, whether or not all was reached."""
    os.environ["TMPDIR"] = str(chosen.work.absolute() / "tmp")
    setting = setting_of(chosen)
    found = facts(setting, chosen.commit, max(end - time.monotonic(), 0.1))
    if found["device"] is None:
        print(found["problem"] or NO_GPU, file=sys.stderr)
        return 2
    for path in files_of(chosen.out):
        before = read(path)
        if before["device"]["name"] != found["device"]["name"] or before["preset"] != found["preset"]:
            print(
                f"{path} is of another device or preset: {before['device']['name']}, {before['preset']}",
                file=sys.stderr,
            )
            return 1
    (chosen.out / UNFINISHED).unlink(missing_ok=True)
    missing = f"; missing: {', '.join(found['missing'])}" if found["missing"] else ""
    print(f"{found['device']['name']}; {found['commit'] or found['sources']}{missing}", flush=True)
    running = Campaign(setting, chosen.out, end, found, lambda line: print(line, flush=True))

    def cut(number: int, frame: object) -> None:
        running.stop()
        residents.stop_all()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, cut)
    whole = running.run([step for step in STEPS if step.name in chosen.steps])
    lost = [store.path.name for store in running.stores.values() if store.lost]
    told = "all steps are done" if whole else "cut where the time was over: the same command goes on"
    print(f"{told}; {chosen.out}" + (f"; not written: {', '.join(lost)}" if lost else ""), flush=True)
    return 1 if lost else 0


if __name__ == "__main__":
    raise SystemExit(main())
