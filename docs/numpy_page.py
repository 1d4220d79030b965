"""The page of NumPy's functions: how many compile, their signatures, what they lack and why, and what does not."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator

import numpy as np

from dcpy.frontend.implements import find_attribute, implemented, method_names
from docs.numpy_coverage import NAMESPACES, Coverage, array_methods, public_callables

INTRODUCTION = """# Functions that compile

Made from the registry. Of {total} public callables of NumPy, {compiled} are compiled natively, without a callback; of
the {sensible} that make sense in compiled code, these are {percent} %. The others read files, make texts, dates or
objects of Python's, or ask about NumPy itself.

| namespace | public | compiled |
|---|---|---|
{rows}

Functions count once for all their names (`np.abs` is `np.absolute`); classes, constants, methods of ufuncs
(`np.add.reduce`) and methods of arrays do not count: those are listed on their own. A signature below is what dcpy
takes. Keywords that only NumPy has may be given with their defaults; the last table says why they are taken with
nothing else. `np.r_`, `np.c_`, `np.s_`, `np.index_exp`, `np.mgrid`, `np.ogrid`, `np.ndindex` and
`np.ndenumerate` compile, too.
"""


def numpy_page() -> Iterator[str]:
    """Every function that compiles, with the signature that dcpy takes, and what does not compile."""
    functions, methods = public_callables(), array_methods()
    yield _introduction(functions)
    for group, lines in _groups(functions, methods).items():
        yield "\n".join((f"## {group}\n\n```text", *lines, "```\n"))
    yield "## Keywords that are taken with NumPy's defaults only\n\n| keyword | of | because |\n|---|---|---|"
    yield from _lacking([*functions, *methods])
    yield "\n## What does not compile\n\n| NumPy | because | instead |\n|---|---|---|"
    yield from _refused([*functions, *methods])
    yield ""


def _introduction(functions: list[Coverage]) -> str:
    counts = {name: [0, 0] for name in (*NAMESPACES, "numpy.random.Generator")}
    for function in functions:
        count = counts[function.name.rpartition(".")[0]]
        count[0] += 1
        count[1] += function.entry is not None
    rows = "\n".join(f"| `{name}` | {public} | {compiled} |" for name, (public, compiled) in counts.items())
    compiled = sum(function.entry is not None for function in functions)
    sensible = sum(function.makes_sense for function in functions)
    percent = 100 * compiled // sensible
    return INTRODUCTION.format(total=len(functions), compiled=compiled, sensible=sensible, percent=percent, rows=rows)


def _groups(functions: list[Coverage], methods: list[Coverage]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {"Python's own": [], "math": [], "cmath": []}
    ufuncs: dict[str, list[str]] = {}
    for name, signature in implemented().items():
        package, _, rest = name.partition(".") if "." in name else ("builtins", "", name)
        group = {"math": "math", "cmath": "cmath", "builtins": "Python's own"}.get(package)
        if group is not None:
            groups[group].append(name + plain(signature))
        owner, _, method = rest.rpartition(".")
        if package == "numpy" and isinstance(getattr(np, owner, None), np.ufunc):
            ufuncs.setdefault(method, []).append(owner)
    found = [function for function in functions if function.entry is not None]
    groups["NumPy"] = [_line(function) for function in found if not function.is_method]
    groups["Other modules of NumPy"] = sorted(_elsewhere())
    groups["Methods of ufuncs"] = [f"{name}: {', '.join(sorted(which))}" for name, which in sorted(ufuncs.items())]
    groups["Methods of numpy.random.Generator"] = [_line(function) for function in found if function.is_method]
    groups["Methods of arrays"] = [_line(method) for method in methods if method.entry is not None]
    groups["Attributes of arrays"] = [name for name in method_names() if find_attribute(name)]
    return groups


def _elsewhere() -> Iterator[str]:
    """Functions of modules that do not count. Those of `numpy.random` are methods of its one `RandomState`."""
    for name, signature in implemented().items():
        owner = name.rpartition(".")[0]
        if not name.startswith("numpy.") or owner in (*NAMESPACES, "numpy.random.Generator"):
            continue
        if owner == "numpy.random.RandomState":
            signature = signature.replace(parameters=list(signature.parameters.values())[1:])
            yield name.replace(".RandomState", "") + plain(signature)
        elif not isinstance(getattr(np, owner.removeprefix("numpy."), None), np.ufunc):
            yield name + plain(signature)


def _line(function: Coverage) -> str:
    assert function.entry is not None
    signature = function.entry.signature
    if function.is_method:
        signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    return (function.name.rpartition(".")[2] if function.is_method else function.name) + plain(signature)


def _lacking(functions: Iterable[Coverage]) -> Iterator[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for function in functions:
        for keyword, reason in function.lacking().items():
            found.setdefault((keyword, reason), []).append(_short(function))
    for (keyword, reason), names in sorted(found.items()):
        shown = f"{len(names)} functions" if len(names) > 12 else ", ".join(f"`{name}`" for name in names)
        yield f"| `{keyword}=` | {shown} | {reason} |"


def _refused(functions: Iterable[Coverage]) -> Iterator[str]:
    found: dict[tuple[str, str], list[str]] = {}
    for function in functions:
        if function.entry is None and function.refusal is not None:
            found.setdefault((function.refusal.reason, function.refusal.help), []).append(_short(function))
    for (reason, help_), names in found.items():
        yield f"| {', '.join(f'`{name}`' for name in names)} | {reason} | {help_} |"


def _short(function: Coverage) -> str:
    """The name without what goes without saying; that of a method begins with a point."""
    name = function.name.removeprefix("numpy.")
    return name.removeprefix("ndarray") if name.startswith("ndarray.") else name


def plain(signature: inspect.Signature) -> str:
    """A signature as NumPy's documentation has it; defaults that are no literals are left open."""
    return str(signature.replace(parameters=[_plain_parameter(p) for p in signature.parameters.values()]))


def _plain_parameter(parameter: inspect.Parameter) -> inspect.Parameter:
    default = parameter.default
    literal = isinstance(default, bool | int | float | str | None) or (
        isinstance(default, tuple) and all(isinstance(part, int | None) for part in default)
    )
    if inspect.isclass(default) and default is not inspect.Parameter.empty:
        default = _Verbatim(default.__name__)
    elif not literal and default is not inspect.Parameter.empty:
        default = _Verbatim("...")
    return parameter.replace(annotation=inspect.Parameter.empty, default=default)


class _Verbatim(str):
    """A text that stands in a signature without quotes."""

    __slots__ = ()
    __repr__ = str.__str__
