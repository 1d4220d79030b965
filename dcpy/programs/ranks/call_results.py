"""Results of distributed calls: what the function returns, put together of what one rank's program returns.

An argument that is returned is the object that the caller has passed. A `DistArray` is one argument to the caller, and
one rank's part of it to the program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dcpy.base.errors import FrontendError
from dcpy.codegen.artifact import ArgumentResult, Built, Chosen, Signature
from dcpy.codegen.signature import default_signature
from dcpy.ir.sdfg import Sdfg
from dcpy.programs.signatures import Convention, with_outcome


def signature_of_rank(sdfg: Sdfg, convention: Convention | None) -> Signature:
    """The signature of one rank's program, with the structure of what the function returns.

    `FrontendError` for a function that returns lists or other objects: ranks get numbers and names only.
    """
    signature = default_signature(sdfg)
    if convention is None:
        return signature
    paths = {container: path for path, container in convention.passing.containers.items()}
    slots = {paths.get(arg.name, arg.name): slot for slot, arg in enumerate(signature.args)}
    made = with_outcome(signature, convention.passing.outcome, slots)
    if _builds(made.structure):
        raise FrontendError(
            f"{sdfg.name}() returns a list or an object, or a part of an argument that is found out while it runs",
            span=sdfg.span,
            help="return arrays and numbers, or a tuple of them; a distributed program puts nothing else together",
        )
    return made


def _builds(structure: object) -> bool:
    match structure:
        case Built():
            return True
        case tuple(parts) | Chosen(options=parts):
            return any(map(_builds, parts))
    return False


def apart(signature: Signature) -> Signature:
    """The signature of a program that returns each result for itself."""
    return replace(signature, structure=tuple(range(len(signature.results))))


def delivered(signature: Signature, results: Sequence[Any], bound: Mapping[str, Any]) -> Any:
    """Return what the function returns, with the caller's arguments for those of the program."""
    found = list(results)
    for number, result in enumerate(signature.results):
        if isinstance(result, ArgumentResult):
            found[number] = bound[signature.args[result.index].name]
    return put_together(signature.structure, found)


def put_together(structure: object, results: Sequence[Any]) -> Any:
    """Nest results as a structure says."""
    match structure:
        case Chosen(which, options):
            return put_together(options[int(results[which])], results)
        case tuple(parts):
            return tuple(put_together(part, results) for part in parts)
        case int(number):
            return results[number]
    return None
