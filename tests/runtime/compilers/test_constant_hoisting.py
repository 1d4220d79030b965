"""Functions with more constants than registers are compiled by g++ without hoisting these out of loops."""

import numpy as np
import pytest

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.codegen.signature import default_signature
from dcpy.runtime.compilers.build import compile_flags
from dcpy.runtime.compilers.constant_hoisting import MOST, has_many_constants
from tests.fuzz.program import define

FUNCTION = "double f(double x)\n{{\n    return {};\n}}\n"


def sum_of(count):
    return FUNCTION.format(" + ".join(f"{number}.5*x" for number in range(count)))


def artifact_of(count):
    terms = " + ".join(f"x * {number}.5" for number in range(count))
    sdfg = dcpy.program(define(f"def f(x):\n    return {terms}\n")).to_sdfg(np.ones(4))
    return driver.artifact_of(sdfg, default_signature(sdfg), resolve_options())


def test_constants_are_counted_by_function():
    assert has_many_constants(sum_of(MOST + 1))
    assert not has_many_constants(sum_of(MOST))
    assert not has_many_constants(sum_of(MOST) + sum_of(MOST).replace(".5", ".25"))


@pytest.mark.parametrize("number", ["1.5", "1e-05", "2.5e+300", "3.0f"])
def test_spellings_of_constants(number):
    parts = " + ".join(f"{k}{number}*x" for k in range(1, MOST + 2))
    assert has_many_constants(FUNCTION.format(parts))


def test_indices_names_and_tables_are_no_constants():
    parts = " + ".join(f"x[{k}]*tmp_{k}*t.f{k}" for k in range(2 * MOST))
    table = "static const double table[] = {\n" + ", ".join(f"{k}.5" for k in range(2 * MOST)) + "};\n"
    assert not has_many_constants(table + FUNCTION.format(parts))


def test_flags_of_g_plus_plus_alone():
    options = resolve_options().cpu
    for count, without in ((MOST // 2, False), (2 * MOST, True)):
        artifact = artifact_of(count)
        assert ("-fno-gcse" in compile_flags(artifact, artifact.units[0], options)) == without
        assert "-fno-gcse" not in compile_flags(artifact, artifact.units[0], options, "clang")
