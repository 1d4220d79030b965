"""A target from outside, with options of its own: one folder and `catalog.register`, without a change of dcpy."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

import dcpy
from dcpy.base import options as options_module
from dcpy.base.errors import CodegenError, DcpyError, DeviceError, UnknownName
from dcpy.base.options import (
    ADDED_GROUPS,
    DeviceType,
    InvalidOption,
    Options,
    add_group,
    option_names,
    resolve_options,
)
from dcpy.cli.main import main as command
from dcpy.cli.sdfgcc import main as sdfgcc
from dcpy.targets.catalog import register, target_for
from docs.generate import option_table
from tests.support.registries import forget_targets
from tests.targets.made_up.options import BareOptions, Clock


@pytest.fixture(name="bare", autouse=True)
def registered(monkeypatch):
    forget_targets(monkeypatch)
    from tests.targets.made_up.target import BARE

    options_module._OTHER_DEVICES["bare"] = BARE.device
    return register(BARE)


N, M = dcpy.symbol("N"), dcpy.symbol("M")


def smooth(x: dcpy.float64[N, M], port: dcpy.float64):
    y = np.zeros_like(x)
    for _ in range(3):
        y[1:-1] = port * (x[:-2] + x[2:])
    return y.sum(axis=0)


def test_its_name_chooses_it(bare):
    assert resolve_options({"device": "bare"}).device is bare.device is DeviceType("bare")
    assert target_for(DeviceType.named("bare")) is bare
    with pytest.raises(InvalidOption, match="'metal'"):
        resolve_options({"device": "metal"})


def test_its_options_are_keywords_and_variables():
    assert {"bare.clock", "bare.stack", "bare.words"} <= set(option_names())
    options = resolve_options({"bare_stack": 64}, environ={"DCPY_BARE_CLOCK": "fast", "DCPY_BARE_WORDS": "port pin"})
    assert options.group(BareOptions) == BareOptions(Clock.FAST, 64, ("port", "pin"))
    assert resolve_options({"bare.stack": 256}, base=Options()) == Options()
    assert resolve_options({"bare_stack": 8}, base=options).group(BareOptions) == BareOptions(
        Clock.FAST, 8, ("port", "pin")
    )
    assert Options().group(BareOptions) == BareOptions()


def test_a_line_in_the_catalog_names_a_device_and_its_options():
    ADDED_GROUPS.extend({"listed": "tests.targets.made_up.options:BareOptions"})
    options = resolve_options({"device": "listed", "listed_stack": 3})
    assert options.device is DeviceType("listed") is DeviceType.named("listed")
    assert options.group(BareOptions).stack == 3


def test_its_options_are_checked_as_others_are():
    with pytest.raises(UnknownName, match="option 'bare_stak' is not known") as caught:
        resolve_options({"bare_stak": 64})
    assert caught.value.help == "did you mean bare_stack?"
    with pytest.raises(InvalidOption, match="'slow' or 'fast' is needed"):
        resolve_options({"bare_clock": "medium"})
    with pytest.warns(RuntimeWarning, match="DCPY_BARE_STAK is ignored.*did you mean DCPY_BARE_STACK"):
        resolve_options(environ={"DCPY_BARE_STAK": "1"})


def test_its_options_are_in_the_table_of_options():
    rows = [row for row in option_table() if "`bare." in row]
    assert rows == [
        "| `bare.clock` | `DCPY_BARE_CLOCK` | `slow` | clock of the machine: `slow` or `fast` |",
        "| `bare.stack` | `DCPY_BARE_STACK` | `256` | bytes of one array on the stack |",
        "| `bare.words` | `DCPY_BARE_WORDS` | `port` | names that the compiler of the machine reserves |",
    ]


def test_options_that_no_text_sets_are_refused():
    class Plain:
        pass

    @dataclass(frozen=True)
    class Named:
        names: dict = field(default_factory=dict)

    @dataclass(frozen=True)
    class Halo:
        steps: int = 0

    with pytest.raises(DcpyError, match="the options of 'mine' are Plain, which is no frozen dataclass"):
        add_group("mine", Plain)
    with pytest.raises(DcpyError, match="the option 'names' of 'mine' has no default that can be read from a text"):
        add_group("mine", Named)
    with pytest.raises(DcpyError, match="there is an option halo_steps already"):
        add_group("halo", Halo)
    with pytest.raises(DcpyError, match="'bare' exists already"):
        add_group("bare", Halo)


@pytest.mark.cc
def test_programs_run_on_it():
    program, x = dcpy.program(smooth, device="bare"), np.arange(35.0).reshape(7, 5)
    assert np.array_equal(program(x, 0.25), smooth(x, 0.25))
    code = program.to_sdfg(x, 0.25).code(device="bare")
    assert "omp parallel" not in code
    assert "double port_" in code


@pytest.mark.cc
def test_its_options_decide_the_code():
    x = np.arange(35.0).reshape(7, 5)
    program = dcpy.program(smooth, device="bare", bare_words=["x"])
    assert np.array_equal(program(x, 0.25), smooth(x, 0.25))
    code = program.to_sdfg(x, 0.25).code(device="bare", bare_words=["x"])
    assert "double port_" not in code
    assert "x_" in code

    def squares(x: dcpy.float64[64]):
        y = np.sqrt(x)
        x[:] = y[::-1] + y

    sdfg = dcpy.program(squares).to_sdfg()
    assert "double y[64]" not in sdfg.code(device="bare")
    assert "double y[64]" in sdfg.code(device="bare", bare_stack=512)


def test_it_explains_and_refuses():
    sdfg = dcpy.program(smooth).to_sdfg()
    assert "smooth runs on a bare machine, whose clock is slow" in sdfg.explain(device="bare")
    assert "whose clock is fast" in sdfg.explain(device="bare", bare_clock="fast")
    product = dcpy.program(multiplied).to_sdfg()
    product.expand_library_nodes("openblas")
    with pytest.raises(CodegenError, match="cannot be called on a bare machine"):
        product.code(device="bare")
    with pytest.raises(DeviceError, match="kernels are not timed"):
        dcpy.program(smooth, device="bare").kernel_times()


def multiplied(a: dcpy.float64[N, M], b: dcpy.float64[M, N]):
    return a @ b


def test_commands_know_it(tmp_path, capsys):
    (tmp_path / "program.py").write_text(
        "import dcpy\n\n@dcpy.program\ndef doubled(x: dcpy.float64[4]):\n    x[:] = 2 * x\n"
    )
    with pytest.raises(SystemExit):
        sdfgcc([f"{tmp_path}/program.py:doubled", "--clock=fast"])
    assert "--clock are for --device bare" in capsys.readouterr().err
    assert command(["doctor", "--bare"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ok      bare machine            made up", "an addition takes one cycle",
    ]  # fmt: skip


@pytest.mark.cc
def test_sdfgcc_makes_a_library_for_it(tmp_path):
    (tmp_path / "program.py").write_text(
        "import dcpy\n\n@dcpy.program\ndef doubled(x: dcpy.float64[4]):\n    x[:] = 2 * x\n"
    )
    out = tmp_path / "libdoubled.so"
    assert sdfgcc([f"{tmp_path}/program.py:doubled", "--device", "bare", "--clock", "fast", "-o", str(out)]) == 0
    assert out.is_file()


def test_a_name_is_taken_once(bare):
    with pytest.raises(DcpyError, match="the target 'bare' exists already"):
        register(bare)
    with pytest.raises(DcpyError, match="'other' is for the device 'bare'"):
        register(replace(bare, name="other"))
