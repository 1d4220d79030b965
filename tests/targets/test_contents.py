"""Targets as tables of contents: each device in one folder, and nobody else asks which device it is."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import dcpy
from dcpy import plugins
from dcpy.base.errors import DeviceError
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import DeviceType, Options, group_kinds
from dcpy.base.registry import Registry
from dcpy.cli.sdfgcc import main as sdfgcc
from dcpy.codegen.emit.dialect import Dialect
from dcpy.ir.library.expansions import preference
from dcpy.ir.machine_model import Costs, Limits, entries
from dcpy.runtime.loading import devices
from dcpy.runtime.loading.devices import DEVICES, HOST, DeviceRuntime, runtime_of
from dcpy.targets.catalog import COMMAND_LINES, ORDERS, TARGETS
from dcpy.targets.command_line import CommandLine, Flag, Project
from dcpy.targets.cpu.target import CPU
from dcpy.targets.ranks.target import RANKS

PACKAGE = Path(dcpy.__file__).parent
DEFAULTS = Options(gpu=GpuOptions(libraries=False))  # whatever is installed here

#: the folders of devices, and who else names one, for which reason
FOLDERS = ("targets", "runtime/cpu", "runtime/gpu", "runtime/fpga")
ALLOWED = {
    "base/options.py": "declares the devices, and the default",
    "programs/c_functions.py": "C functions are those of CPUs alone",
    "programs/sdfgs.py": "the default of a parameter",
}


@pytest.mark.parametrize("name", TARGETS.names)
def test_a_target_is_a_folder_and_a_table_of_contents(name):
    plugins.load()
    target = TARGETS[name]
    assert target.name == name == target.device.value
    assert (PACKAGE / "targets" / name / "target.py").is_file()
    assert isinstance(target.costs_for(DEFAULTS), Costs)
    assert isinstance(target.limits, Limits)
    assert list(target.passes(DEFAULTS).parts())
    assert target.expansions
    assert preference(name)
    assert target.schedules
    assert target.spaces
    assert all(isinstance(dialect, Dialect) for dialect in target.dialects)
    assert group_kinds()[name] is target.options
    assert target.runtime is DEVICES[name]
    assert target.command_line is COMMAND_LINES[name]
    assert all(finding.what for finding in target.findings())


def test_all_catalogs_have_the_same_devices():
    named = [device.value for device in DeviceType]
    assert sorted(TARGETS) == sorted(ORDERS) == sorted(COMMAND_LINES) == sorted(DEVICES) == sorted(named)


def test_ranks_have_a_table_of_contents_too():
    assert RANKS.node in TARGETS
    assert isinstance(Options(), RANKS.options)
    assert dict(entries(RANKS.network))
    assert [step.name for step in RANKS.distribute(RANKS.network, None, 0).passes][-1] == "deep-halos"
    assert [step.name for step in RANKS.distribute(RANKS.network, None, -1).passes][-1] == "infer-halos"
    for pipeline in (RANKS.results, RANKS.temporaries, RANKS.gathered, RANKS.localize, RANKS.overlap):
        assert list(pipeline.parts())


@pytest.mark.parametrize(("name", "said"), [("cpu", "nests, by the model"), ("gpu", "kernels"), ("fpga", "hardware")])
def test_each_target_explains_a_program(name, said):
    sdfg = dcpy.program(scaled).to_sdfg()
    options = {"device": name, **({"gpu.backend": "simulator", "gpu.libraries": False} if name == "gpu" else {})}
    assert said in sdfg.explain(sizes={"N": 1000}, **options)


N = dcpy.symbol("N")


def scaled(x: dcpy.float64[N]):
    x[:] = 2.0 * x + 1.0


# -- what a new target needs -------------------------------------------------------------------------------------------


@pytest.mark.cc
def test_a_device_without_a_runtime_is_loaded_as_the_host_is(monkeypatch):
    monkeypatch.setattr(devices, "DEVICES", Registry("device"))
    assert runtime_of(Options()) is HOST
    x = np.arange(4.0)
    program = dcpy.program(scaled)
    program(x)
    assert np.array_equal(x, 2 * np.arange(4.0) + 1)
    with pytest.raises(DeviceError, match="only programs for CPUs can be tuned"):
        program.tune(x)


def test_what_decides_the_code_on_a_device_is_a_part_of_keys(monkeypatch):
    from dcpy.runtime.compilers.toolchain import find_toolchain
    from dcpy.runtime.loading import load

    found = find_toolchain(Options().cpu.compiler)
    plain = load._context(Options(), found)
    monkeypatch.setattr(devices, "DEVICES", Registry("device"))
    devices.DEVICES.add("cpu", DeviceRuntime(context=lambda options: ("another processor",)))
    assert load._context(Options(), found) == (*plain, "another processor")


def test_a_roofline_is_of_targets_that_time_nests(monkeypatch):
    monkeypatch.setattr("dcpy.programs.explanation.explain.target_for", lambda device: replace(CPU, nest_times=None))
    with pytest.raises(DeviceError, match="a roofline is of programs for CPUs"):
        dcpy.program(scaled).roofline(np.ones(3))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--arch", "sm_90"], "--backend and --arch are for --device gpu"),
        (["--board", "u280"], "--sizes and --board are for --target"),
        (["--device", "fpga"], "invalid choice: 'fpga'"),
    ],
)
def test_flags_of_another_target_are_refused(words, said, capsys):
    with pytest.raises(SystemExit):
        sdfgcc(["program.py:f", *words])
    assert said in capsys.readouterr().err


PROGRAM = """
import dcpy

