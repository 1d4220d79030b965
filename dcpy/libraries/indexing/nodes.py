"""The library nodes of indexing with masks and index arrays. How they are computed is in `libraries.indexing.expand`.

How many elements a mask selects is known at run time only: the code that makes a node counts first (a `Reduce` of the
mask), and the count is a size of the memlets. What a node writes to in place is an input, too, of the same name and
memlet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.ir.effects import Effect
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.symbolic import Expr, Ranges

Arrays = Mapping[str, np.ndarray[Any, Any]]
Shape = tuple[Expr, ...]


# -- masks -------------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Nonzero(LibraryNode):
    """``out0, out1, … = np.nonzero(mask)``: the positions where a mask holds, in C order, one array per dimension."""

    kind = "indexing.nonzero"

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """NumPy's own search."""
        for axis, found in enumerate(np.nonzero(inputs["mask"])):
            outputs[f"out{axis}"][...] = _alike(found, outputs[f"out{axis}"])

    def problems(self) -> Iterator[str]:
        """Other connectors, or as many outputs as the mask has dimensions."""
        if set(self.inputs) != {"mask"}:
            yield "has one input, mask"
            return
        rank = len(self.inputs["mask"].subset.shape)
        if not rank or set(self.outputs) != {f"out{axis}" for axis in range(rank)}:
            yield f"has one output for each of the {rank} dimensions of the mask: out0, out1, …"
        elif any(len(memlet.subset.shape) != 1 for memlet in self.outputs.values()):
            yield "gives arrays of one dimension"


@dataclass(eq=False)
class Compress(LibraryNode):
    """``out0 = x0[mask]``, ``out1 = x1[mask]``, …: the elements where a mask holds, in C order (Fortran's PACK).

    The mask has the sizes of the dimensions of each operand from `axis` on; the outputs have one dimension instead.
    """

    kind = "indexing.compress"
    axis: int = 0

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """NumPy's own selection, operand by operand."""
        for name, out in outputs.items():
            out[...] = _alike(inputs[f"x{name[3:]}"][_behind(self.axis, inputs["mask"])], out)

    def problems(self) -> Iterator[str]:
        """Other connectors, or operands that the mask does not fit."""
        count = len(self.outputs)
        if not count or set(self.outputs) != {f"out{k}" for k in range(count)}:
            yield "has the outputs out0, out1, …"
        elif set(self.inputs) != {"mask", *(f"x{k}" for k in range(count))}:
            yield "has the inputs mask, x0, x1, …, one for each output"
        else:
            mask = self.inputs["mask"].subset.shape
            for k in range(count):
                whole, packed = self.inputs[f"x{k}"].subset.shape, self.outputs[f"out{k}"].subset.shape
                yield from _why_unfit(mask, whole, packed, self.axis, (f"x{k}", f"out{k}"))


@dataclass(eq=False)
class MaskedStore(LibraryNode):
    """``out[mask] = values``: packed elements go, in C order, to where a mask holds (Fortran's UNPACK).

    All else of ``out`` stays. The mask has the sizes of the dimensions of ``out`` from `axis` on; ``values`` has one
    dimension instead, and another dtype perhaps.
    """

    kind = "indexing.masked_store"
    axis: int = 0

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """NumPy's own assignment."""
        out, place = outputs["out"], _behind(self.axis, inputs["mask"])
        out[...] = inputs["out"]
        with np.errstate(all="ignore"):
            out[place] = _alike(inputs["values"].astype(out.dtype), out[place])

    def problems(self) -> Iterator[str]:
        """Other connectors, operands that the mask does not fit, or an output that is not written in place."""
        if set(self.inputs) != {"out", "mask", "values"} or set(self.outputs) != {"out"}:
            yield "has the connectors (out, mask, values) -> (out)"
            return
        yield from _why_not_in_place(self)
        mask, values = self.inputs["mask"].subset.shape, self.inputs["values"].subset.shape
        yield from _why_unfit(mask, self.outputs["out"].subset.shape, values, self.axis, ("out", "values"))


