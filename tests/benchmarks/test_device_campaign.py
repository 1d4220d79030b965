"""The campaign on a device, without one: residents, limits, what is kept whatever happens, each step with faults."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.device_campaign import plan, steps, store
from benchmarks.device_campaign.order import CLASSES, ORDER
from benchmarks.device_campaign.plan import STEPS, Campaign
from benchmarks.device_campaign.residents import ROOT, Resident, Role
from benchmarks.device_campaign.setting import Setting
from benchmarks.device_campaign.store import Store
from benchmarks.device_campaign.tasks import Command, Desk, Question, Work
from benchmarks.npbench import kernels

STAND_INS = Path(__file__).parent / "stand_ins"
PLANTED = Role("planted", "tests.benchmarks.planted", Path(sys.executable))
FACTS = {"device": {"name": "none"}, "preset": "XS"}


@pytest.fixture
def stand_ins(monkeypatch):
    """Peers and tools that keep their interfaces, and the simulator as the device."""
    monkeypatch.setenv("PYTHONPATH", str(STAND_INS))
    monkeypatch.syspath_prepend(str(STAND_INS))
    monkeypatch.setenv("PATH", f"{STAND_INS / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("DCPY_GPU_BACKEND", "simulator")


def question(what, limit=60.0, **key):
    return Question(key or {"what": what}, limit, PLANTED, {"do": what})


def command(what, limit=60.0, **key):
    return Command(key or {"what": what}, limit, [sys.executable, "-m", PLANTED.module, what])


def done(tasks, folder, seconds=60.0, at_once=1):
    rows = []
    end = time.monotonic() + seconds
    whole = Work(tasks, at_once, Desk(folder, 2), lambda: end, lambda task, row: rows.append(row)).do()
    return whole, rows


def test_a_crash_and_a_hang_cost_one_answer_each(tmp_path):
    whole, rows = done(
        [question(w, 1.0 if w == "hang" else 60.0) for w in ("ok", "ok", "crash", "hang", "ok")], tmp_path
    )
    assert whole
    assert [row["status"] for row in rows] == [
        "ok",
        "ok",
        "crash: SIGSEGV: about to crash",
        "timeout: more than 1 s",
        "ok",
    ]
    assert [row.get("count") for row in rows] == [1, 2, None, None, 1]


def test_commands_end_with_all_they_started(tmp_path):
    nested = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import time; time.sleep(600)'])"
    start = time.monotonic()
    task = Command({"what": "nested"}, 1.0, [sys.executable, "-c", nested])
    _, (row,) = done([task], tmp_path)
    assert row["status"] == "timeout: more than 1 s"
    assert time.monotonic() - start < 30
    _, rows = done([Command({}, 9.0, ["no-such-command"]), command("crash")], tmp_path)
    assert rows[0]["status"].startswith("crash: [Errno 2]")
    assert rows[1]["status"] == "crash: SIGSEGV: about to crash"


def test_who_is_at_work_at_the_end_was_cut_and_is_no_time_out(tmp_path):
    start = time.monotonic()
    whole, rows = done([question("hang", 60.0), question("ok")], tmp_path, seconds=2.0)
    assert (whole, rows) == (False, [])
    assert time.monotonic() - start < 20


def test_a_resident_that_leaves_is_replaced(tmp_path):
    resident = Resident(PLANTED, tmp_path)
    assert resident.ask({"do": "ok", "row": {"leaves": True}}, 60.0) == {"status": "ok", "count": 1}
    assert not resident.is_there


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_each_step_survives_a_failure_and_a_time_out(step, tmp_path, stand_ins, monkeypatch):
    """The step's own tasks, by their keys: the first hangs, the second crashes, the third is well."""
    names = ("gemm", "jacobi_2d", "softmax")
    setting = Setting(tmp_path, True, "XS", "XS", names, jobs=2)
    fires = {name: 1 for name in steps.choices()}
    compiled = {"key": {"kernel": "gemm", "framework": "dcpy"}, "status": "ok", "passes": fires}

    def planted(setting, rows):
        known = {**rows, "2-compile": {"gemm": compiled}} if step.name == "ablation" else rows
        tasks = list(step.tasks(setting, known))[:3]
        assert len(tasks) == 3
        for what, task in zip(("hang", "crash", "ok"), tasks):
            make = question if isinstance(task, Question) else command
            yield make(what, 1.0 if what == "hang" else 60.0, **task.key)

    told = []
    campaign = Campaign(setting, tmp_path, time.monotonic() + 120, FACTS, told.append)
    assert campaign.run([replace(step, tasks=planted)])
    found = json.loads((tmp_path / f"{step.file}.json").read_text())
    statuses = sorted(row["status"].partition(":")[0] for row in found["rows"])
    assert statuses == ["crash", "ok", "timeout"]
    assert found["steps"][step.name]["done"]
    assert "1 crash" in told[0]
    again = Campaign(setting, tmp_path, time.monotonic() + 120, FACTS, told.append)
    again.run([replace(step, tasks=planted)])
    assert "nothing new" in told[1]


