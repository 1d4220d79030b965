"""Expansions for any target: every node that can has one, and none of them knows a machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import dcpy.libraries
from dcpy.ir.library.expansions import EXPANSIONS, expansions_of
from dcpy.libraries import catalog
from dcpy.targets.cpu import CPU

LIBRARIES = Path(dcpy.libraries.__file__).parent
#: what only a library computes: iterations until they converge, and NumPy's own streams of numbers
FOREIGN_ONLY = {
    *(f"lapack.{name}" for name in ("svd", "eigh", "eig", "lstsq")),
    *(kind for kind in catalog.NODES if kind.startswith("random.")),
}
#: what writes schedules: expansions for CPUs alone, and the loops beside calls of C functions
FOR_CPUS = {"contraction/cpu.py", "blas/expand/cblas.py"}


def names_of(kind):
    return [one.name for one in expansions_of(kind)]


@pytest.mark.parametrize("kind", sorted(catalog.NODES))
def test_every_node_has_an_expansion_for_any_target(kind):
    neutral = [one.name for one in expansions_of(kind) if not one.targets]
    assert neutral == ([] if kind in FOREIGN_ONLY else ["specialize"] if kind == "blas.matmul" else ["maps"])
    for one in expansions_of(kind):
        assert (one.name == "cpu" or bool(one.environment)) == (one.targets == ("cpu",)), one.name


def test_the_target_names_all_that_it_takes_before():
    """What is for CPUs alone comes before what is for all."""
    order = CPU.expansions
    assert order.index("cpu") < order.index("maps")
    for name in catalog.EXPANSIONS:
        one = EXPANSIONS[name]
        assert one.name in order or one.kind in FOREIGN_ONLY or len(names_of(one.kind)) <= 2, name


def test_only_expansions_for_cpus_write_schedules():
    asking = re.compile(r"\b(VECTOR|PARALLEL|SEQUENTIAL|UNROLLED)\b|@(vector|sequential|parallel|unrolled)\b")
    found = {
        str(path.relative_to(LIBRARIES))
        for path in sorted(LIBRARIES.rglob("*.py"))
        if path.name != "programs.py" and asking.search(path.read_text())
    }
    assert found == FOR_CPUS


def test_fourier_transforms_have_schedules_in_the_style_of_cpus_alone():
    from dcpy.libraries.fft.expand import programs

    assert "@" not in programs.NEUTRAL.sequential + programs.NEUTRAL.vector
    text = (LIBRARIES / "fft" / "expand" / "programs.py").read_text()
    assert len(re.findall(r"@(vector|sequential|parallel)", text)) == 2  # of the style CPU
    assert programs.CPU.sequential == " @sequential"