def _behind(axis: int, mask: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    return (*[slice(None)] * axis, mask)


def _why_unfit(mask: Shape, whole: Shape, packed: Shape, axis: int, names: tuple[str, str]) -> Iterator[str]:
    if not mask:
        yield "the mask has no dimensions"
    elif axis < 0 or len(whole) < axis + len(mask) or len(packed) != len(whole) - len(mask) + 1:
        yield f"a mask of {len(mask)} dimensions does not select {names[1]} from dimension {axis} of {names[0]}"
    else:
        pairs = zip((*whole[:axis], *whole[axis + len(mask) :]), (*packed[:axis], *packed[axis + 1 :]), strict=True)
        if any(Ranges().proves_ne(size, other) for size, other in pairs):
            yield f"{names[0]} and {names[1]} differ beside what the mask selects"


# -- index arrays ------------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Indexed(LibraryNode):
    """Dimensions `axes` of an array are indexed by ``i0``, ``i1``, …, integer arrays of one shape.

    The array is then seen with the dimensions of that shape at `first`, among its other dimensions in order. Indices
    count from the end where they are negative. One that is out of range is an `IndexError`, before anything is
    written, which counts the axes as in `shown`; those in `proved` (numbers of index arrays) are in range, and nobody
    looks if they are not `checked`.
    """

    axes: tuple[int, ...] = ()
    first: int = 0
    shown: tuple[int, ...] = ()
    proved: tuple[int, ...] = ()
    checked: bool = True

    @property
    def effects(self) -> Effect:  # type: ignore[override]  # nodes differ in it
        """An index may be out of range."""
        return Effect.MAY_RAISE if self.looks_at else Effect.NOTHING

    @property
    def looks_at(self) -> tuple[int, ...]:
        """Numbers of the index arrays that are checked."""
        return tuple(k for k in range(len(self.axes)) if k not in self.proved) if self.checked else ()

    def key(self, shape: tuple[int, ...], inputs: Arrays) -> tuple[Any, ...]:
        """Return the index for an array of this shape, whose indexed dimensions come first; `IndexError`."""
        indices = [inputs[f"i{k}"].astype(np.int64) for k in range(len(self.axes))]
        for k in self.looks_at:
            size = shape[k]
            bad = indices[k][(indices[k] < -size) | (indices[k] >= size)]
            if bad.size:
                raise IndexError(f"index {bad[0]} is out of bounds for axis {self.shown[k]} with size {size}")
        return tuple(indices)

    def why_not_indexed(self, x: Shape, found: Shape) -> Iterator[str]:
        """Yield errors in the fields, for an array and for the selected part of it."""
        axes, rank = self.axes, len(found) - len(x) + len(self.axes)
        if not axes:
            yield "needs at least one index array"
        elif len(set(axes)) != len(axes) or any(not 0 <= axis < len(x) for axis in axes):
            yield f"axes {axes} do not fit an array of {len(x)} dimensions"
        elif len(self.shown) != len(axes):
            yield f"{len(axes)} axes are shown as {self.shown}"
        elif rank < 1 or not 0 <= self.first <= len(x) - len(axes):
            yield f"{rank} dimensions of indices do not stand at {self.first}"
        elif any(len(self.inputs[f"i{k}"].subset.shape) != rank for k in range(len(axes))):
            yield f"index arrays have {rank} dimensions here"
        if any(not 0 <= k < len(axes) for k in self.proved):
            yield f"there are {len(axes)} index arrays: {self.proved} are not among them"

    def names(self) -> set[str]:
        """The connectors of the index arrays."""
        return {f"i{k}" for k in range(len(self.axes))}


@dataclass(eq=False)
class Gather(Indexed):
    """``out = x[:, i0, i1]``: a new array."""

    kind = "indexing.gather"

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """NumPy's own indexing, of the array with its indexed dimensions first."""
        out, x, rank = outputs["out"], _axes_first(inputs["x"], self.axes), inputs["i0"].ndim
        found = x[self.key(x.shape, inputs)]
        out[...] = _alike(np.moveaxis(found, range(rank), range(self.first, self.first + rank)), out)

    def problems(self) -> Iterator[str]:
        """Other connectors, or fields that do not fit the operands."""
        if set(self.inputs) != {"x", *self.names()} or set(self.outputs) != {"out"}:
            yield "has the connectors (x, i0, i1, …) -> (out), one index array for each of axes"
            return
        yield from self.why_not_indexed(self.inputs["x"].subset.shape, self.outputs["out"].subset.shape)


@dataclass(eq=False)
class Scatter(Indexed):
    """``out[:, i0, i1] = values``: in C order of the indices, so that the last one counts where one comes twice.

    ``values`` has the shape of what is selected, or is one number. With `op` values are combined with what is there,
    once for each time that an index comes (``np.add.at``). `distinct`: no place is named twice, any order will do.
    """

    kind = "indexing.scatter"
    op: str = ""
    distinct: bool = False

    def meaning(self, inputs: Arrays, outputs: Arrays) -> None:
        """NumPy's own assignment, to the array with its indexed dimensions first."""
        out, values = outputs["out"], inputs["values"]
        out[...] = inputs["out"]
        target, rank = _axes_first(out, self.axes), inputs["i0"].ndim
        key = self.key(target.shape, inputs)
        if values.ndim:
            values = np.moveaxis(values, range(self.first, self.first + rank), range(rank))
        with np.errstate(all="ignore"):
            if self.op:
                _AT[self.op].at(target, key, values.astype(out.dtype))
            else:
                target[key] = values.astype(out.dtype)

    def problems(self) -> Iterator[str]:
        """Other connectors, fields that do not fit the operands, or an output that is not written in place."""
        if set(self.inputs) != {"out", "values", *self.names()} or set(self.outputs) != {"out"}:
            yield "has the connectors (out, values, i0, i1, …) -> (out), one index array for each of axes"
            return
        if self.op and self.op not in _AT:
            yield f"combines with {self.op!r}, which is none of {', '.join(_AT)}"
        yield from _why_not_in_place(self)
        out, values = self.outputs["out"].subset.shape, self.inputs["values"].subset.shape
        if values:
            yield from self.why_not_indexed(out, values)


_AT = {"add": np.add, "mul": np.multiply, "min": np.minimum, "max": np.maximum}


def _axes_first(x: np.ndarray[Any, Any], axes: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return np.moveaxis(x, axes, range(len(axes)))


def _alike(found: np.ndarray[Any, Any], out: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return `found` if it has the shape of `out`: a wrong count is not broadcast."""
    if found.shape != out.shape:
        raise ValueError(f"an array of shape {found.shape} was selected, where one of shape {out.shape} is expected")
    return found


def _why_not_in_place(node: LibraryNode) -> Iterator[str]:
    if node.inputs["out"] != node.outputs["out"]:
        yield "changes some elements of an array: input and output out are the same memlet"
