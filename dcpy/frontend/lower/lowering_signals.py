"""Lowering signals: exceptions that stop lowering, for code that raises and for paths to keep apart.

Code that always runs and raises is refused; where it may not be reached, it becomes an exception at run time.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from dcpy.base.errors import DcpyError, FrontendError, ProgramError, raised_as
from dcpy.ir.symbolic import Expr

LOOP, EXPRESSION = "loop", "expression"  # what paths meet in, before its place; branches are named by the place alone
READ_FIRST = "read first"  # before the place of an item that is updated with a value whose evaluation changes it
ROWS = "rows"  # before the place of an item: its list, which holds lists, becomes an array
ITEM_KINDS = "kinds of items"  # before the place where items of several kinds meet in a list: each keeps its own
RUNS = "runs"  # before the place of a loop: the path on which it runs, and the one on which it does not
HASHED = "hashed"  # before the place of a dictionary: one that is found by keys that are known at run time only
CHANGING_SETS = "sets that change"  # all sets of a program are objects that may change
BY_PATH = "by path"  # `Missing.merge` of a name that some paths have not set, and that is kept apart from the others


class PathsMatter(Exception):
    """It matters which path was taken to a place where paths meet: lowering begins anew, and keeps them apart there.

    `merge`: the place. `error` says why dcpy refuses the program if that does not help. Not `keep_apart`: that was too
    much.
    """

    def __init__(self, merge: object, error: DcpyError, *, keep_apart: bool = True) -> None:
        super().__init__(error.message)
        self.merge, self.error, self.keep_apart = merge, error, keep_apart


class KindMatters(FrontendError):
    """Something depends on the kind of a number, which depends on the path taken: to be kept apart at `merges`."""

    merges: tuple[object, ...] = ()


class ResultUnknown(FrontendError):
    """The type of a callback's result is not declared: one call in Python would show it."""


class WillRaise(ProgramError):
    """Python or NumPy raises `exception` wherever this code runs.

    In straight-line code it is shown when the function is compiled, with the place. Inside a branch or loop the
    statement becomes the raising of the exception (`statements.execute`).
    """

    def __new__(cls, exception: str, *args: Any, **named: Any) -> WillRaise:
        """The error, as an `exception`."""
        return raised_as(cls, exception)

    def __init__(
        self, exception: str, message: str, values: Sequence[Expr] = (), *, note: str = "", help: str = "",
        by: str = "NumPy",
    ) -> None:  # fmt: skip
        """``{0}`` to ``{3}`` in `message` stand for the integers `values`."""
        shown = message.format(*values) if values else message
        super().__init__(shown.strip(), notes=(f"{note}{by} raises {exception} here",), help=help)
        self.exception, self.template, self.values = exception, message, tuple(values)

    def seen_from(self, symbols: Mapping[str, Expr]) -> WillRaise:
        """The same error for the caller of the function: with the meaning of its symbols there."""
        if self.values:
            self.values = tuple(value.subs(symbols) for value in self.values)
            self.message = self.template.format(*self.values).strip()
        return self

    @property
    def symbols(self) -> set[str]:
        """The symbols that its numbers are made of."""
        return {name for value in self.values for name in value.symbols}


@contextmanager
def raised_by(by: str = "Python", what: str = "") -> Iterator[None]:
    """Make an exception of what is computed while compiling, of known values, the program's: a `WillRaise`."""
    try:
        yield
    except DcpyError:
        raise
    except (TypeError, ValueError, ArithmeticError, LookupError) as error:
        raise WillRaise(type(error).__name__, f"{what}{error}", by=by) from None


class ConditionalJump(FrontendError):
    """A loop whose body is written once for each item is left by a condition at run time."""
