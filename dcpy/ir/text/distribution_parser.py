"""Parses distributions, ``g(block 0, whole) root 1 halo (1:1, 0:0)``, and sections. `str` of the values prints them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from dcpy.ir.distribution import Axis, Blocked, Cyclic, Distribution, Partial, ProcessGrid, Rest, Root, Section
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS
from dcpy.ir.symbolic import ONE, ZERO, Expr
from dcpy.ir.text.expr_parser import ExprParser

T = TypeVar("T")


def parse_distribution(text: str) -> Distribution:
    """``g(block 0, whole) root 1``. `ParseError` shows the place that does not fit."""
    parser = DistributionParser(text, "<distribution>")
    found = parser.distribution()
    if parser.token.kind != "end":
        parser.fail(f"unexpected {parser.found()}")
    return found


class DistributionParser(ExprParser):
    """A cursor that reads where things live."""

    def distribution(self) -> Distribution:
        """Parse what follows ``on`` or ``home``."""
        grid = self.identifier("the name of a grid")
        axes = self.list_of(self._axis)
        rest: list[Rest] = []
        while self.at("root", "partial"):
            rest.append(self._rest())
        halo = self.list_of(self._room) if self.accept("halo") else ()
        return Distribution(grid, axes, tuple(rest), halo)

    def section(self) -> Section:
        """``[N, M] at [0:N, k] on g(block 0, whole)``; ``of [P, 2]`` where the grid is the section's own."""
        shape = self.list_of(lambda: self.symbolic(size=True), "[", "]")
        self.expect("at")
        subset = self.subset()
        placed = self.distribution() if self.accept("on") else None
        own = placed is not None and self.accept("of")
        sizes = self.list_of(lambda: self.symbolic(size=True), "[", "]") if own else None
        return Section(shape, subset, placed, None if sizes is None else ProcessGrid(sizes))

    def _axis(self) -> Axis:
        at = self.token
        match self.identifier("how a dimension is distributed"):
            case "whole":
                return None
            case "block":
                axis, block, offset = self._spread()
                return Blocked(axis, block, offset)
            case "cyclic":
                axis, block, offset = self._spread()
                return Cyclic(axis, ONE if block is None else block, offset)
        return self.fail("a dimension is distributed by block or cyclic, or it is whole", at=at)

    def _spread(self) -> tuple[int, Expr | None, Expr]:
        axis = self.integer("an axis of the grid")
        block = self.symbolic() if self.accept("by") else None
        return axis, block, self.symbolic() if self.accept("offset") else ZERO

    def _rest(self) -> Rest:
        if self.accept("root"):
            axis = self.integer("an axis of the grid")
            return Root(axis, self.symbolic() if self.accept("at") else ZERO)
        self.expect("partial")
        axis, at = self.integer("an axis of the grid"), self.token
        operation = self.identifier("a conflict resolution")
        if operation not in CONFLICT_RESOLUTIONS:
            self.fail(f"no conflict resolution is called {operation!r}", at=at)
        return Partial(axis, operation)

    def _room(self) -> tuple[int, int]:
        low = self.integer("a number of elements")
        self.expect(":")
        return low, self.integer("a number of elements")

    def list_of(self, item: Callable[[], T], opening: str = "(", closing: str = ")") -> tuple[T, ...]:
        """Items with commas between them (and one more at the end, if you like)."""
        self.expect(opening)
        items: list[T] = []
        while not self.accept(closing):
            items.append(item())
            if not self.at(closing):
                self.expect(",")
        return tuple(items)