@dcpy.program
def scaled(x: dcpy.float64[4]):
    x[:] = 2 * x
"""


def test_sdfgcc_writes_the_project_of_any_target(monkeypatch, tmp_path, capsys):
    def files(program, answers):
        assert np.array_equal(run(program.interpret), 2 * np.arange(4.0))
        code = program.compile(Options()).units[0].text
        return {"build.sh": f"{program.name} for {answers['chip']}", "code.cpp": code}

    def run(interpret):
        x = np.arange(4.0)
        interpret(x)
        return x

    flags = (Flag("--chip", "write a project", choices=("a1", "b2")),)
    lines = {name: COMMAND_LINES[name] for name in COMMAND_LINES}
    lines["mine"] = CommandLine(None, flags, Project("chip", files))
    monkeypatch.setattr("dcpy.cli.sdfgcc.COMMAND_LINES", lines)
    (tmp_path / "program.py").write_text(PROGRAM)
    words = [f"{tmp_path}/program.py:scaled", "--chip", "b2"]
    assert sdfgcc([*words, "-o", str(tmp_path / "made")]) == 0
    assert (tmp_path / "made" / "build.sh").read_text() == "scaled for b2"
    assert "double" in (tmp_path / "made" / "code.cpp").read_text()
    with pytest.raises(SystemExit):
        sdfgcc(words)
    assert "--chip writes a project into the folder -o" in capsys.readouterr().err


# -- who asks for the device -------------------------------------------------------------------------------------------


def asked(text: str) -> list[int]:
    """The lines that name a member of `DeviceType`, or compare something with the name of a device."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "DeviceType":
            found.append(node.lineno)
        if isinstance(node, ast.Compare):
            constants = [part.value for part in (node.left, *node.comparators) if isinstance(part, ast.Constant)]
            found += [node.lineno] * any(value in ("gpu", "fpga") for value in constants)
    return found


def test_questions_are_found_and_texts_are_not():
    assert asked("if options.device is not DeviceType.GPU: pass") == [1]
    assert asked("x = 1\nif name == 'fpga': pass") == [2]
    assert asked("help = 'use device=dcpy.DeviceType.FPGA'") == []


def test_nobody_else_asks_which_device_it_is():
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if not name.startswith(tuple(f"{folder}/" for folder in FOLDERS)) and (lines := asked(path.read_text())):
            found[name] = lines
    assert set(found) == set(ALLOWED), found
