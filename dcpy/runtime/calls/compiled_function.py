"""Compiled function: a compiled program as a Python callable, for one signature only; ``sdfg.compile()`` returns it.

The `Dispatcher` in it makes the native call; here is what happens when the arguments do not fit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError
from dcpy.codegen.artifact import ArrayArg, Signature
from dcpy.runtime.calls.argument_conversion import prepare
from dcpy.runtime.calls.argument_errors import explain_mismatch, with_parts
from dcpy.runtime.dispatch import Dispatcher, encode
from dcpy.runtime.dispatch.device_stand_ins import stand_in
from dcpy.runtime.loading.load import Loaded


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
    program: Dispatcher,
    signature: Signature,
    values: tuple[Any, ...],
    sources: Sequence[tuple[Any, ...]] = (),
    imported: Callable[[str, Any], Any] = lambda name, value: value,
) -> Any:
    """Call `program` with copies of those `values` that only have another layout than `signature` asks for.

    Raises the error that says why they do not fit, where that is not all. `imported`: our array for another library's.
    """
    prepared = prepare(values, signature)
    if prepared is not None:
        result = program.dispatch(prepared.values)
        if result is not NotImplemented:
            return prepared.finish(result)
    values = with_parts(values, sources)
    if signature.on_device:
        named = zip(signature.args, values, strict=False)
        values = _on_device(signature, tuple(imported(arg.name, value) for arg, value in named))
    raise explain_mismatch(signature, values)


def _on_device(signature: Signature, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """The values, with arrays of NumPy's for those of the device; `ArgumentError` where one is not there."""
    for arg, value in zip(signature.args, values, strict=False):
        if isinstance(arg, ArrayArg) and arg.on_device and isinstance(value, np.ndarray):
            raise ArgumentError(
                f"argument {arg.name!r} is an array of NumPy's, but one in the memory of the device is needed",
                help=f"pass dcpy.gpu.array({arg.name}), or a device array of another library",
            )
    return tuple(map(stand_in, values))