def test_steps_share_what_is_left(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "RESERVE", 0.0)
    hang = replace(STEPS[0], tasks=lambda setting, rows: [question("hang")], share=1)
    short = replace(hang, name="short", tasks=lambda setting, rows: [question("ok")], share=3)
    told, start = [], time.monotonic()
    campaign = Campaign(Setting(tmp_path, True, jobs=1), tmp_path, start + 8, FACTS, told.append)
    assert not campaign.run([hang, short])
    assert 1.5 < float(told[0].split()[1]) < 6
    assert "1 not reached" in told[0]
    assert "1 ok" in told[1]
    assert "1 not reached" in told[2]  # the cut step gets what is left, and hangs again


def test_a_step_that_was_cut_goes_on_when_others_leave_time(tmp_path, monkeypatch):
    monkeypatch.setattr(plan, "RESERVE", 0.0)
    many = [question("ok") for _ in range(3)]
    tasks = iter([[question("hang")], many, many])
    cut = replace(STEPS[0], tasks=lambda setting, rows: next(tasks), share=1)
    short = replace(cut, name="short", share=3)
    told = []
    campaign = Campaign(Setting(tmp_path, True, jobs=1), tmp_path, time.monotonic() + 40, FACTS, told.append)
    assert campaign.run([cut, short])
    assert [line.split()[0] for line in told] == ["ceilings", "short", "ceilings"]


def test_what_did_not_compile_is_not_asked_again(stand_ins, tmp_path):
    setting = Setting(tmp_path, True, kernels=("gemm",), frameworks=("dcpy", "torch"))
    rows = {
        str(place): {"key": {"kernel": "gemm", "framework": name, "caches": ""}, "status": status}
        for place, (name, status) in enumerate((("dcpy", "refused: MemoryError: no memory"), ("torch", "timeout: 9 s")))
    }
    tasks = list(steps.clock(setting, {"2-compile": rows}))
    assert isinstance(tasks[0], Question)
    assert tasks[0].also == {"preset": "paper"}
    assert tasks[0].limit == steps.COMPILED + steps.TIMED
    assert tasks[1].run(Desk(tmp_path, 1), 1) == {"preset": "paper", "status": "timeout: 9 s"}


def test_every_kernel_has_its_place():
    assert sorted(ORDER) == sorted(kernels())
    assert {names[0] for names in CLASSES.values()} == set(ORDER[: len(CLASSES)])


def test_files_stay_whole_on_a_full_disk(tmp_path, monkeypatch, capsys):
    kept = Store(tmp_path / "1-a.json", FACTS)
    kept.add({"k": "1"}, {"status": "ok"})

    def full(self, text):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "write_text", full)
        kept.add({"k": "2"}, {"status": "ok"})
        kept.add({"k": "3"}, {"status": "ok"})
    assert [row["key"]["k"] for row in store.read(kept.path)["rows"]] == ["1"]
    assert capsys.readouterr().err.count("No space left") == 1
    assert kept.lost
    kept.note(more=1)
    assert not kept.lost
    assert len(store.read(kept.path)["rows"]) == 3
    assert Store(kept.path, FACTS).has({"k": "3"})


