"""FPGA memory: the banks that arrays are in, and the partitions of memory on the chip."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

BankKind = Literal["ddr", "hbm", "plram"]
BANKS: tuple[BankKind, ...] = ("ddr", "hbm", "plram")
PartitionStyle = Literal["complete", "cyclic", "block"]
PARTITIONS: tuple[PartitionStyle, ...] = ("complete", "cyclic", "block")


@dataclass(frozen=True, slots=True)
class Bank:
    """The bank `first` of a kind of memory; or `count` banks from there, which divide dimension `axis` evenly."""

    kind: BankKind
    first: int = 0
    count: int = 1
    axis: int = 0

    def __str__(self) -> str:
        """``hbm 2``, ``hbm 0:4 axis 1``."""
        if self.count == 1:
            return f"{self.kind} {self.first}"
        return f"{self.kind} {self.first}:{self.first + self.count} axis {self.axis}"


@dataclass(frozen=True, slots=True)
class Partition:
    """Memory on the chip, cut along dimension `axis`: each piece has ports of its own.

    `complete`: an element is a piece; `cyclic`: element i is in piece ``i % factor``; `block`: pieces of neighbours.
    """

    axis: int
    style: PartitionStyle = "complete"
    factor: int = 0

    def __str__(self) -> str:
        """``complete 0``, ``cyclic 1 by 4``."""
        return f"{self.style} {self.axis}" + (f" by {self.factor}" if self.factor else "")


def how_to_number(names: Iterable[str]) -> str:
    """Return advice that turns sizes with these names into numbers, which data on a chip need."""
    sizes = ", ".join(f"{name!r}: 1024" for name in dict.fromkeys(names))
    return f"write a number in the annotation, dcpy.float32[1024], or sdfg.specialize({{{sizes}}})"
