"""`python -m tests.fuzz.files N [first seed]`: N hostile documents are loaded, shown, saved, validated and compiled.

Nothing may run that the program did not say, nothing may be written outside of the folder that was asked for, and
every refusal is a dcpy error. Each document is printed, parsed again, shown and generated; every `COMPILED`-th of those
that are valid is compiled, without optimization, and loaded.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.codegen.annotated_source import listings
from dcpy.codegen.generate import c_header, with_messages
from dcpy.ir.data import Array, Scalar
from dcpy.programs.signatures import signature_of
from tests.fuzz.__main__ import limited
from tests.fuzz.documents import FIRES, fields, mutated

BATCH = 50
SECONDS = 120  # for one document, on a busy machine
COMPILED = 25
INTERPRETED = 2  # seconds for a call; a hostile loop may never end
RAISED = (dcpy.DcpyError, IndexError, ValueError, ZeroDivisionError, OverflowError, AssertionError, TimeoutError)
_PARTS = re.compile(r'"(?:[^"\\\n]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DIRECTIVE = r"#\s*(?!pragma|if|ifdef|else|endif)\w+"  # those of helpers run nothing
_RUNS = re.compile(rf"{FIRES}|\b__builtin_system|\b__builtin_trap|\bsystem\s*\(|\babort\s*\(|{_DIRECTIVE}|\basm\b")


@dataclass
class Findings:
    """What became of some documents."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        self.outcomes += other.outcomes
        self.failures += other.failures


class Escaped(AssertionError):
    """Something was written where nobody asked for it, or would run that nobody wrote."""


def check(seeds: range, compiled: int = COMPILED) -> Findings:
    """Tries the documents of these seeds."""
    found = Findings()
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder) / "deep" / "here"
        here.mkdir(parents=True)
        os.chdir(here)
        try:
            for seed in seeds:
                _check_one(seed, here, found, compiled)
        finally:
            os.chdir(before)
    return found


def _check_one(seed: int, here: Path, found: Findings, compiled: int) -> None:
    what, document = mutated(seed)
    steps: list[str] = []
    signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        _tried(document, here, steps, do_compile=seed % compiled == 0)
    except dcpy.DcpyError as error:
        str(error)
        if isinstance(error, dcpy.ToolchainError):  # what is generated from a valid document compiles
            found.failures.append(f"seed {seed}: {what}, after {', '.join(steps)}: {error}")
        steps.append(f"{type(error).__name__} after {steps[-1] if steps else 'nothing'}")
    except BaseException as error:
        trace = "".join(traceback.format_exception(error))
        found.failures.append(f"seed {seed}: {what}, after {', '.join(steps)}: {trace}")
    finally:
        signal.alarm(0)
    found.outcomes[steps[-1] if steps else "nothing"] += 1
    for path in here.glob("*"):
        path.unlink()


def _too_long(*_: object) -> None:
    raise TimeoutError


def _tried(document: object, here: Path, steps: list[str], *, do_compile: bool) -> None:
    file = here / "x.sdfg"
    try:
        file.write_text(json.dumps(document))
        sdfg = dcpy.load(file)
        steps.append("loading")
        _looked_at(sdfg, here)
        steps.append("looking")
        sdfg.validate()
        steps.append("validating")
        _interpreted(sdfg)
        steps.append("interpreting")
        _generated(sdfg)
        steps.append("generating")
        if do_compile:
            sdfg.compile(**{"cpu.flags": ("-O0", "-w")})
            steps.append("compiling")
    finally:
        _nothing_escaped(here)


def _looked_at(sdfg: dcpy.SDFG, here: Path) -> None:
    """All that shows or writes, before anything is known to be valid: what is refused here is refused as well."""
    for show in (str, lambda s: s.view(), lambda s: s.save(here / "again.sdfg")):
        try:
            show(sdfg)
        except dcpy.DcpyError:
            continue
    if (here / "again.sdfg").exists():
        text = str(sdfg)
        assert str(dcpy.load(here / "again.sdfg")) == text
        try:
            parsed = str(dcpy.parse(text))
        except dcpy.DcpyError:
            return
        assert str(dcpy.parse(parsed)) == parsed


