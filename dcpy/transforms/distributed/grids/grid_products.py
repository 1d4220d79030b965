"""Grid products: products of matrices in blocks that no rank needs whole rows or columns for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.communication import CommNode
from dcpy.ir.data import Array
from dcpy.ir.distribution import Blocked, Distribution, Section
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Node
from dcpy.ir.subsets import Subset
from dcpy.transforms.distributed.grids.strategies import runs_over_labels
from dcpy.transforms.distributed.resolved_placement import placed


@dataclass(frozen=True, slots=True)
class GridProduct:
    """``c[i, j] += a[i, k] * b[k, j]``, transposed or not, with i along one axis of a grid and j along another one.

    k is along the axis of j in a, and along that of i in b.
    """

    grid: str
    rows: int
    columns: int
    sections: Mapping[str, Section]  #: of "a", "b", "c"


def product_on_grid(node: Node, uses: Uses) -> GridProduct | None:
    """Return a product on a grid; None for other nodes, or where operands are not in the blocks that it needs."""
    letters = letters_of(node)
    if letters is None or not runs_over_labels(node):
        return None
    (i, j), k = letters["c"], (set(letters["a"]) - set(letters["c"])).pop()
    memlets = {"a": node.inputs["a"], "b": node.inputs["b"], "c": node.outputs["c"]}
    sections = {name: _section(memlet, uses) for name, memlet in memlets.items()}
    found = {name: section for name, section in sections.items() if section is not None}
    axes = {name: _axes(letters[name], section) for name, section in found.items()}
    if len(found) < len(sections) or len({uses.desc(memlet.container).dtype for memlet in memlets.values()}) > 1:
        return None
    (rows, columns), grids = (axes["c"][i], axes["c"][j]), {_placed(section).grid for section in found.values()}
    aligned = axes["a"][i] == rows and axes["b"][j] == columns and len(grids) == 1
    if not aligned or axes["a"][k].axis != columns.axis or axes["b"][k].axis != rows.axis:
        return None
    return GridProduct(grids.pop(), rows.axis, columns.axis, found)


def letters_of(node: Node) -> Mapping[str, tuple[str, ...]] | None:
    """The labels of a product of two matrices; None for anything else."""
    labels = node.index_labels() or {}
    first, second, result = (set(labels.get(name, ())) for name in "abc")
    is_product = len(first) == len(second) == len(result) == 2 and len(first & second) == 1 and first ^ second == result
    if node.combination != "add" or not is_product or labels["c"][0] not in first:
        return None
    return labels


def _section(memlet: Memlet, uses: Uses) -> Section | None:
    """A whole array that is in one block for each rank; None for others."""
    desc, where = uses.desc(memlet.container), placed(memlet.container, uses)
    if not isinstance(desc, Array) or not isinstance(where, Distribution) or where.rest or any(map(any, where.halo)):
        return None
    whole = memlet.subset == Subset.whole(desc.shape) and not memlet.wcr
    blocked = all(isinstance(axis, Blocked) for axis in where.axes)
    return Section(desc.shape, memlet.subset, where) if whole and blocked else None


def _axes(labels: tuple[str, ...], section: Section) -> dict[str, Blocked]:
    axes = (axis for axis in _placed(section).axes if isinstance(axis, Blocked))
    return dict(zip(labels, axes, strict=True))


def _placed(section: Section) -> Distribution:
    assert section.distribution is not None  # it is in blocks
    return section.distribution


def made_local(node: Node, found: GridProduct, memory: Mapping[str, Subset]) -> CommNode:
    """The product of the local form, of the parts in the memory of a rank, by the names of their containers."""
    inputs: dict[str, Memlet] = node.inputs  # type: ignore[attr-defined]  # it runs over labels
    outputs: dict[str, Memlet] = node.outputs  # type: ignore[attr-defined]

    def here(memlets: Mapping[str, Memlet]) -> dict[str, Memlet]:
        return {name: replace(m, subset=memory[m.container]) if name in "abc" else m for name, m in memlets.items()}

    fields = {name: getattr(node, name) for name in ("alpha", "beta", "trans_a", "trans_b") if hasattr(node, name)}
    made = LIBRARY_KINDS["pblas.gemm"](
        inputs=here(inputs), outputs=here(outputs), first=found.sections["a"], second=found.sections["b"],
        result=found.sections["c"], rows=found.rows, columns=found.columns, grid=found.grid, span=node.span, **fields,
    )  # type: ignore[call-arg]  # fmt: skip
    assert isinstance(made, CommNode)  # as its class says
    return made
