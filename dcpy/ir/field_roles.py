"""Field roles: what the fields of a node or block hold, which each class declares once.

A field holds memlets, expressions, bounds or names (or none of these: a schedule, a body). Whoever asks for all that
is written on an element itself, or rewrites it, goes by the roles and knows no class: substitution, the index of uses,
copies. So a new kind of node or block is its fields, their roles, its regions and its effects. A test compares the
roles with the types of the fields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

from dcpy.ir.distribution import Distribution, Section
from dcpy.ir.effects import Effect
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Op, Ref, ScalarExpr, WrapIndex
from dcpy.ir.memlet import Memlet
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.ir.region import Region
    from dcpy.ir.sdfg import Sdfg


class Role(Enum):
    """Role of a field: it holds one of these, a tuple, a list or a dictionary of them, or of pairs with them."""

    READ = "memlets that are read"
    WRITTEN = "memlets that are written"
    PASSED = "memlets that a callee gets, which reads and may write them"
    CODE = "expressions over connectors"
    SCALAR = "expressions that load from containers"
    BOUND = "bounds, sizes and places: expressions over symbols, ranges of them, and what says where on a grid"
    DEFINED = "symbols that it gives values to"
    WHOLE = "containers that it reads and changes without a memlet"
    DECLARED = "containers that its body declares for it"

    __hash__ = object.__hash__  # that of enumerations is written in Python, and tables by role are read often


MEMLETS = (Role.READ, Role.WRITTEN, Role.PASSED)
EXPRESSIONS = (Role.CODE, Role.SCALAR)
_SCALARS = (Const, Ref, Load, Index, Op, Cast, WrapIndex)
_KINDS: Mapping[Role, Any] = {
    **dict.fromkeys(MEMLETS, Memlet),
    **dict.fromkeys(EXPRESSIONS, _SCALARS),
    Role.BOUND: (Expr, Range, Distribution, Section),
    **dict.fromkeys((Role.DEFINED, Role.WHOLE, Role.DECLARED), str),
}
assert len(get_args(ScalarExpr)) == len(_SCALARS)
Roles = Mapping[str, Role]
Changes = Mapping[Role, Callable[[Any], Any]]  # what becomes of all that fields of a role hold


class Runs(Enum):
    """Number of times that the regions of an element run, each time that the element itself does."""

    EACH = "once per point of its axes"
    PERHAPS = "once or not at all"
    AGAIN = "as often as it turns out"

    __hash__ = object.__hash__


Axes = tuple[tuple[str, Range], ...]  # parameters with the values that they take, outermost first


class OperandMemlet(NamedTuple):
    """A memlet as it is written on an element. A field that holds one memlet, not a table of them, has no connector."""

    field: str
    connector: str
    memlet: Memlet
    role: Role

    @property
    def name(self) -> str:
        """Name of the operand: its connector, or its field."""
        return self.connector or self.field


class Written:
    """Common base of nodes and blocks: the fields by role, the owned regions, the possible effects."""

    kind: ClassVar[str] = ""
    roles: ClassVar[Roles] = MappingProxyType({})
    effects: ClassVar[Effect] = Effect.NOTHING
    runs: ClassVar[Runs] = Runs.EACH
    concurrent: ClassVar[bool] = False  #: its bodies run at the same time as others: no jump leaves them, no symbol
    free_texts: ClassVar[tuple[str, ...]] = ()  #: fields with texts that may have more than one line
    has_only_memlets: ClassVar[bool] = True  #: it reads and writes by memlets alone, as most do
    _fields_of: ClassVar[Mapping[Role, tuple[str, ...]]] = MappingProxyType({})

    def __init_subclass__(cls, **rest: Any) -> None:
        super().__init_subclass__(**rest)
        cls._fields_of = {role: tuple(n for n, its in cls.roles.items() if its is role) for role in Role}
        cls.has_only_memlets = not {Role.PASSED, Role.SCALAR, Role.WHOLE}.intersection(cls.roles.values())

    @property
    def title(self) -> str:
        """Name for people; "" where its kind, and what it writes, say enough."""
        return ""

    def regions(self) -> tuple[Region, ...]:
        """The regions that it owns."""
        return ()

    def iteration_space(self) -> Axes:
        """The axes that its regions run over; none where they have no parameters."""
        return ()

    def callees(self) -> tuple[Sdfg, ...]:
        """The SDFGs that it calls, to which it passes memlets."""
        return ()

    def operands(self) -> Iterator[OperandMemlet]:
        """The memlets that are written on it."""
        for field, role in self.roles.items():
            if role in MEMLETS:
                value = getattr(self, field)
                named = value.items() if isinstance(value, dict) else [("", memlet) for memlet in held(value, role)]
                yield from (OperandMemlet(field, name, memlet, role) for name, memlet in named)

    def reads(self) -> tuple[Memlet, ...]:
        """Memlets read, as written on the element itself (for scopes: ask `ir.analysis.accesses`)."""
        return tuple(self.all_of(Role.READ))

    def writes(self) -> tuple[Memlet, ...]:
        """Memlets written, as written on the element itself."""
        return tuple(self.all_of(Role.WRITTEN))

    def exprs(self) -> tuple[ScalarExpr, ...]:
        """The scalar expressions written on the element itself."""
        return tuple(self.all_of(Role.CODE) + self.all_of(Role.SCALAR))

    def all_of(self, role: Role) -> list[Any]:
        """All that its fields of a role hold, in order."""
        found: list[Any] = []
        for name in self._fields_of.get(role, ()):
            found += held(getattr(self, name), role)
        return found

    def rewrite(self, changes: Changes) -> None:
        """Replace what its fields hold by the change of their role, if there is one; bodies stay as they are."""
        for name, role in self.roles.items():
            change = changes.get(role)
            if change is not None:
                setattr(self, name, _changed(getattr(self, name), _KINDS[role], change))


def held(value: Any, role: Role) -> list[Any]:
    """Return the items of a role in a field with this value; None holds nothing."""
    if value is None:
        return []
    if isinstance(value, dict):
        return list(value.values())
    kinds = _KINDS[role]
    if isinstance(value, kinds):
        return [value]
    found = []
    for item in value:
        if isinstance(item, kinds):
            found.append(item)
        elif isinstance(item, tuple):  # the name of a connector with its value, a condition with its region
            found += [part for part in item if isinstance(part, kinds)]
    return found


def _changed(value: Any, kinds: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, kinds):
        return change(value)
    if value is None:
        return None
    if isinstance(value, dict):
        return {name: change(item) for name, item in value.items()}
    changed = [
        change(item) if isinstance(item, kinds) else _changed(item, kinds, change) if isinstance(item, tuple) else item
        for item in value
    ]
    return changed if isinstance(value, list) else tuple(changed)
