"""Scalar replacement: an array element that all iterations of a loop access is kept in a register."""

from __future__ import annotations

from dataclasses import replace

from dcpy.ir.analysis.accesses.access_relations import accesses_of_body
from dcpy.ir.analysis.accesses.memory_access import MemoryAccess, Mode
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter
from dcpy.ir.expressions.scalar import Load, Ref, ScalarExpr, rewrite
from dcpy.ir.field_roles import Role
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Map, Node, Tasklet
from dcpy.ir.region import Loop, State
from dcpy.ir.subsets import Subset
from dcpy.ir.symbolic import Expr
from dcpy.ir.tree import Element, is_inside, subtree


def carry_in_registers(loop: Loop, kernel: Map, rw: Rewriter) -> None:
    """Load the element that a loop in a map (a kernel) accesses before the loop, and store it after the loop.

    before   loop t = 0:T { A[i] = f(A[i]) }        after   own = A[i];  loop t = 0:T { own = f(own) };  A[i] = own

    Applies where all accesses to a container in the loop are to one element, whose index is proved to be in range,
    and the first access is a read: then the loop needs the value, or leaves the element unchanged.
    """
    found: dict[str, list[MemoryAccess]] = {}
    for access in accesses_of_body(loop, rw.uses):
        if not is_inside(rw.uses.home(access.root), kernel):
            found.setdefault(access.memory, []).append(access)
    defined = frozenset(name for element in subtree(loop) for name in element.all_of(Role.DEFINED))
    for accesses in found.values():
        subset = _one_element(accesses, defined)
        if subset is not None and _is_there(accesses[0].root, subset, loop, rw):
            _carry(accesses, subset, loop, rw)


def _one_element(accesses: list[MemoryAccess], defined: frozenset[str]) -> Subset | None:
    """The one element that all of these accesses touch, if the first of them reads it; else None."""
    first = min(accesses, key=lambda access: access.position)
    subset = first.subset
    if subset is None or first.mode is Mode.WRITE or not any(access.is_write for access in accesses):
        return None
    if any(access.subset != subset or access.container != first.root for access in accesses):
        return None
    points = all(isinstance(dim, Expr) for dim in subset.dims)
    return subset if points and defined.isdisjoint(subset.symbols) else None


def _is_there(name: str, subset: Subset, loop: Loop, rw: Rewriter) -> bool:
    """Return whether the indices are proved to be in range, however often the loop runs."""
    desc = rw.uses.desc(name)
    return isinstance(desc, Array) and rw.uses.ranges_at(loop).proves_in_range(subset.dims, desc.shape)


def _carry(accesses: list[MemoryAccess], subset: Subset, loop: Loop, rw: Rewriter) -> None:
    name = accesses[0].root
    desc = rw.uses.desc(name)
    assert loop.region is not None
    own = rw.declare_fresh("own", Scalar(desc.dtype, transient=True, span=desc.span), loop.region)
    for element in dict.fromkeys(access.place for access in accesses):
        _redirect(element, name, own, rw)
    memory, register = Memlet(name, subset), Memlet(own, Subset())
    rw.insert_before(loop, State(nodes=[_move(memory, register, rw)], span=loop.span))
    rw.insert_after(loop, State(nodes=[_move(register, memory, rw)], span=loop.span))
    rw.remark(loop, True, "in a register of each thread", about=name)


def _redirect(element: Element, name: str, own: str, rw: Rewriter) -> None:
    def memlet(old: Memlet) -> Memlet:
        return replace(old, container=own, subset=Subset()) if old.container == name else old

    def load(part: ScalarExpr) -> ScalarExpr | None:
        return Load(own, (), part.dtype) if isinstance(part, Load) and part.container == name else None

    if isinstance(element, Node):
        rw.replace_memlets(element, memlet)
    rw.rewrite_exprs(element, lambda expr: rewrite(expr, load))


def _move(source: Memlet, target: Memlet, rw: Rewriter) -> Tasklet:
    return Tasklet({"a": source}, {"out": target}, (("out", Ref("a", rw.uses.desc(source.container).dtype)),))
