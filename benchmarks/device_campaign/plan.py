"""The plan: steps in order of worth, how the seconds are shared out among them, and how a campaign goes through them.

A step gets its share of what is left, so what one does not need is left to the next ones; none goes beyond the whole.
Steps that were cut share what the last one leaves, again in order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.device_campaign import steps
from benchmarks.device_campaign.setting import Setting
from benchmarks.device_campaign.store import Store
from benchmarks.device_campaign.tasks import Desk, Row, Task, Work

RESERVE = 2.0  #: seconds that are left for the last row to be written

WORTHWHILE = 5.0  #: seconds: with less left, steps that were cut stay so


@dataclass(frozen=True)
class Step:
    """One of them: `share` of the seconds (those of all are relative); `at_once` so many tasks; 0: all processors."""

    name: str
    file: str
    share: float
    at_once: int
    tasks: steps.Tasks

    def processes(self, setting: Setting) -> int:
        return min(self.at_once or setting.jobs, setting.jobs)


STEPS = (
    Step("ceilings", "1-ceilings", 35, 1, steps.ceilings),
    Step("compile", "2-compile", 150, 0, steps.compiling),
    Step("clock", "3-clock", 210, 1, steps.clock),
    Step("by hand", "4-by-hand", 40, 1, steps.by_hand),
    Step("ablation", "5-ablation", 35, 1, steps.ablation),
    Step("sanitizer", "6-tools", 25, 8, steps.sanitizer),
    Step("counters", "6-tools", 20, 1, steps.counted),
    Step("tests", "7-tests", 25, 4, steps.tests),
)
RESIDENTS = 4  #: that wait for a question while another one answers: one for each framework


class Campaign:
    """One run through steps, with `end` by `time.monotonic`; `facts` begin each file, `tell` says a line."""

    def __init__(
        self,
        setting: Setting,
        out: Path,
        end: float,
        facts: Mapping[str, Any],
        tell: Callable[[str], object] = print,
    ) -> None:
        self.setting, self.out, self.end, self.facts, self.tell = setting, out, end - RESERVE, facts, tell
        self.stores: dict[str, Store] = {}
        self.seconds: dict[str, float] = {}

    def run(self, chosen: Sequence[Step] = STEPS) -> bool:
        """Whether all tasks of all steps are done."""
        cut = list(chosen)
        while True:
            cut = [step for place, step in enumerate(cut) if not self._step(step, cut[place:])]
            if not cut or self.end - time.monotonic() < WORTHWHILE:
                return not cut

    def stop(self) -> None:
        """What runs now is the last."""
        self.end = time.monotonic()

    def _step(self, step: Step, rest: Sequence[Step]) -> bool:
        start = time.monotonic()
        left = max(self.end - start, 0.0)
        limit = start + left * step.share / sum(one.share for one in rest)
        store = self._store(step.file)
        asked = list(step.tasks(self.setting, self._rows()))
        tasks = [task for task in asked if not store.has(task.key)]
        at_once = step.processes(self.setting)
        desk = Desk(self.setting.work, RESIDENTS if at_once == 1 else at_once)
        statuses: dict[str, int] = {}

        def record(task: Task, row: Row) -> None:
            store.add(task.key, row)
            word = row["status"].partition(":")[0]
            statuses[word] = statuses.get(word, 0) + 1

        done = not tasks or Work(tasks, at_once, desk, lambda: min(limit, self.end), record).do()
        seconds = time.monotonic() - start
        self.seconds[step.name] = self.seconds.get(step.name, 0.0) + seconds
        took = {**store.facts.get("steps", {}), step.name: {"seconds": round(self.seconds[step.name], 2), "done": done}}
        store.note(steps=took)
        counts = ", ".join(f"{count} {word}" for word, count in statuses.items()) or "nothing new"
        missing = len(tasks) - sum(statuses.values())
        self.tell(f"{step.name:10} {seconds:7.1f} s  {counts}" + (f"; {missing} not reached" if missing else ""))
        return done

    def _store(self, file: str) -> Store:
        if file not in self.stores:
            self.stores[file] = Store(self.out / f"{file}.json", self.facts)
        return self.stores[file]

    def _rows(self) -> Mapping[str, Mapping[str, Row]]:
        return {step.file: self._store(step.file).rows for step in STEPS}
