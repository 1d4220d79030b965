"""Compiling the textual form in a test: lowered for the CPU, generated, built, loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dcpy.base.library_environment import Environment
from dcpy.base.options import resolve_options
from dcpy.codegen.generate import generate
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.calls.compiled_function import compiled_function
from dcpy.runtime.loading.load import load
from dcpy.transforms.cpu.lowering import lower_for_cpu


def source_of(sdfg: Sdfg | str, environments: Mapping[str, Environment] | None = None, **options: Any) -> str:
    """The generated C++ of an SDFG, or of its text."""
    return _artifact(sdfg, environments, options).units[0].text


def compile_sdfg(sdfg: Sdfg | str, environments: Mapping[str, Environment] | None = None, **options: Any) -> Any:
    """An SDFG, or its text, as a Python callable."""
    resolved = resolve_options({name.replace("cpu_", "cpu."): value for name, value in options.items()})
    return compiled_function(load(_artifact(sdfg, environments, options), resolved))


def _artifact(sdfg: Sdfg | str, environments: Mapping[str, Environment] | None, options: Mapping[str, Any]) -> Any:
    given = parse_sdfg(sdfg) if isinstance(sdfg, str) else copy_sdfg(sdfg)
    resolved = resolve_options({name.replace("cpu_", "cpu."): value for name, value in options.items()})
    lower_for_cpu(given, resolved)
    return generate(given, None, environments, resolved)
