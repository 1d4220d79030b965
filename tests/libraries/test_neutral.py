"""Expansions for any target: every node that can has one, and none of them knows a machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dcpy.libraries
from dcpy.ir.library.expansions import expansions_of, preference
from dcpy.libraries import catalog
from dcpy.targets.catalog import ORDERS

LIBRARIES = Path(dcpy.libraries.__file__).parent
#: what only a library computes: iterations until they converge, NumPy's own streams of numbers, messages
FOREIGN_ONLY = {
    *(f"lapack.{name}" for name in ("svd", "eigh", "eig", "lstsq")),
    *(kind for kind in catalog.NODES if kind.startswith(("random.", "comm.")) and kind != "comm.distribute"),
}
#: what writes schedules: expansions for CPUs alone, those for GPUs alone, and the loops beside calls of C functions
FOR_ONE_TARGET = {
    "contraction/cpu.py",
    "contraction/register_tiling.py",
    "blas/expand/cblas.py",
    "blas/expand/cpu.py",
    "blas/expand/skinny_gemm.py",
    "blas/expand/fused_gemv_chain.py",
    "blas/expand/fused_gemv_pair_blocks.py",
    "blas/expand/block_partial_sums.py",
    "blas/expand/fused_gemv_pair_loops.py",
    "blas/passes/right_looking_updates.py",
    "blas/passes/gemv_producer_fusion.py",
    "reduce/expand/extrema_of_columns.py",
    "scan/expand/block_scans.py",
}


@pytest.mark.parametrize("kind", sorted(catalog.NODES))
def test_every_node_has_an_expansion_for_any_target(kind):
    neutral = [one.name for one in expansions_of(kind) if not one.targets]
    known = {"blas.matmul": ["specialize"], "pblas.gemm": ["summa"], "comm.distribute": ["copy"]}
    known |= {f"lapack.{name}": ["registers", "maps"] for name in ("solve", "inverse")}
    known |= {f"pblas.{name}": ["gathered"] for name in ("cholesky", "solve", "inverse", "slogdet")}
    assert neutral == ([] if kind in FOREIGN_ONLY else known.get(kind, ["maps"]))
    for one in expansions_of(kind):
        assert (one.name in ("cpu", "device", "systolic") or bool(one.environment)) == (len(one.targets) == 1), one.name


def test_expansions_are_found():
    assert {"maps", "cpu", "openblas"} <= {one.name for one in expansions_of("blas.gemm")}


@pytest.mark.parametrize("target", sorted(ORDERS))
def test_targets_name_what_they_take_before_what_is_for_all(target):
    """What nobody names comes last, in the order of the catalog: that must be the only one that is left."""
    order = preference(target)
    for kind in catalog.NODES:
        fitting = [one.name for one in expansions_of(kind) if not one.targets or target in one.targets]
        assert len([name for name in fitting if name not in order]) <= 1, kind
        assert "maps" not in fitting or "maps" in order, kind


def test_only_expansions_for_one_target_write_schedules():
    asking = re.compile(r"\b(VECTOR|PARALLEL|SEQUENTIAL|UNROLLED)\b|@(vector|sequential|parallel|unrolled)\b")
    found = {
        str(path.relative_to(LIBRARIES))
        for path in sorted(LIBRARIES.rglob("*.py"))
        if path.name != "mixed_radix_programs.py" and asking.search(path.read_text())
    }
    assert found == FOR_ONE_TARGET


def test_fourier_transforms_have_schedules_in_the_style_of_cpus_alone():
    from dcpy.libraries.fft.expand import mixed_radix_programs

    assert "@" not in mixed_radix_programs.NEUTRAL.sequential + mixed_radix_programs.NEUTRAL.vector
    text = (LIBRARIES / "fft" / "expand" / "mixed_radix_programs.py").read_text()
    assert len(re.findall(r"@(vector|sequential|parallel)", text)) == 2  # of the style CPU
    assert mixed_radix_programs.CPU.sequential == " @sequential"
