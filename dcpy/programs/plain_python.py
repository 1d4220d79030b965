"""Programs as plain Python: with the option ``disable`` (``DCPY_DISABLE=1``), or while `disable` is entered.

Calls of programs are native, so that nothing can be asked there. A program that is plain has a class of its own
instead, whose call is the function's.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Iterator
from types import FunctionType
from typing import Any

_programs: weakref.WeakSet[Any] = weakref.WeakSet()
_plain_kinds: dict[type, type] = {}
_lock = threading.RLock()
_entered = 0


class PlainCalls:
    """Calls of a program that is plain; put before the class that it had."""

    function: FunctionType

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the function, in Python."""
        return getattr(self, "__wrapped__", self.function)(*args, **kwargs)


@contextlib.contextmanager
def disable() -> Iterator[None]:
    """Run programs as plain Python: ``with dcpy.disable():``; for debuggers, `print`, and to compare.

    It holds for all threads, and also for programs that are made meanwhile. What a program computes with NumPy is done
    by NumPy, and `dcpy.map` is a loop. SDFGs that are compiled, and C functions, stay so.
    """
    global _entered
    with _lock:
        _entered += 1
        if _entered == 1:
            for program in list(_programs):
                _make_plain(program)
    try:
        yield
    finally:
        with _lock:
            _entered -= 1
            if _entered == 0:
                for program in list(_programs):
                    if not program.options.disable:
                        program.__class__ = compiled_kind(program)


def register(program: Any) -> None:
    """Take note of a new program, which is plain at once where its options say so, or all are."""
    with _lock:
        _programs.add(program)
        if _entered or program.options.disable:
            _make_plain(program)


def compiled_kind(program: Any) -> Any:
    """The class of a program, or what it was before it was made plain."""
    kind = type(program)
    return kind.__mro__[2] if issubclass(kind, PlainCalls) else kind


def _make_plain(program: Any) -> None:
    if not isinstance(program, PlainCalls):
        kind = type(program)
        if kind not in _plain_kinds:
            names = {"__module__": __name__, "__doc__": kind.__doc__}
            _plain_kinds[kind] = type(f"Plain{kind.__name__}", (PlainCalls, kind), names)
        program.__class__ = _plain_kinds[kind]
