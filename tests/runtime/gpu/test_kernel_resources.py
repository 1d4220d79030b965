"""What ptxas and clang say about kernels is read, and gated; architectures have names; binaries fit chips."""

from __future__ import annotations

import json

import pytest

from dcpy.base.errors import DeviceError, ToolchainError
from dcpy.runtime.gpu import hipcc
from dcpy.runtime.gpu.binaries import RESOURCES, binaries_in, binary_for
from dcpy.runtime.gpu.device_compilers import nvidia_target
from dcpy.runtime.gpu.kernel_resources import KernelResources, exceeded, resources_in
from dcpy.runtime.gpu.sass import count
from dcpy.runtime.storage.cache import write_sealed

LOG = """\
k.kernels.cu(1): warning #177-D: variable "unused" was declared but never referenced
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'second' for 'sm_90'
ptxas info    : Function properties for second
ptxas         .     1600 bytes stack frame, 24 bytes spill stores, 16 bytes spill loads
ptxas info    : Used 38 registers, used 1 barriers, 1600 bytes cumulative stack size, 2400 bytes smem, 384 bytes cmem[0]
ptxas info    : Compile time = 26.245 ms
ptxas info    : Function properties for helper
    8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'first' for 'sm_90'
ptxas info    : Function properties for first
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 12 registers, used 0 barriers
"""

REMARKS = """\
k.cu:4:1: remark: Function Name: axpy [-Rpass-analysis=kernel-resource-usage]
k.cu:4:1: remark:     SGPRs: 10 [-Rpass-analysis=kernel-resource-usage]
k.cu:4:1: remark:     VGPRs: 6 [-Rpass-analysis=kernel-resource-usage]
k.cu:4:1: remark:     AGPRs: 0 [-Rpass-analysis=kernel-resource-usage]
k.cu:4:1: remark:     ScratchSize [bytes/lane]: 16 [-Rpass-analysis=kernel-resource-usage]
k.cu:4:1: remark:     SGPRs Spill: 9 [-Rpass-analysis=kernel-resource-usage]
k.cu:4:1: remark:     VGPRs Spill: 2 [-Rpass-analysis=kernel-resource-usage]
k.cu:4:1: remark:     LDS Size [bytes/block]: 264 [-Rpass-analysis=kernel-resource-usage]
"""


def test_what_ptxas_says():
    first = KernelResources("first", 12)
    second = KernelResources("second", 38, stack=1600, spill_stores=24, spill_loads=16, shared=2400)
    assert resources_in(LOG) == (first, second)
    assert KernelResources.of_numbers("second", second.as_numbers()) == second


def test_what_clang_remarks():
    assert hipcc.resources_in(REMARKS) == (KernelResources("axpy", 6, 16, 8, 8, 264),)


def test_a_gate_names_each_excess():
    golden = {"first": KernelResources("first", 10, shared=8), "second": KernelResources("second", 40, shared=2000)}
    assert exceeded(resources_in(LOG), golden) == (
        "first needs 12 registers, golden are 10",
        "second spills: 24 bytes stored, 16 bytes loaded",
        "second has a stack of 1600 bytes: an array in it is indexed, or a function is not inlined",
        "second needs 2400 bytes of shared memory, golden are 2000",
    )
    assert exceeded([KernelResources("third", 1)], golden) == ("third has no golden figure",)
    assert exceeded([KernelResources("first", 9, shared=8)], golden) == ()


def test_blocks_that_fit_a_multiprocessor():
    assert KernelResources("k", 32).blocks_per_processor(256) == 8
    assert KernelResources("k", 128).blocks_per_processor(256) == 2
    assert KernelResources("k", 16, shared=100_000).blocks_per_processor(128) == 2


def test_instructions_are_counted_with_their_modifiers():
    words = ("LDG.E.128.CONSTANT", "LDG.E", "STG.E.128", "LDGSTS.E.128")
    assert [count(words, what) for what in ("LDG", "LDG.128", "STG.128", "ST")] == [2, 1, 1, 0]


# --- architectures ---