def test_files_of_others_are_left_alone(tmp_path):
    for text in ("{", "[]", '{"rows": []}'):
        (tmp_path / "1-a.json").write_text(text)
        with pytest.raises(ValueError, match="is no file of a campaign"):
            Store(tmp_path / "1-a.json", FACTS)


def test_what_was_missing_is_asked_again(tmp_path):
    kept = Store(tmp_path / "1-a.json", FACTS)
    kept.add({"k": "1"}, {"status": "missing: ncu is not on PATH"})
    assert not kept.has({"k": "1"})


def test_rows_are_small(tmp_path):
    kept = Store(tmp_path / "1-a.json", FACTS)
    kept.add({"k": "1"}, {"status": "x" * 10_000, "times": [0.5] * 1000, "in": {"said": "y" * 10_000}})
    (row,) = store.read(kept.path)["rows"]
    assert len(row["times"]) == store.ENTRIES
    assert len(row["status"]) < 3000 > len(row["in"]["said"])


WRITER = """
import sys
from pathlib import Path
from benchmarks.device_campaign.store import Store
kept = Store(Path(sys.argv[1]), {"device": None})
for k in range(10**6):
    kept.add({"k": str(k % 500)}, {"status": "ok", "times": [0.1] * 60})
    print(k, flush=True)
"""


def test_whoever_is_killed_leaves_whole_files(tmp_path):
    place = tmp_path / "1-a.json"
    for _ in range(3):
        words = [sys.executable, "-c", WRITER, str(place)]
        with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
            for _ in range(40):
                process.stdout.readline()
            process.kill()
        assert len(json.loads(place.read_text())["rows"]) >= 40
    assert {path.name for path in tmp_path.iterdir()} <= {place.name, store.UNFINISHED}


def campaign_of(tmp_path, *words, **environment):
    """The command as one types it, with stand-ins, an empty home, and caches of its own."""
    variables = {
        "PATH": f"{STAND_INS / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(STAND_INS),
        "DCPY_GPU_BACKEND": "simulator",
        "HOME": str(tmp_path / "home"),
        **environment,
    }
    (tmp_path / "home").mkdir(exist_ok=True)
    command = [sys.executable, "-m", "benchmarks.device_campaign", *words]
    command += ["--work", str(tmp_path / "work"), "--out", str(tmp_path / "out")]
    return subprocess.Popen(
        command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


@pytest.mark.cc
def test_twenty_seconds_on_the_simulator(tmp_path):
    """All steps begin; the time is kept; what was found is whole, and a page is made of it."""
    start = time.monotonic()
    said, _ = campaign_of(tmp_path, "--seconds", "20").communicate()
    took = time.monotonic() - start
    assert took < 25, said
    lines = said.splitlines()
    assert lines[0].startswith("a simulated GPU: times say nothing; ")
    assert [line[:10].strip() for line in lines[1:9]] == [step.name for step in STEPS]
    files = sorted(path.name for path in (tmp_path / "out").iterdir())
    assert files == sorted({f"{step.file}.json" for step in STEPS})
    for name in files:
        found = json.loads((tmp_path / "out" / name).read_text())
        assert found["simulated"]
        assert len(found["sources"]) == 12
        assert (tmp_path / "out" / name).stat().st_size < 16 << 20
    assert os.listdir(tmp_path / "home") == []


@pytest.mark.cc
def test_a_campaign_that_is_ended_early_leaves_nobody_behind(tmp_path):
    process = campaign_of(tmp_path, "--seconds", "100", "--steps", "compile", "--only", "gemm,atax")
    process.stdout.readline()
    time.sleep(1.0)
    process.send_signal(signal.SIGTERM)
    said, _ = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "cut where the time was over" in said
    assert json.loads((tmp_path / "out" / "2-compile.json").read_text())["preset"] == "XS"
    marked = shutil.which("pgrep") and subprocess.run(
        ["pgrep", "-f", str(tmp_path / "work")], capture_output=True, text=True, check=False
    )
    assert not marked or not marked.stdout
