"""Container handles: what the `SdfgBuilder` gives for a name, and how subsets are written with Python's brackets."""

from __future__ import annotations

from dataclasses import dataclass

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.data import Data
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import Expr, ExprLike, as_expr
from dcpy.ir.types import DType

Subscript = ExprLike | slice


@dataclass(frozen=True, slots=True)
class Container:
    """A declared container. ``x[i, 1:N]`` is a memlet; dimensions left out are whole."""

    name: str
    desc: Data

    @property
    def dtype(self) -> DType:
        """The type of its elements."""
        return self.desc.dtype

    @property
    def shape(self) -> tuple[Expr, ...]:
        """The sizes of its dimensions."""
        return self.desc.shape

    @property
    def whole(self) -> Memlet:
        """All its elements."""
        return Memlet(self.name, Subset.whole(self.shape))

    def __getitem__(self, subscripts: Subscript | tuple[Subscript, ...]) -> Memlet:
        given = subscripts if isinstance(subscripts, tuple) else (subscripts,)
        if len(given) > len(self.shape):
            raise InvalidSdfg(f"{self.name!r} has {len(self.shape)} dimensions, not {len(given)}")
        dims = [self._dim(subscript, size) for subscript, size in zip(given, self.shape, strict=False)]
        return Memlet(self.name, Subset((*dims, *Subset.whole(self.shape[len(dims) :]).dims)))

    def _dim(self, subscript: Subscript, size: Expr) -> DimSubset:
        if not isinstance(subscript, slice):
            return self._index(subscript)
        start = self._index(0 if subscript.start is None else subscript.start)
        stop = size if subscript.stop is None else self._index(subscript.stop)
        return Range.of(start, stop, 1 if subscript.step is None else subscript.step)

    def _index(self, value: ExprLike) -> Expr:
        index = as_expr(value)
        if index.constant is not None and index.constant < 0:
            raise InvalidSdfg(
                f"{self.name}[{index}] counts from the end, which a memlet never does",
                help=f"write the size minus {-index.constant}",
            )
        return index


@dataclass(frozen=True, slots=True)
class Out:
    """Marks a memlet as written: ``o=Out(y[i])``, ``o=Out(total, wcr="add")``."""

    place: Memlet | Container
    wcr: str = ""
    dynamic: bool = False

    @property
    def memlet(self) -> Memlet:
        """The memlet, with its conflict resolution."""
        memlet = as_memlet(self.place)
        return Memlet(memlet.container, memlet.subset, self.wcr or memlet.wcr, self.dynamic or memlet.dynamic)


def as_memlet(place: Memlet | Container) -> Memlet:
    """A memlet itself, or all of a container."""
    return place.whole if isinstance(place, Container) else place