def test_an_architecture_is_compiled_for_exactly_or_as_ptx():
    known = (75, 80, 90, 100)
    assert nvidia_target("sm_90", known, "NVRTC") == ("sm_90", "")
    assert nvidia_target("80", known, "NVRTC") == ("sm_80", "")
    target, note = nvidia_target("sm_130", known, "NVRTC 13.5")
    assert (target, note) == (
        "compute_100",
        "NVRTC 13.5 does not know sm_130: PTX of sm_100 is compiled by the driver",
    )


@pytest.mark.parametrize("arch", ["sm_9x", "gfx90a", "", "sm_", "sm_1000", "; rm"])
def test_an_unknown_architecture(arch):
    with pytest.raises(ToolchainError, match="unknown GPU architecture") as caught:
        nvidia_target(arch, (75, 80), "NVRTC")
    assert "sm_90" in caught.value.notes[0]


def test_an_architecture_that_is_too_old():
    with pytest.raises(ToolchainError, match="makes no code for sm_60: the oldest architecture that it knows is sm_75"):
        nvidia_target("sm_60", (75, 80), "NVRTC 13.5")


# --- binaries in a folder ---


def folder_with(folder, *archs: str):
    import hashlib

    described = []
    for arch in archs:
        code = f"code of {arch}".encode()
        (folder / f"kernels.{arch}").write_bytes(code)
        digest = hashlib.sha256(code).hexdigest()
        described.append({"file": f"kernels.{arch}", "arch": arch, "digest": digest, "note": "", "kernels": {}})
    write_sealed(folder / RESOURCES, json.dumps({"compiler": "NVRTC", "binaries": described}))
    return folder


@pytest.mark.parametrize(
    ("there", "device", "taken"),
    [
        (("sm_80", "sm_90"), "sm_90", "sm_90"),
        (("sm_80", "sm_86", "compute_80"), "sm_89", "sm_86"),
        (("sm_80", "compute_75", "compute_80"), "sm_120", "compute_80"),
        (("gfx90a", "gfx1030"), "gfx1030", "gfx1030"),
    ],
)
def test_the_binary_that_suits_a_chip_best(tmp_path, there, device, taken):
    found, code = binary_for(folder_with(tmp_path, *there), device)
    assert (found.arch, code) == (taken, f"code of {taken}".encode())


@pytest.mark.parametrize(
    ("there", "device"), [(("sm_90",), "sm_80"), (("sm_80",), "sm_90"), (("sm_89",), "sm_86"), (("gfx90a",), "gfx908")]
)
def test_no_binary_for_a_chip(tmp_path, there, device):
    with pytest.raises(DeviceError, match=f"the program was compiled for {there[0]}, and the device is {device}"):
        binary_for(folder_with(tmp_path, *there), device)


def test_damaged_binaries_are_none(tmp_path):
    folder_with(tmp_path, "sm_90")
    (tmp_path / "kernels.sm_90").write_bytes(b"another code")
    with pytest.raises(ToolchainError, match="the machine code for sm_90 is damaged or missing"):
        binary_for(tmp_path, "sm_90")
    (tmp_path / "kernels.sm_90").unlink()
    with pytest.raises(ToolchainError, match="damaged or missing"):
        binary_for(tmp_path, "sm_90")
    (tmp_path / RESOURCES).write_text("nothing")
    assert binaries_in(tmp_path) == ()
    with pytest.raises(ToolchainError, match="damaged or missing"):
        binary_for(tmp_path, "sm_90")


@pytest.mark.parametrize(
    "document", ["[]", "{}", '{"binaries": [1]}', '{"binaries": [{"file": "a", "kernels": {"k": {}}}]}', "{"]
)
def test_hostile_documents_are_none(tmp_path, document):
    write_sealed(tmp_path / RESOURCES, document)
    assert binaries_in(tmp_path) == ()


def test_a_binary_lies_in_its_folder(tmp_path):
    one = {"file": "../../elsewhere", "arch": "sm_90", "digest": "", "note": "", "kernels": {}}
    write_sealed(tmp_path / RESOURCES, json.dumps({"binaries": [one]}))
    assert binaries_in(tmp_path)[0].path == tmp_path / "elsewhere"
