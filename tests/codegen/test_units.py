"""Artifacts of several units: each compiled by the compiler of its language, linked into one library, listed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dcpy.base.errors import ToolchainError
from dcpy.base.option_groups.cpu import CpuOptions
from dcpy.base.options import resolve_options
from dcpy.base.source import SrcSpan
from dcpy.codegen.annotated_source import listing, listings
from dcpy.codegen.artifact import Artifact, Unit
from dcpy.codegen.emit.c99 import C99
from dcpy.codegen.emit.cpp import CPP
from dcpy.codegen.generate import unit_of
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.verify import require_valid
from dcpy.codegen.lower.program.translation_unit import lower_program
from dcpy.codegen.signature import default_signature
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.compilers.toolchain import find_toolchain, toolchains_for
from dcpy.runtime.loading.load import load
from dcpy.transforms.cpu.lowering import lower_for_cpu

PROGRAM = """
    sdfg @apart(k: i64[N], x: f64[N], y: f64[N], s: f64[1]) symbols(N: size) {
      state { map i = 0:N @parallel {
        let b = k[i]
        check b < 4 else ValueError "{0} is too large" (b)
        state { tasklet (v <- x[i]) -> (o -> y[i]) { o = v ** 3.0 + f64(b // 3) } }
      } }
      state { map i = 0:N @parallel { tasklet (v <- y[i]) -> (o -> s[0] (max)) { o = v } } }
    }""".replace("v ** 3.0", "pow(v, 3.0)").replace("b // 3", "floordiv(b, 3)")


def two_modules() -> tuple[tree.Module, tree.Module, object]:
    """A program, and its parallel maps in a unit of their own: what a target with kernels does."""
    sdfg = parse_sdfg(PROGRAM)
    options = resolve_options()
    lower_for_cpu(sdfg, options)
    context = lower_program(sdfg, default_signature(sdfg), CpuOptions(), {})
    whole = context.finished()
    kernels = tuple(replace(f, exported=True) for f in whole.functions if "_map_" in f.name)
    names = {kernel.name for kernel in kernels}
    host = replace(
        whole,
        functions=tuple(function for function in whole.functions if function.name not in names),
        declared=tuple(replace(kernel, body=()) for kernel in kernels),
        combinations=(),
    )
    device = tree.Module("kernels", kernels, whole.combinations)
    signature = replace(default_signature(sdfg), checks=tuple(context.checks))
    return host, device, signature


def artifact() -> Artifact:
    host, device, signature = two_modules()
    for module in (host, device):
        require_valid(module, {})
    units = (unit_of(host, CPP, "apart"), unit_of(device, C99, "apart_kernels"))
    return Artifact(signature, units, flags=("-fopenmp",))


def test_each_unit_is_in_its_language():
    host, kernels = artifact().units
    assert (host.name, host.language, host.flags) == ("apart.cpp", "C++", ("-std=c++17",))
    assert (kernels.name, kernels.language, kernels.flags) == ("apart_kernels.c", "C", ("-std=gnu11",))
    assert artifact().languages == ("C++", "C")
    assert 'extern "C" void apart_map_i_1(int64_t N, int64_t &s_max, double *__restrict y);' in host.text
    assert "dcpy_floordiv_i64" in kernels.text
    assert "dcpy_floordiv" not in host.text


def test_all_units_are_listed():
    names = [name for name, _ in listings(artifact())]
    assert names == ["apart.cpp", "apart_kernels.c"]
    text = listing(artifact())
    first, second = text.index("// == apart.cpp (C++)"), text.index("// == apart_kernels.c (C)")
    assert first < second < text.index("dcpy_floordiv_i64")


def test_every_unit_is_in_the_key():
    whole = artifact()
    host, kernels = whole.units
    others = (
        replace(whole, units=(host, replace(kernels, text=kernels.text + "\n"))),
        replace(whole, units=(host, replace(kernels, language="C++"))),
        replace(whole, units=(host, replace(kernels, flags=()))),
        replace(whole, units=(host,)),
    )
    assert len({whole.key(), *(other.key() for other in others)}) == 5
    assert whole.key() == replace(whole, units=(host, replace(kernels, places=()))).key()


def test_a_language_without_a_compiler_is_refused():
    host = find_toolchain()
    assert toolchains_for(("C++", "C"), host)["C"].compile == (*host.command, "-x", "c")
    with pytest.raises(ToolchainError, match="no compiler of COBOL is known"):
        toolchains_for(("C++", "COBOL"), host)


@pytest.mark.cc
def test_they_are_one_program(tmp_path):
    run = compiled_function(load(artifact(), resolve_options({"cache_dir": str(tmp_path)})))
    rng = np.random.default_rng(0)
    k, x = rng.integers(0, 4, 300_000), rng.standard_normal(300_000)
    y, s = np.zeros_like(x), np.array([-np.inf])
    run(k, x, y, s)
    np.testing.assert_allclose(y, x**3 + k // 3, rtol=1e-9, atol=1e-12)
    assert s[0] == y.max()
    k[1234] = 7
    with pytest.raises(ValueError, match="7 is too large"):
        run(k, x, y, s)


@pytest.mark.cc
def test_a_failing_unit_is_named_with_its_line_of_python(tmp_path):
    whole = artifact()
    broken = Unit("broken.c", "int fine;\nclass wrong;\n", "C", (), ((2, SrcSpan("kernels.py", 7)),))
    with pytest.raises(ToolchainError, match="the C compiler failed") as caught:
        load(replace(whole, units=(*whole.units, broken)), resolve_options({"cache_dir": str(tmp_path)}))
    assert caught.value.span == SrcSpan("kernels.py", 7)
    assert any("broken.c:2" in note for note in caught.value.notes)