def _interpreted(sdfg: dcpy.SDFG) -> None:
    """A call with small arrays, where it needs nothing from outside: it ends, or raises what programs raise."""
    descs = {name: sdfg.desc(name) for name in sdfg.arguments if name in sdfg.body.containers}
    if sdfg.callbacks or not all(isinstance(desc, Array | Scalar) for desc in descs.values()) or _is_large(sdfg):
        return
    sizes = dict.fromkeys(sdfg.symbols, 3)
    arguments: dict[str, object] = {name: sizes[name] for name in sdfg.arguments if name in sizes}
    for name, desc in descs.items():
        shape = tuple(size.evaluate(sizes) for size in desc.shape) if isinstance(desc, Array) else ()
        arguments[name] = np.ones(shape, desc.dtype.numpy)[()]
    with np.errstate(all="ignore"), contextlib.suppress(*RAISED), limited(INTERPRETED):
        sdfg.interpret(**arguments)


def _is_large(sdfg: dcpy.SDFG) -> bool:
    """Whether some container has more elements than it takes to find mistakes, or as many as a number says."""
    regions = [region for inner in sdfg.all_sdfgs_recursive() for region in (inner.body, *inner.body.walk_regions())]
    descs = [desc for region in regions for desc in region.containers.values()]
    sizes = [size for desc in descs if isinstance(desc, Array) for size in desc.shape]
    return not all(size.is_linear and all(abs(factor) < 10 for _, factor in size.terms) for size in sizes)


def _generated(sdfg: dcpy.SDFG) -> None:
    signature = signature_of(sdfg)
    artifact = driver.artifact_of(sdfg, signature, resolve_options())
    texts = [text for _, text in listings(with_messages(artifact))]
    texts.append(c_header(sdfg, artifact.signature))
    for text in texts:
        joined = re.sub(r"(\\|\?\?/)[ \t]*\n", "", re.sub("[\r\x0b\x0c\u2028]", "\n", text))
        code = _PARTS.sub(lambda part: '""' if part[0][0] == '"' else " ", joined)
        code = re.sub(r"#(define|undef) [A-Za-z_]\w*_shared_\b", "", code)  # another name of a variable
        code = re.sub(r"#(ifndef|define|else|endif|include <std(bool|int)\.h>|ifdef __(cplusplus|linux__))", "", code)
        if hit := _RUNS.search(code):
            raise Escaped(f"generated code has {code[max(hit.start() - 60, 0) : hit.end() + 60]!r}")


def _nothing_escaped(here: Path) -> None:
    top = here.parent.parent
    found = {str(path.relative_to(top)) for path in top.rglob("*")}
    strange = [path for path in found if path not in ("deep", "deep/here") and Path(path).parent != Path("deep/here")]
    allowed = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\.html|x\.sdfg|again\.sdfg")
    strange += [path.name for path in here.glob("*") if not allowed.fullmatch(path.name)]
    if strange or Path("/CANARY").exists() or (here / "CANARY").exists():
        raise Escaped(f"written: {', '.join(strange)}")


def campaign(count: int, first: int, workers: int) -> Findings:
    """All of a run, in several processes."""
    total = Findings()
    seeds = [range(start, min(start + BATCH, first + count)) for start in range(first, first + count, BATCH)]
    with ProcessPoolExecutor(workers) as pool:
        for found in pool.map(check, seeds):
            total.add(found)
    return total


def main(arguments: list[str]) -> int:
    """Runs a campaign and says what came of it."""
    count, first = ([*map(int, arguments), 0, 0][:2] if arguments else (1000, 0))
    start = time.perf_counter()
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    found = campaign(count, first, os.cpu_count() or 1)
    print(f"{count} documents with {len(fields())} fields, {time.perf_counter() - start:.0f} s")
    for outcome, times in found.outcomes.most_common():
        print(f"{times:8}  {outcome}")
    for failure in found.failures[:20]:
        print(failure)
    print(f"{len(found.failures)} failures")
    return 1 if found.failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
