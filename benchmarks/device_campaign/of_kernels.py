"""Answers about kernels of NPBench in one framework: checked against NumPy, timed, or timed without a pass of dcpy."""

from __future__ import annotations

import functools
import importlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.devices import FRAMEWORKS
from benchmarks.devices.adapt import for_dcpy
from benchmarks.devices.worker import Row, checked, refusal, timed
from benchmarks.npbench import Kernel, kernels
from benchmarks.peers.calls import Arguments
from benchmarks.peers.subject import Subject

NOTHING = Subject("", "", {}, {}, ())


class Answers:
    """Those of the framework `name`, in this process, which imports it once."""

    def __init__(self, name: str) -> None:
        self.framework = FRAMEWORKS[name]
        self.texts = Path("texts", name).absolute()
        self._ready: tuple[tuple[str, str], Arguments] | None = None
        self._missing = ""
        try:
            importlib.import_module(self.framework.package)  # so that a first call is only a call
            self._call: Any = self.framework.call(NOTHING)
        except Exception as error:
            self._missing = refusal(error)

    def __call__(self, question: dict[str, Any]) -> Row:
        """A row; it `leaves` where the device does not answer any more."""
        if self._missing:
            return {"status": self._missing}
        row = getattr(self, question["ask"])(kernels()[question["kernel"]], question)
        try:
            row |= self._call.notes()
            self._call.forget()
            if row["status"] != "ok" and not self._is_whole():
                row["leaves"] = True
        except Exception:
            row["leaves"] = True
        return row

    def ahead(self, question: dict[str, Any]) -> None:
        """Makes the arguments of a kernel that is asked for next; the device has nothing to do with it."""
        if question["ask"] == "time":
            name, preset = question["kernel"], question["preset"]
            self._ready = (name, preset), kernels()[name].initialize(preset)

    def check(self, kernel: Kernel, question: dict[str, Any]) -> Row:
        """`checked`, and which passes change something in dcpy's program."""
        row = checked(kernel, self.framework, question["compared"], question["preset"], self._folder())
        if self.framework.name == "dcpy" and row["status"] == "ok":
            row["passes"] = passes_of(kernel, question["compared"])
        if self._call.keeps_memory:  # others need it at the same time
            row["leaves"] = True
        return row

    def time(self, kernel: Kernel, question: dict[str, Any]) -> Row:
        """`timed`, with arguments that may be there already."""
        ready, self._ready = self._ready, None
        preset = question["preset"]
        arguments = ready[1] if ready and ready[0] == (kernel.name, preset) else None
        repeat, seconds = question["repeat"], question["measured"]
        return timed(kernel, self.framework, preset, repeat, seconds, folder=self._folder(), arguments=arguments)

    def ablate(self, kernel: Kernel, question: dict[str, Any]) -> Row:
        """Checked and `timed` without a pass, and with it: the `median` and that `with_it`."""
        left_out = question["without"]
        adapted = functools.partial(for_dcpy, left_out=left_out)
        framework = replace(self.framework, variants=(adapted,))
        compared, preset, folder = question["compared"], question["preset"], self._folder(left_out)
        row = checked(kernel, framework, compared, compared, folder)
        if row["status"] != "ok":
            return row
        arguments, rest = kernel.initialize(preset), (question["repeat"], question["measured"])
        row = timed(kernel, framework, preset, *rest, folder=folder, arguments=arguments)
        beside = timed(kernel, self.framework, preset, *rest, folder=self._folder(), arguments=arguments)
        return row | {"with_it": beside.get("median"), "status_with_it": beside["status"]}

    def _folder(self, part: str = "whole") -> Path:
        folder = self.texts / part
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def _is_whole(self) -> bool:
        values = np.arange(4.0)
        return np.array_equal(self._call.get(self._call.put(values)), values)


def passes_of(kernel: Kernel, preset: str) -> dict[str, int]:
    """How much each pass on the way to a GPU changes in a kernel of dcpy; those that change nothing are left out."""
    import dcpy
    from dcpy import driver
    from dcpy.base.options import resolve_options

    options = resolve_options({"device": "gpu", "auto_optimize": True})
    sdfg = dcpy.program(kernel.function).to_sdfg(**kernel.initialize(preset))
    driver.auto_optimize(sdfg, options)
    counts: dict[str, int] = {}
    for name, changes in driver.lower(sdfg, options)[1].counts().items():
        short = name.partition("{")[0]
        counts[short] = counts.get(short, 0) + changes
    return {name: changes for name, changes in counts.items() if changes}
