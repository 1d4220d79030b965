"""The general copy under MPI: random pairs of distributions, against what they mean element by element.

The C++ of `libraries.mpi` is compiled once, without a program around it, and called with the numbers of each pair.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dcpy.distributed import world
from dcpy.ir.communication import RankVisit
from dcpy.ir.data import Array
from dcpy.ir.distribution import Blocked, Cyclic, Distribution, Partial, ProcessGrid, Root, Section, coordinate_names
from dcpy.ir.interp.local_parts import part_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import const
from dcpy.libraries.api import Operand
from dcpy.libraries.mpi.distributed_copies import DistributedCopy, Exchange
from dcpy.libraries.mpi.environments import find_mpi
from dcpy.libraries.mpi.expand.distributed_copies import OPERATIONS, _numbers
from dcpy.runtime.compilers.toolchain import find_toolchain

pytestmark = pytest.mark.mpi
PAIRS = 150
ENTRY = """
extern "C" void move_parts(const double *from, double *to, const dcpy::int64_t *numbers, dcpy::int64_t count, int halo)
{
    if (!halo) {
        dcpy::Plan &plan = dcpy::plan_of(numbers, count, sizeof(double));
        return dcpy::run<double>(plan, reinterpret_cast<const char *>(from), reinterpret_cast<char *>(to));
    }
    dcpy::List<dcpy::Word> words;
    for (dcpy::int64_t number : {dcpy::int64_t(1), dcpy::int64_t(0), dcpy::int64_t(0), count})
        words.add(dcpy::word_of(number));
    words[1] = words[2] = dcpy::word_of(to);
    for (dcpy::int64_t k = 0; k < count; k++) words.add(dcpy::word_of(numbers[k]));
    dcpy::exchange_all(words.items, words.count);
    words.release();
}
"""


@cache
def library(few):
    """One rank compiles, all load. `few`: below so many ranks, there are messages only."""
    found = find_mpi()
    where = tempfile.mkdtemp() if world().rank == 0 else ""
    path = Path(world().tell(where)) / "copies.so"
    if world().rank == 0:
        source = path.with_suffix(".cpp")
        source.write_text(f"#define DCPY_FEW {few}\n{found.declarations}\n{ENTRY}")
        flags = [f"-I{each}" for each in found.include_dirs] + [f"-L{each}" for each in found.library_dirs]
        flags += [f"-Wl,-rpath,{each}" for each in found.library_dirs] + [f"-l{each}" for each in found.libraries]
        warnings = ("-Wall", "-Wextra", "-Werror", "-Wno-unused-function")
        command = [*find_toolchain("auto").command, "-std=c++17", "-O1", *warnings, "-shared", "-fPIC"]
        subprocess.run([*command, str(source), *flags, "-o", str(path)], check=True)
    world().tell("compiled")
    made = ctypes.CDLL(str(path))
    made.dcpy_ranks_attach(world().handle)
    return made


def moved(numbers, from_, to, *, halo=False, few=100):
    array = np.array([int(number.constant) for number in numbers], np.int64)
    pointer = ctypes.POINTER(ctypes.c_double)
    library(few).move_parts(
        from_.ctypes.data_as(pointer), to.ctypes.data_as(pointer),
        array.ctypes.data_as(ctypes.POINTER(ctypes.c_int64)), ctypes.c_int64(len(array)), int(halo),
    )  # fmt: skip


def symbols_of(grids, rank):
    found = {}
    for name, grid in grids.items():
        sizes = [size.constant for size in grid.sizes]
        inside = rank < np.prod(sizes)
        at = [int(c) for c in np.unravel_index(rank, sizes)] if inside else sizes
        found |= dict(zip(coordinate_names(name, len(sizes)), at, strict=True))
    return found


def draw_distribution(draw, grids, shape, *, partial=True):
    if draw.random() < 0.15:
        return None
    name = draw.choice(sorted(grids))
    sizes = [size.constant for size in grids[name].sizes]
    free = list(range(len(sizes)))
    draw.shuffle(free)
    axes, halo = [], []
    for size in shape:
        axis = int(free.pop()) if free and draw.random() < 0.75 else None
        offset = int(draw.integers(0, 3))
        cyclic = axis is not None and draw.random() < 0.3
        least = 1 if axis is None or cyclic else max(1, -(-(size + offset) // sizes[axis]))
        block = const(int(least + draw.integers(0, 2)))
        kind = Cyclic if cyclic else Blocked
        axes.append(None if axis is None else kind(axis, block, const(offset)))
        halo.append((0, 0) if axis is None or cyclic else tuple(int(n) for n in draw.integers(0, 4, 2)))
    rest = []
    for axis in map(int, free):
        chance = draw.random()
        if chance < 0.25:
            rest.append(Root(axis, const(int(draw.integers(0, sizes[axis])))))
        elif chance < 0.5 and partial:
            rest.append(Partial(axis, "add"))
    return Distribution(name, tuple(axes), tuple(rest), tuple(halo) if draw.random() < 0.5 else ())


def draw_grids(draw, ranks):
    found = {}
    for name in ("g", "h"):
        rows = int(draw.integers(1, ranks + 1))
        found[name] = ProcessGrid.of(rows, int(draw.integers(1, ranks // rows + 1)))
    return found


def draw_section(draw, shape, extent, placed):
    dims = []
    for size, count in zip(shape, extent, strict=True):
        steps = [step for step in (1, 2) if count == 0 or (count - 1) * step < size]
        step = int(draw.choice(steps))
        last = (max(count, 1) - 1) * step
        start = int(draw.integers(0, max(size - last, 1)))
        dims.append(Range(const(start), const(start + count * step if count else start), const(step)))
    return Section(tuple(map(const, shape)), Subset(tuple(dims)), placed)


def operand(shape):
    desc = Array.packed(np_float64(), shape)
    return Operand(Memlet("x", Subset.whole(desc.shape)), desc)


def np_float64():
    from dcpy.ir.types import float64

    return float64


def parts(draw, section, grids, ranks):
    """For each rank its part, with the same values where ranks have copies of one element."""
    shape = tuple(size.constant for size in section.shape)
    whole = draw.integers(0, 100, shape).astype(float)
    found = []
    for rank in range(ranks):
        part = part_of(section.distribution, shape, grids, symbols_of(grids, rank))
        mine = np.full(part.shape, -1.0)
        if part.here:
            there = np.ix_(*(each.local.astype(int) for each in part.own))
            mine[there] = whole[np.ix_(*(each.whole for each in part.own))]
        found.append(mine)
    return found


def visits_of(grids, given, names, ranks):
    made = []
    for rank in range(ranks):
        inputs = {names[0]: given[0][rank]}
        made.append(RankVisit(grids, symbols_of(grids, rank), inputs, {names[1]: given[1][rank]}, rank))
    return made


@pytest.mark.parametrize("few", [100, 1])
def test_random_copies(few):
    """By messages, and by collectives where all ranks get all."""
    ranks, draw = world().size, np.random.default_rng(world().size)
    for number in range(PAIRS):
        grids, dims = draw_grids(draw, ranks), int(draw.integers(1, 4))
        extent = [int(n) for n in draw.integers(0, 7, dims)]
        shapes = [[size + int(more) for size, more in zip(extent, draw.integers(1, 9, dims))] for _ in range(2)]
        placed = [draw_distribution(draw, grids, shape, partial=k == 0) for k, shape in enumerate(shapes)]
        source, target = (draw_section(draw, shape, extent, at) for shape, at in zip(shapes, placed))
        wcr = str(draw.choice(["add", "max", "min"])) if draw.random() < 0.3 else ""
        given = [parts(draw, source, grids, ranks), parts(draw, target, grids, ranks)]
        mine = [given[0][world().rank].copy(), given[1][world().rank].copy()]
        node = DistributedCopy(
            inputs={"src": Memlet("a", Subset(()))}, outputs={"dst": Memlet("b", Subset(()))}, source=source,
            target=target, wcr=wcr,
        )  # fmt: skip
        node.meaning_of_all(visits_of(grids, given, ("src", "dst"), ranks))
        told = _numbers(source, target, operand(mine[0].shape), operand(mine[1].shape), grids)
        moved([const(OPERATIONS[wcr]), *told], *mine, few=few)
        np.testing.assert_array_equal(mine[1], given[1][world().rank], err_msg=f"{number}: {source} -> {target} {wcr}")
    numbers = (ctypes.c_int64 * 3)()
    library(few).dcpy_ranks_sent(numbers)
    assert (numbers[2] > 0) == (few == 1 or ranks >= 100)  # collectives


def test_random_halos():
    ranks, draw = world().size, np.random.default_rng(world().size)
    for number in range(PAIRS // 3):
        grids = draw_grids(draw, ranks)
        shape = [int(n) for n in draw.integers(1, 12, 2)]
        placed = draw_distribution(draw, grids, shape, partial=False)
        if placed is None:
            continue
        section = Section(tuple(map(const, shape)), Subset.whole(tuple(map(const, shape))), placed)
        given = parts(draw, section, grids, ranks)
        mine = given[world().rank].copy()
        nothing = Memlet("a", Subset(()))
        node = Exchange(inputs={"x0": nothing}, outputs={"out0": nothing}, sections=(section,))
        node.meaning_of_all(visits_of(grids, [given, given], ("x0", "out0"), ranks))
        one = operand(mine.shape)
        moved([const(0), *_numbers(section, section, one, one, grids)], mine, mine, halo=True)
        np.testing.assert_array_equal(mine, given[world().rank], err_msg=f"{number}: {section}")
