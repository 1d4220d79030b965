"""What tests compile is optimized as much as tests/support/optimization.py says."""

from dataclasses import replace

from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.options import Options
from dcpy.codegen.artifact import Artifact, Kernel, Signature, Unit
from tests.support.optimization import ONE_IN, flags_for

OPTIONS = Options(cpu=CpuOptions(flags=("-O3", "-march=native")))


def artifact(number, loop=""):
    return Artifact(Signature("none", ()), (Unit("program.cpp", f"// {number}\n{loop}", "C++"),))


def levels(options, loop=""):
    return [flags_for(artifact(number, loop), options)[0] for number in range(400)]


def test_one_in_some_texts_keeps_the_flags():
    found = levels(OPTIONS)
    assert set(found) == {"-O3", "-Og"}
    assert 300 / ONE_IN < found.count("-O3") < 500 / ONE_IN
    assert found == levels(OPTIONS)
    assert set(levels(OPTIONS, "#pragma omp simd reduction(+ : sum)\n")) == {"-O3", "-O1"}


def test_what_is_optimized_or_of_a_device_keeps_them():
    assert set(levels(replace(OPTIONS, auto_optimize=True))) == {"-O3"}
    kernels = (Kernel("map", (1, 1, 32), 0),)
    assert {flags_for(replace(artifact(number), kernels=kernels), OPTIONS)[0] for number in range(40)} == {"-O3"}


def test_flags_that_are_chosen_stay():
    chosen = replace(OPTIONS, cpu=CpuOptions(flags=("-O2", "-g")))
    assert {flags_for(artifact(number), chosen) for number in range(40)} == {("-O2", "-g")}
