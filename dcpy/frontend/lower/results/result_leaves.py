"""Result leaves: what a function returns at one place, taken apart into numbers, arrays and constants."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from types import FunctionType
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import FrontendError
from dcpy.base.string_formatting import JOINED, TextTemplate
from dcpy.frontend.abstract_values.list_values import JoinedList, ListCopy, ListRow, ListValue
from dcpy.frontend.abstract_values.values import (
    ArrayValue,
    DictValue,
    GeneratorValue,
    Maybe,
    Missing,
    ObjectValue,
    RecordValue,
    Scalar,
    Static,
    TextValue,
    TupleValue,
    Value,
    integer,
)
from dcpy.frontend.lower.arithmetic.promotion import mixed_kinds
from dcpy.frontend.lower.frame import IdentityMatters
from dcpy.frontend.lower.functions.callback_calls import require_one_kind
from dcpy.frontend.lower.loops.carried_kinds import by_kind
from dcpy.frontend.lower.objects import dataclass_objects as objects
from dcpy.frontend.lower.results.return_agreement import (
    Step,
    moves,
)
from dcpy.frontend.lower.sequences import list_references
from dcpy.frontend.specialize.record_arguments import (
    ArrayPart,
    GivenArgument,
    KnownObject,
    ListResult,
    MadeObject,
    is_frozen,
)
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import LoweringState


class ResultLeaves:
    """Returned value of one place, taken apart: numbers, arrays and constants in order."""

    def __init__(self, program: LoweringState, env: Mapping[str, Value]) -> None:
        self.program, self.env = program, env
        self.values: list[Value] = []
        self.mutable_records: dict[str, MadeObject] = {}  # objects that may change, by key
        self.tokens: dict[object, str] = {}  # which list is which
        self.value_records: list[RecordValue] = []  # objects that are taken for values

    def change(self, name: str, unsure: bool) -> tuple[Any, ...]:
        """Return the final value of an argument's field; where `unsure`, also whether it is another object."""
        try:
            part = self.part(self.env[name])
        except FrontendError as error:
            raise FrontendError(f"the field {name!r}: {error.message}", notes=error.notes, help=error.help) from None
        return (part, self.part(objects.is_new(self.env, name))) if unsure else (part,)

    def part(self, value: Value) -> Any:  # noqa: C901  (one case per kind)
        """Indices into the leaves, nested as tuples and objects are."""
        match value:
            case Maybe(value=inner):
                return self.part(inner)
            case Missing(reason=reason, help=help):
                raise FrontendError(reason, help=help)
            case TupleValue() | RecordValue() | ListValue() if (path := self.path_of(value)) is not None:
                return self.given(path)
            case TupleValue(is_list=True) | ListValue():
                return self.of_list(value)
            case DictValue(items=pairs):
                return MadeObject(dict, tuple(key for key, _ in pairs), tuple(self.part(item) for _, item in pairs),
                            self.key(value.token))  # fmt: skip
            case TupleValue(items=items, names=names, cls=cls):
                parts = tuple(map(self.part, items))
                return parts if cls is None else MadeObject(cls, names, parts)
            case RecordValue(cls=cls, names=names, items=items):
                self.require_once(value)
                return MadeObject(cls, names, tuple(map(self.part, items)))
            case ObjectValue():
                return self.given(value.key) if objects.is_argument(value) else self.object(value)
            case GeneratorValue(container=container, own=False):
                return self.given(self.program.objects.argument_paths.get(container, container))
            case Static(value=known) if isinstance(known, Enum | FunctionType | type) or is_dataclass(known):
                return KnownObject(known, self.leaf(Static(None)))
            case TextValue():
                return self.text(value)
            case ArrayValue() if steps := moves(self.program.b.emit, value):
                return self.cut(steps)
        return self.leaf(value)

    def text(self, value: TextValue) -> MadeObject:
        """A text with values that are known at run time only: Python puts it together."""
        pieces: list[str | tuple[int, str]] = []
        parts: list[Any] = []
        for piece in value.parts:
            if isinstance(piece, str):
                pieces.append(piece)
                continue
            shown, conversion, spec = piece
            if isinstance(shown, JoinedList):
                pieces.append((conversion, spec))
                items = ListResult(shown.items.levels, shown.items.weak, self.leaf(shown.items.array))
                parts.append(MadeObject(TextTemplate(((JOINED, shown.separator),)), (), (items,)))
                continue
            require_one_kind(shown, "a text", as_text=conversion not in map(ord, "ra"))
            pieces.append((conversion, spec))
            parts.append(self.part(shown))
        return MadeObject(TextTemplate(tuple(pieces)), (), tuple(parts))

    def cut(self, steps: Sequence[Step]) -> ArrayPart:
        """A part of an argument: the array, and how to get there from it."""
        b = self.program.b
        numbers: list[Expr] = []
        found: list[tuple[tuple[bool, ...], tuple[int, ...]] | int] = []
        for step in steps:
            if not isinstance(step, ArrayValue):
                found.append(len(step))
                numbers += map(b.exact, step)
                continue
            for dim, shown in enumerate(step.window.dims):
                if isinstance(shown, Range):
                    numbers += (shown.start, b.exact(step.shape[step.axes.index(dim)]), shown.step)
                else:
                    numbers.append(shown)
            found.append((tuple(isinstance(shown, Range) for shown in step.window.dims), step.axes))
        first = steps[0]
        assert isinstance(first, ArrayValue)
        whole = self.leaf(ArrayValue.whole(first.container, b.desc(first)))
        return ArrayPart((whole, *(self.leaf(integer(number)) for number in numbers)), tuple(found))

    def path_of(self, value: TupleValue | RecordValue | ListValue) -> str | None:
        """The path of an argument that the value is; a list with the same items is another one."""
        for path, known in self.program.objects.passed_values.items():
            is_copy = isinstance(value, TupleValue) and value.is_list and value.token is not known.token  # type: ignore[union-attr]
            if known == value and not is_copy:
                return path
        return None

    def given(self, path: str) -> GivenArgument:
        """Return the caller's own object at `path`."""
        self.program.objects.used_fields[path] = True
        return GivenArgument(path, self.leaf(Static(None)))

    def require_once(self, value: RecordValue) -> None:
        """An object that could be changed later, in two places: then it matters whether it is one."""
        if stands_for := objects.only_read(value):
            raise FrontendError(f"a program cannot return {stands_for}", help="return the values in them")
        if value in self.value_records and not is_frozen(value.cls):
            raise IdentityMatters(value.cls)
        self.value_records.append(value)

    def object(self, value: ObjectValue) -> MadeObject:
        """An object that the program has made."""
        if value.key not in self.mutable_records:
            fields = objects.fields_of(self.env, value)
            self.mutable_records[value.key] = MadeObject(
                value.cls, tuple(fields), tuple(map(self.part, fields.values())), value.key
            )
        return self.mutable_records[value.key]

    def of_list(self, value: TupleValue | ListValue) -> MadeObject | ListResult:
        """A list: one object, wherever it is."""
        if isinstance(value, ListValue):
            return self.counted(value)
        return MadeObject(list, (), tuple(map(self.part, value.items)), self.key(value.token))

    def key(self, token: Any) -> str:
        """Return the identity of a list: one that is in several places of the result is one object."""
        if isinstance(token, str):
            return token
        if token is None or isinstance(token, list_references.Frozen | ListRow | ListCopy):
            return ""
        return self.tokens.setdefault(token, f"list {len(self.tokens)}")

    def counted(self, value: ListValue) -> ListResult:
        """A list whose length is known at run time only."""
        for number in self._numbers(value):
            own = number.dtype.numpy.type
            if not all(issubclass(own, kind) for kind in number.other_kinds):  # an np.float64 is a float as well
                kinds = " and ".join(mixed_kinds(number))
                error = FrontendError(
                    f"a returned list holds {kinds}, in an order that is known at run time only",
                    help=f"make all of them one type: {mixed_kinds(number)[-1]}(x)",
                )
                raise by_kind(self.program.b, number.other_kinds.merges, error)
        return ListResult(value.levels, value.weak, self.leaf(value.array), self.key(value.token))

    def _numbers(self, value: ListValue) -> list[Scalar]:
        """Return numbers that represent those in a list."""
        if value.packed is None:
            return [Scalar(Load("", (), value.array.dtype), value.weak, value.other_kinds)]
        numbers = [] if value.packed_tuple is None else [number for number, _ in value.packed_tuple.numbers()]
        return [Scalar(Load("", (), number.dtype), number.weak, number.other_kinds) for number in numbers]

    def leaf(self, value: Value) -> int:
        """The index of one more."""
        self.values.append(value)
        return len(self.values) - 1
