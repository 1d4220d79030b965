"""Names: what they look like, that each means one thing, and what the interface of an SDFG says."""

from __future__ import annotations

import re
from collections.abc import Iterator

from dcpy.base.printable_text import printable
from dcpy.ir.analysis.dataflow.aliasing import shown_by
from dcpy.ir.data import Array, Scalar, View
from dcpy.ir.nodes import Call, ForeignCall, Node, Tasklet
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.verify.rule import Findings, rule
from dcpy.ir.verify.subjects import Declaration, Scope

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LONGEST = 1000  # characters of a name
_LONGEST_PROGRAM = 200  # of a name that files have, too
_WORD = r"[A-Za-z_][A-Za-z0-9_]*(::[A-Za-z_][A-Za-z0-9_]*)*"
_C_NAME = re.compile(rf"{_WORD}(<{_WORD}(<{_WORD}>)?>)?")


@rule("names.identifiers", Sdfg)
def names_are_identifiers(sdfg: Sdfg, scope: Scope) -> Findings:
    """Names of SDFGs, containers, symbols and parameters are identifiers: letters, digits and underscores."""
    for name in dict.fromkeys((sdfg.name, *(name for name, _ in _definitions(sdfg)))):
        yield from _no_identifier("", name)
    if len(sdfg.name) > _LONGEST_PROGRAM:
        yield f"{printable(sdfg.name, longest=20)!r} has {len(sdfg.name)} characters; {_LONGEST_PROGRAM} are the most"


@rule("names.connectors", Node)
def connectors_are_identifiers(node: Node, scope: Scope) -> Findings:
    """Names of connectors, and of the local values of a tasklet, are identifiers."""
    match node:
        case Tasklet(inputs=inputs, outputs=outputs, code=code):
            names = (*inputs, *outputs, *(name for name, _ in code))
        case Call(arguments=arguments, symbols=symbols):
            names = (*arguments, *symbols)
        case _:
            names = (*getattr(node, "inputs", ()), *getattr(node, "outputs", ()))
    for name in dict.fromkeys(names):
        yield from _no_identifier("the connector ", name)


@rule("names.functions", ForeignCall)
def functions_are_identifiers(node: ForeignCall, scope: Scope) -> Findings:
    """The name of a foreign function is a C or C++ name, perhaps of a template with another one as its argument."""
    if not _C_NAME.fullmatch(node.function):
        yield f"{printable(node.function)!r} is no name of a function"


def _no_identifier(what: str, name: str) -> Findings:
    if not _IDENTIFIER.fullmatch(name):
        yield f"{what}{printable(name)!r} is no identifier"
    elif len(name) > _LONGEST:
        yield f"{what}{printable(name, longest=20)!r} has {len(name)} characters; {_LONGEST} are the most"


@rule("names.unique", Sdfg)
def names_are_unique(sdfg: Sdfg, scope: Scope) -> Findings:
    """A name stands for one container, symbol or parameter in all of an SDFG, nested regions included."""
    known: dict[str, str] = {}
    for name, what in _definitions(sdfg):
        if name in known:
            yield f"{name!r} is {known[name]}, and {what} too", "take a name from Sdfg.fresh_name"
        known.setdefault(name, what)


def _definitions(sdfg: Sdfg) -> Iterator[tuple[str, str]]:
    """Every name that an SDFG defines, and what it is."""
    for name in sdfg.symbols:
        yield name, "a symbol"
    for name in sdfg.assigned_symbols:
        yield name, "an assigned symbol"
    for name in sdfg.grids:
        yield name, "a grid of processes"
    for region in sdfg.body.walk_regions():
        for name in region.containers:
            yield name, "a container"
        params = region.params
        if len(set(params)) == len(params):  # map.parameters reports the others
            yield from ((name, f"the parameter of a {region.owner.kind}") for name in params)  # type: ignore[union-attr]


@rule("arguments.declared", Sdfg)
def arguments_are_declared(sdfg: Sdfg, scope: Scope) -> Findings:
    """Each argument is a symbol or a container that is not transient; each such container is an argument or result."""
    for name in sdfg.arguments:
        desc = sdfg.containers.get(name)
        if desc is None and name not in sdfg.symbols:
            yield f"the argument {name!r} is neither a container nor a symbol"
        elif desc is not None and desc.transient:
            yield f"the argument {name!r} is transient"
    passed = {*sdfg.arguments, *(result.container for result in sdfg.results), *sdfg.constants}
    for name, desc in sdfg.containers.items():
        if not desc.transient and name not in passed and not name.startswith("__return"):
            yield f"{name!r} is not transient, and neither an argument nor a result"
    for name in sorted({name for name in sdfg.arguments if sdfg.arguments.count(name) > 1}):
        yield f"the argument {name!r} occurs twice"


@rule("arguments.outermost", Declaration)
def arguments_are_outermost(subject: Declaration, scope: Scope) -> Findings:
    """Containers that are not transient are declared in the outermost region."""
    if not subject.desc.transient and subject.region is not scope.sdfg.body:
        yield f"{subject.name!r} is not transient, but declared inside of a scope"


@rule("results.exist", Sdfg)
def results_exist(sdfg: Sdfg, scope: Scope) -> Findings:
    """Each result names a container of its kind, and the structure of the results counts those that there are."""
    for position, result in enumerate(sdfg.results):
        yield from _result(result, sdfg, position)
    for number in _leaves(sdfg.structure):
        if type(number) is not int:
            yield f"the structure of the results nests their numbers, not {type(number).__name__}"
        elif not 0 <= number < len(sdfg.results):
            yield f"the structure of the results names the result {number!r} of {len(sdfg.results)}"


def _result(result: Result, sdfg: Sdfg, position: int) -> Findings:
    desc = sdfg.containers.get(result.container)
    match result.kind:
        case "constant":
            return
        case _ if desc is None:
            yield f"the result {result.container!r} is not declared"
        case "view" | "readonly" if not isinstance(desc, View):
            yield f"the result {result.container!r} is no view"
        case "view" | "readonly" if not _returned(sdfg, position).intersection(
            shown_by(result.container, sdfg.containers.get)
        ):
            yield f"the result {result.container!r} is a view of what is no argument, and no result in front of it"
        case "array" | "scalar" | "python" if not isinstance(desc, Array | Scalar):
            yield f"the result {result.container!r} is a {type(desc).__name__.lower()}"
        case "array" | "scalar" | "python" | "argument" if desc.transient:
            yield f"the result {result.container!r} is transient"
        case "argument" if result.container not in sdfg.arguments:
            yield f"the result {result.container!r} is no argument"
        case "scalar" | "python" if getattr(desc, "shape", ()):
            yield f"the result {result.container!r} is no scalar"
        case "array" | "scalar" | "python" | "argument" | "view" | "readonly":
            return
        case kind:
            yield f"no result is of kind {kind!r}"


def _returned(sdfg: Sdfg, position: int) -> set[str]:
    """Return the containers that the caller has before a result: arguments, and the new arrays in front of it."""
    return {*sdfg.arguments, *(result.container for result in sdfg.results[:position] if result.kind == "array")}


def _leaves(structure: object) -> Iterator[object]:
    if isinstance(structure, tuple):
        for part in structure:
            yield from _leaves(part)
    elif structure is not None:
        yield structure
