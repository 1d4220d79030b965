"""Interface for writing a library: declare nodes, expansions and foreign libraries, and register them.

A library is a vertical slice: nodes with their meaning (`LibraryNode`), expansions (`@expands`), foreign libraries that
these call (`ForeignLibrary`), and NumPy-side names (`dcpy.frontend.implements`). dcpy's own are listed in
`dcpy.libraries.catalog`; yours come in through `register`, or through the entry point group ``dcpy.plugins``.
examples/user_library is one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from dcpy.base.errors import ExpansionError
from dcpy.base.library_environment import Environment
from dcpy.base.prototypes import prototype
from dcpy.ir.library.expansions import ENVIRONMENTS, EXPANSIONS, Expansion, ForeignLibrary, Replacement
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.machine_model import COSTS, Costs
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.types import DType
from dcpy.libraries.fragment import Element, Fragment, Operand

__all__ = [
    "Element",
    "Environment",
    "Expansion",
    "ForeignLibrary",
    "Fragment",
    "Operand",
    "expands",
    "prototype",
    "register",
]

AnyNode = TypeVar("AnyNode", bound=LibraryNode)


def expands(
    node: type[AnyNode],
    name: str,
    *,
    environment: str = "",
    dtypes: Sequence[DType] = (),
    on: Sequence[str] | None = None,
    fuses: bool = True,
    why_slow: Callable[[AnyNode], str] = lambda node: "",
) -> Callable[[Callable[[AnyNode, Fragment], None]], Expansion]:
    """Declare the decorated function as the expansion `name` of a kind of node.

    The function writes into the `Fragment`, or declines with ``f.decline(reason)``. `environment` names the foreign
    library it calls, `dtypes` those that all operands must have one of (the same one), `on` the targets: without it
    all, or the CPU for a foreign library. Where loops are around its maps, `fuses` is False, and nobody builds it to
    see whether they can be fused. `why_slow` says for which nodes another expansion is quicker. The result is an
    `Expansion`: list it in a catalog or hand it to `register`.
    """

    def declare(write: Callable[[AnyNode, Fragment], None]) -> Expansion:
        def build(found: Any, costs: Costs = COSTS) -> Replacement:
            fragment = Fragment(found, costs)
            _check_dtypes(found, fragment, dtypes)
            write(found, fragment)
            return fragment.replacement()

        targets = (("cpu",) if environment else ()) if on is None else tuple(on)
        return Expansion(node.kind, name, build, environment, tuple(dtypes), targets, fuses, why_slow)

    return declare


def register(
    *,
    nodes: Iterable[type[LibraryNode]] = (),
    expansions: Iterable[Expansion] = (),
    libraries: Iterable[ForeignLibrary] = (),
) -> None:
    """Make a library known in this process. `DcpyError` where a name is taken by something else."""
    for node in nodes:
        LIBRARY_KINDS.add(node.kind, node)
    for expansion in expansions:
        EXPANSIONS.add(f"{expansion.kind}/{expansion.name}", expansion)
    for library in libraries:
        ENVIRONMENTS.add(library.name, library)


def _check_dtypes(node: LibraryNode, fragment: Fragment, allowed: Sequence[DType]) -> None:
    """All operands have one dtype, which is one of `allowed`; scalar inputs are converted and may have others."""
    if not allowed:
        return
    operands = [fragment._operand(memlet) for memlet in (*node.reads(), *node.writes()) if memlet.subset.shape]
    operands += [fragment._operand(memlet) for memlet in node.writes()]
    dtypes = list(dict.fromkeys(operand.dtype for operand in operands))
    if len(dtypes) != 1:
        raise ExpansionError(f"takes one dtype for all operands, not {', '.join(map(str, dtypes))}")
    if dtypes[0] not in allowed:
        raise ExpansionError(f"takes {', '.join(map(str, allowed))}, not {dtypes[0]}")
