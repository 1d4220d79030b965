"""Whole files: the only place where a template is filled. Loops and expressions come from `emit.cpp`, as text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dcpy.base.environment import Environment
from dcpy.base.source import SrcSpan
from dcpy.codegen.artifact import Check
from dcpy.codegen.emit.comments import comment
from dcpy.codegen.emit.cpp import CppEmitter, reduction_pragma, signature_lines
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Call
from dcpy.codegen.lir.walk import called, parts
from dcpy.codegen.prelude import prelude

if TYPE_CHECKING:
    import jinja2

TYPEDEFS = {
    **{f"int{bits}_t": f"__INT{bits}_TYPE__" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}_t": f"__UINT{bits}_TYPE__" for bits in (8, 16, 32, 64)},
    "size_t": "__SIZE_TYPE__",
}
STRUCTS = {
    "dcpy_complex64": "typedef struct { float real, imag; } dcpy_complex64;",
    "dcpy_complex128": "typedef struct { double real, imag; } dcpy_complex128;",
}


def program_text(
    module: tree.Module, *, environments: Sequence[Environment], vector_functions: frozenset[str]
) -> tuple[str, tuple[tuple[int, SrcSpan], ...]]:
    """One C++ file, and the lines in it (from 1) from which on a place in Python is where they come from.

    It includes nothing, and holds no helper that it does not use.
    """
    emitter = CppEmitter()
    functions = emitter.functions(module.functions)
    mentioned = [*called(module.functions), *_in_reductions(module), *(table.type for table in module.tables)]
    mentioned += ["aligned_alloc free"] if module.slots else []
    helpers = prelude(mentioned, vector_functions)
    words = set(re.findall(r"\w+", f"{helpers} {functions} {' '.join(t.type for t in module.tables)}"))
    typedefs = [f"typedef {builtin} {name};" for name, builtin in TYPEDEFS.items() if name in words | {"int64_t"}]
    text = _render(
        "program.cpp.j2",
        title=module.name,
        typedefs="\n".join(typedefs),
        declarations="\n".join(_declarations(environments, words)),
        prelude=helpers,
        reductions=[reduction_pragma(reduction) for reduction in module.reductions],
        tables=module.tables,
        slots=module.slots,
        reports_errors=module.reports_errors,
        functions=functions,
    )
    above = text.rpartition(functions)[0].count("\n") + 1
    return text, tuple((above + number, span) for number, span in emitter.out.places)


def header_text(name: str, function: tree.Function, checks: Sequence[Check], place: str) -> str:
    """The C header of a program compiled ahead of time."""
    prototype = "\n".join(signature_lines(function)).replace('extern "C" ', "").replace("*__restrict ", "*")
    structs = [text for name, text in STRUCTS.items() if name in prototype]
    makes_arrays = any(param.type.endswith("**") for param in function.params)
    return _render(
        "header.h.j2",
        name=name,
        place=place,
        structs=structs,
        makes_arrays=makes_arrays,
        checks=checks,
        prototype=prototype,
    )


def _declarations(environments: Sequence[Environment], words: set[str]) -> Iterator[str]:
    """What the environments declare: of their functions just those that are mentioned."""
    for environment in environments:
        if environment.declarations.strip():
            yield environment.declarations.strip("\n")
        for prototype in environment.prototypes:
            if prototype.partition("(")[0].split()[-1].lstrip("*") in words:
                yield f'extern "C" {prototype}'


def _in_reductions(module: tree.Module) -> list[str]:
    exprs = [part for r in module.reductions for e in (r.combined, r.identity) for part in parts(e)]
    return [part.function for part in exprs if isinstance(part, Call)] + [part.type for part in exprs]


@cache
def _environment() -> jinja2.Environment:
    import jinja2  # late: a warm start generates nothing

    folder = Path(__file__).parent / "templates"
    loader = jinja2.FileSystemLoader(folder)
    made = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.filters["comment"] = comment
    return made


def _render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)
