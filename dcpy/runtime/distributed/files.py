"""Files of distributed arrays: one ``.npy`` of the whole, of which each rank writes and reads its part. MPI-IO.

What is written is NumPy's format (NEP 1), in C order: ``np.load`` reads it, and files of ``np.save`` are read here.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError, DcpyError, GridError
from dcpy.runtime.distributed.agreement import agree
from dcpy.runtime.distributed.array_placement import Indices, Placement
from dcpy.runtime.distributed.world import World

NDArray = np.ndarray[Any, Any]
SEEN_BY_ALL = "all ranks need to see the same file: on several nodes, name one in a file system that they share"


def write(path: str | os.PathLike[str], local: NDArray, shape: Sequence[int], where: Placement) -> None:
    """Write an array of which each rank has a part. Collective.

    The file appears when it is whole: it is written beside its place, and moved there. Of ranks that have the same
    elements the first one writes them. Where a rank cannot write, all raise.
    """
    world, target = where.grid.world, Path(path)
    header = _header(local.dtype, shape)
    name = world.tell(f".{target.name}.{os.getpid()}")
    draft = target.with_name(str(name))
    try:
        _together(world, lambda: draft.write_bytes(header) if world.rank == 0 else None)
        if world.comm is None:
            _together(world, lambda: _append(draft, local))
        else:
            _write_parts(world, draft, len(header), local, shape, where)
        _together(world, lambda: draft.replace(target) if world.rank == 0 else None)
    finally:
        if world.rank == 0:
            draft.unlink(missing_ok=True)


def read(path: str | os.PathLike[str], where: Placement) -> tuple[NDArray, tuple[int, ...]]:
    """The part of this rank of the array in a file, and the shape of the whole. Collective.

    The file is mapped into memory: a rank reads the pages on which its elements are.
    """
    world = where.grid.world
    opened: NDArray | None = None
    failed: BaseException | None = None
    try:
        opened = _opened(path, where)
    except (DcpyError, OSError, ValueError) as error:
        failed = _with_path(error, path)
    said = {} if opened is None else {"the shape in the file": str(opened.shape), "its dtype": str(opened.dtype.descr)}
    agree(world, said, failed)
    assert opened is not None  # it did not fail
    return np.array(opened[_section(where.indices(opened.shape, world.rank))], order="C"), opened.shape


def _opened(path: str | os.PathLike[str], where: Placement) -> NDArray:
    found = np.load(path, mmap_mode="r", allow_pickle=False)
    if not isinstance(found, np.ndarray):
        found.close()
        raise ArgumentError(f"{path} is no file of one array", help="write it by np.save, or d.save")
    if found.ndim != len(where.axes):
        raise GridError(f"the array in {path} has {found.ndim} dimensions, and the distribution is {where}")
    return found


def _header(dtype: np.dtype[Any], shape: Sequence[int]) -> bytes:
    said = {"descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": tuple(shape)}
    text = io.BytesIO()
    np.lib.format.write_array_header_1_0(text, said)
    return text.getvalue()


def _append(path: Path, local: NDArray) -> None:
    with path.open("ab") as file:
        file.write(local.tobytes())


def _write_parts(
    world: World, path: Path, begin: int, local: NDArray, shape: Sequence[int], where: Placement
) -> None:
    from mpi4py import MPI

    opened: list[Any] = []
    _together(world, lambda: opened.append(MPI.File.Open(MPI.COMM_SELF, str(path), MPI.MODE_RDWR)))
    opened.pop().Close()  # it is there for all: otherwise some would make a file of their own
    file = MPI.File.Open(world.comm, str(path), MPI.MODE_RDWR)
    mine = local.size if where.first_owner(world.rank) else 0
    element = MPI.BYTE.Create_contiguous(local.itemsize).Commit()
    row = element.Create_contiguous(local.size // len(local) if local.ndim and local.size else 1).Commit()
    places = _places(where.indices(shape, world.rank), shape, element) if mine else element.Dup()
    places.Commit()
    try:
        file.Set_view(begin, element, places)
        rows = (len(local) if local.ndim else 1) if mine else 0  # rows are counted: elements may be more than 2**31
        _together(world, lambda: file.Write_all([local.reshape(-1).view(np.uint8), rows, row]))
    finally:
        file.Close()
        for made in (element, row, places):
            made.Free()


def _places(indices: Sequence[Indices], shape: Sequence[int], element: Any) -> Any:
    """The datatype of a product of positions in an array of that shape in C order."""
    made, stride = element.Dup(), int(element.Get_size())
    for own, size in zip(reversed(indices), reversed(shape), strict=True):
        inner, first = made, int(own[0]) * stride
        if _is_range(own):
            run = inner.Create_hvector(len(own), 1, stride)
            made = run.Create_hindexed_block(1, [first])
            run.Free()
        else:
            made = inner.Create_hindexed_block(1, [int(at) * stride for at in own])
        inner.Free()
        stride *= size
    return made


def _section(indices: Sequence[Indices]) -> tuple[Any, ...]:
    """Positions along each dimension as an index: of slices, where there are no gaps."""
    if all(map(_is_range, indices)):
        return tuple(slice(int(own[0]), int(own[-1]) + 1) if len(own) else slice(0, 0) for own in indices)
    return np.ix_(*indices)


def _is_range(own: Indices) -> bool:
    return len(own) == 0 or int(own[-1]) - int(own[0]) + 1 == len(own)


def _together(world: World, work: Callable[[], object]) -> None:
    """Do it on all ranks; where one fails, all raise."""
    failed: BaseException | None = None
    try:
        work()
    except Exception as error:
        failed = error if isinstance(error, OSError | DcpyError) else OSError(f"MPI cannot write: {error}")
    agree(world, {}, failed)


def _with_path(error: BaseException, path: str | os.PathLike[str]) -> BaseException:
    """The error of a file that a rank cannot read."""
    if isinstance(error, FileNotFoundError):
        return ArgumentError(f"there is no file {path}", help=SEEN_BY_ALL)
    return error if isinstance(error, DcpyError) else ArgumentError(f"{path} cannot be read: {error}", help=SEEN_BY_ALL)
