"""A compiled program as a Python callable, for one signature only: what ``sdfg.compile()`` gives.

The `Dispatcher` in it makes the native call; here is what happens when the arguments do not fit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dcpy.codegen.artifact import Signature
from dcpy.runtime.arguments import explain_mismatch, with_parts
from dcpy.runtime.conversion import prepare
from dcpy.runtime.dispatch import Dispatcher, encode
from dcpy.runtime.load import Loaded


def compiled_function(loaded: Loaded, *, defaults: Mapping[str, Any] | None = None) -> Dispatcher:
    """A callable with the parameters of `loaded.signature`; `defaults` by name, for the last ones.

    Calls raise TypeError as Python does, and `ArgumentError`, `ArgumentShapeError` or `ReadOnlyArgument`.
    """
    signature = loaded.signature
    known = defaults or {}
    parameters = tuple((arg.name, known[arg.name]) if arg.name in known else (arg.name,) for arg in signature.args)

    def miss(values: tuple[Any, ...]) -> Any:
        return call_converted(program, signature, values)

    program = Dispatcher(signature.name, parameters, miss)
    code = (loaded.entry, loaded.results)
    program.add(
        encode(signature, *code, keepalive=loaded.library, device=loaded.device, on_stream=loaded.on_stream)
    )
    return program


def call_converted(
    program: Dispatcher, signature: Signature, values: tuple[Any, ...], sources: Sequence[tuple[Any, ...]] = ()
) -> Any:
    """Call `program` with copies of those `values` that only have another layout than `signature` asks for.

    Raises the error that says why they do not fit, where that is not all.
    """
    prepared = prepare(values, signature)
    if prepared is not None:
        result = program.dispatch(prepared.values)
        if result is not NotImplemented:
            return prepared.finish(result)
    raise explain_mismatch(signature, with_parts(values, sources))
