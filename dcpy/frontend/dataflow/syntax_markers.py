"""Syntax markers: the objects behind ``dcpy.tasklet`` and its kin, which only a program gives a meaning.

A tasklet computes on what its memlets bring, ``a << A[i]``; Python has no such thing, so outside of a program these
objects say that and nothing else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from dcpy.base.errors import ProgramError


@dataclass(frozen=True, eq=False)
class Marker:
    """A word of explicit dataflow: what it is called, and what stands in its place outside of a program."""

    name: str

    def __enter__(self) -> NoReturn:
        raise self._outside()

    def __exit__(self, *_: object) -> None:
        """Never reached: entering raises."""

    def __call__(self, *_: Any, **__: Any) -> NoReturn:
        raise self._outside()

    def __getitem__(self, _: Any) -> NoReturn:
        raise self._outside()

    def __repr__(self) -> str:
        return f"dcpy.{self.name}"

    def _outside(self) -> ProgramError:
        return ProgramError(
            f"dcpy.{self.name} has a meaning inside of a program only",
            notes=("memlets (`a << A[i]`) say what moves in a compiled program; Python would shift numbers",),
            help="decorate the function with @dcpy.program",
        )


tasklet = Marker("tasklet")
stream = Marker("stream")
