"""Data movement: which elements of which container go into or out of a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr, ExprLike

#: Conflict resolutions: what happens when a write meets a value. The name is an operation of `ir.expressions.ops`.
CONFLICT_RESOLUTIONS = ("add", "mul", "min", "max", "and", "or", "xor", "bitand", "bitor", "bitxor")


@dataclass(frozen=True, slots=True)
class Memlet:
    """``container[subset]``, read or written by the node that holds it.

    `wcr` names the operation that combines a written value with the one in memory, atomically with respect to the
    other iterations of a parallel map. `dynamic` says that the access may not happen, or happen to fewer elements.
    """

    container: str
    subset: Subset
    wcr: str = ""
    dynamic: bool = False

    @property
    def volume(self) -> Expr:
        """Largest number of elements that move."""
        return self.subset.volume

    def subs(self, values: Mapping[str, ExprLike]) -> Memlet:
        """The memlet with symbols of its subset replaced."""
        subset = self.subset.subs(values)
        return self if subset is self.subset else Memlet(self.container, subset, self.wcr, self.dynamic)

    def renamed(self, names: Mapping[str, str]) -> Memlet:
        """The memlet on the container of another name, if `names` has one."""
        return replace(self, container=names[self.container]) if self.container in names else self

    def __str__(self) -> str:
        text = f"{self.container}[{self.subset}]" if self.subset.dims else self.container
        options = [self.wcr] if self.wcr else []
        options += ["dynamic"] if self.dynamic else []
        return f"{text} ({', '.join(options)})" if options else text
