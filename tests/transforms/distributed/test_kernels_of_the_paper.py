"""The 11 kernels of the paper on grids of virtual ranks: equal to one rank, and as many messages as the formulas say.

Matrices are in blocks on both axes, vectors of linear algebra are replicated, as arguments are that nobody dealt out.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace

import pytest

from dcpy.ir.communication import CommNode
from dcpy.ir.editing.copying import copy_sdfg
from dcpy.ir.text.distribution_parser import parse_distribution
from dcpy.transforms.distributed.pipeline import TEMPORARIES, distribute
from dcpy.transforms.pass_manager import run_pipeline
from tests.support.kernels_of_the_paper import SHAPES, annotated, arguments_for
from tests.support.ranks import check, localized

GRIDS = ((2, 2), (3, 1), (7, 1))
STEPS = 2  # of the stencils, in two half-steps each
PLANS = {
    "doitgen": {"A": "g(block 0, whole, whole)"},
    "jacobi_1d": {"A": "g(block 0)", "B": "g(block 0)"},
}


@functools.cache
def made(name):
    """The kernel, its distributed form, and its local form."""
    sdfg = annotated(name).to_sdfg().simplify().auto_optimize()
    whole = copy_sdfg(sdfg)
    whole.add_grid("g", "Px", "Py")
    blocks = {array: "g(block 0, block 1)" for array, shape in SHAPES[name].items() if len(shape) == 2}
    for array, where in PLANS.get(name, blocks).items():
        whole.redeclare(array, replace(whole.desc(array), distribution=parse_distribution(where)))
    run_pipeline(whole, TEMPORARIES, check=True)
    run_pipeline(whole, distribute(steps=-1), check=True)
    return sdfg, whole, localized(whole)


def blocks(n, ranks):
    """How many blocks of a balanced distribution have elements."""
    return -(-n // -(-n // ranks)) if n else 0


def gathers(*of: tuple[str, int]) -> Callable[..., int]:
    """Vectors in blocks along an axis, each sent to all ranks along it by those that have the same block."""

    def count(grid, sizes):
        ranks = grid[0] * grid[1]
        return sum(ranks // grid[axis] * blocks(sizes[n], grid[axis]) * (grid[axis] - 1) for n, axis in of)

    return count


def neighbours(dims: int) -> Callable[..., int]:
    """Two half-steps each, in which blocks get the faces of their neighbours. Along other axes there are copies."""

    def count(grid, sizes):
        cells = [blocks(sizes["N"], ranks) for ranks in grid[:dims]]
        faces = (cells[0] - 1) * cells[1] + cells[0] * (cells[1] - 1) if dims == 2 else (cells[0] - 1) * grid[1]
        return 2 * STEPS * 2 * faces

    return count


#: kernel -> messages; that of collectives, broadcasts of SUMMA among them, are MPI's own
MESSAGES: dict[str, Callable[..., int]] = {
    "atax": gathers(("N", 1)),
    "bicg": gathers(("N", 0), ("M", 1)),
    "doitgen": gathers(),
    "gemm": gathers(),
    "gemver": gathers(("N", 0), ("N", 1)),
    "gesummv": gathers(("N", 0), ("N", 0)),
    "jacobi_1d": neighbours(1),
    "jacobi_2d": neighbours(2),
    "k2mm": gathers(),
    "k3mm": gathers(),
    "mvt": gathers(("N", 0), ("N", 1)),
}
#: kernel -> the nodes that communicate, copies apart
NODES = {
    "atax": ["comm.allreduce"] * 2, "bicg": ["comm.allreduce"] * 2, "gemver": ["comm.allreduce"] * 2,
    "gesummv": ["comm.allreduce"] * 2, "mvt": ["comm.allreduce"] * 2,
    "jacobi_1d": ["comm.exchange"] * 2, "jacobi_2d": ["comm.exchange"] * 2,
    "gemm": ["pblas.gemm"], "k2mm": ["pblas.gemm"] * 2, "k3mm": ["pblas.gemm"] * 3,
}  # fmt: skip


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("grid", GRIDS)
def test_they_equal_one_rank(name, grid):
    sdfg, whole, local = made(name)
    ranks = grid[0] * grid[1]
    large = 101 if not name.startswith(("jacobi", "gemver")) else 29  # what runs element by element takes time
    for n in (large, 7, 2, 0):
        sizes = {"N": n, "M": max(n - 2, 0), "K": 5, "L": 4, "T": 3}
        if n < 2 and name.startswith("jacobi"):
            continue
        symbols = {key: size for key, size in sizes.items() if key in sdfg.symbols}
        symbols |= {"Px": grid[0], "Py": grid[1]}
        traffic = check(
            sdfg, whole, arguments_for(name, sizes), symbols, ranks, local=local, exact=name.startswith("jacobi")
        )
        if n > 2 or not name.startswith("jacobi"):  # halos of empty blocks are filled, too
            assert traffic.messages == MESSAGES[name](grid, sizes)
        if name == "doitgen":
            assert traffic.collectives == 0


@pytest.mark.parametrize("name", SHAPES)
def test_what_they_send_with(name):
    kinds = [node.kind for node in made(name)[2].body.walk_nodes() if isinstance(node, CommNode)]
    assert [kind for kind in kinds if kind != "comm.copy"] == NODES.get(name, [])
