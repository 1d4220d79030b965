"""Call chains: errors in a function that a program calls say where it was called, from the innermost call outwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dcpy.base.errors import DcpyError
from dcpy.frontend.lower.frame import Frame


@contextmanager
def with_call_note(frame: Frame, name: str, *, own: bool) -> Iterator[None]:
    """Add the call of a function to each error that leaves it, unless the function is dcpy's own."""
    span = frame.emit.span
    try:
        yield
    except DcpyError as error:
        if not own:
            error.called(name, span)
        raise
