"""One activation of a function: its names, the regions that its code goes to, and where its values live.

A scalar name has a *slot*, a container per dtype, declared in the innermost region in which the name lives on: names
that are scratch of a loop body are private to an iteration. Merges and loops then need no copies in the common case.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from dcpy.base.options import Options
from dcpy.base.source import SrcSpan
from dcpy.frontend.abstract_values.guessed_axes import GuessedAxes
from dcpy.frontend.abstract_values.kinds_by_path import NONE as NO_KINDS
from dcpy.frontend.abstract_values.kinds_by_path import Kinds
from dcpy.frontend.abstract_values.list_values import FIRST_ROOM, IteratorUse, ListValue
from dcpy.frontend.abstract_values.values import ArrayValue, Scalar, Value
from dcpy.frontend.desugar import core
from dcpy.frontend.desugar.bounded_counters import FARTHEST, counters
from dcpy.frontend.desugar.liveness import Liveness, assigned
from dcpy.frontend.introspection.closure import Closure, NameRead
from dcpy.frontend.introspection.function_source import Source
from dcpy.frontend.lower.op_builder import OpBuilder
from dcpy.frontend.specialize.argument_types import ArrayType, GeneratorType
from dcpy.frontend.specialize.record_arguments import container_stem
from dcpy.ir import data, types
from dcpy.ir.data import Array
from dcpy.ir.expressions.scalar import Load
from dcpy.ir.region import Region
from dcpy.ir.symbolic import Expr, Ranges
from dcpy.ir.types import DType

Names = frozenset[str]
NOTHING: Names = frozenset()


class Flow(Enum):
    """Continuation after a statement: the next one, or something else. Each but `ON` ends a body."""

    ON = "on"
    BREAK = "break"
    CONTINUE = "continue"
    LEFT = "left"  # returned or raised


@dataclass
class Identity:
    """Classes whose objects have an identity. Those of `changing` have: some field is assigned.

    Objects of others are values, until a field of theirs is assigned (`IdentityMatters`): then all begins anew.
    """

    changing: set[type] = field(default_factory=set)
    values: set[type] = field(default_factory=set)


class IdentityMatters(Exception):
    """Objects of this class were taken for values, and are none."""

    def __init__(self, cls: type) -> None:
        self.cls = cls


class NoCall(Exception):
    """A function returns what no `Call` node hands over (an object, a list, a generator): it is evaluated in place."""


@dataclass(frozen=True)
class Evaluator:
    """The parts of lowering that call one another in a circle: statements, expressions, functions, lists."""

    execute: Callable[[Frame, core.Body], Flow]  # statements
    attribute: Callable[[Frame, Value, str], Value]  # ``owner.name``
    comprehend: Callable[[Frame, Any, Value], Value]  # a comprehension of run-time length
    lower: Callable[[LoweringState, Any, dict[str, Any], Any], Any]  # a called function, to an SDFG of its own
    call_list: Callable[[Frame, Any, str, Any, Any], Value | None]  # methods of lists
    reduce_items: Callable[[Frame, Any, Any, Any], Value | None]  # ``sum(...)`` of run-time length
    hashed: Callable[[Frame, Any, Value], Value]  # a comprehension of a set or dictionary of run-time items
    joined: Callable[[Frame, Any], Value]  # a list display with starred parts
    all_items: Callable[[Frame, Value], Value]  # the list of what a generator expression gives


@dataclass
class CalledFunctions:
    """The functions that a program calls, and what is known of them."""

    stack: list[tuple[object, object]] = field(default_factory=list)  # those being lowered, and their code
    recursive: dict[object, int] = field(default_factory=dict)  # those that call themselves, and how often
    by_value: bool = False  # whether sizes and integer arguments are those of one call
    inline_bodies: dict[Any, Any] = field(default_factory=dict)  # core statements of those that are evaluated in place
    written_arguments: dict[Any, frozenset[str]] = field(default_factory=dict)  # what they write, by SDFG
    in_progress: list[Any] = field(default_factory=list)  # what they are being lowered for
    sdfgs: dict[Any, Any] = field(default_factory=dict)  # their SDFGs, by function and types
    names: dict[str, int] = field(default_factory=dict)  # of the SDFGs

    def fresh_name(self, name: str) -> str:
        """A name for one more SDFG, with a number where there are others of that name."""
        self.names[name] = self.names.get(name, -1) + 1
        return f"{name}_{self.names[name]}" if self.names[name] else name


@dataclass
class Objects:
    """The objects of a program: arguments, and those that it makes."""

    count: int = 0  # how many the program makes
    under_construction: dict[str, bool] = field(default_factory=dict)  # those whose constructors run
    creating_maps: dict[str, OpenRegion] = field(default_factory=dict)  # the maps whose iterations make them
    identity: Identity = field(default_factory=Identity)
    # what each container of an argument is a part of: `p.x`
    argument_paths: dict[str, str] = field(default_factory=dict)
    initial_fields: dict[str, Value] = field(default_factory=dict)  # fields of the objects that were passed
    passed_values: dict[str, Value] = field(default_factory=dict)  # tuples and frozen objects that were passed, by path
    used_fields: dict[str, bool] = field(default_factory=dict)  # fields that are read, and objects that are written


@dataclass
class Lists:
    """The lists of a program whose lengths only the run time knows, by the token of each."""

    shared_keys: dict[object, str] = field(default_factory=dict)  # keys of lists that are in others several times
    scopes: dict[str, OpenRegion] = field(default_factory=dict)  # where each was made
    preallocated: dict[str, Any] = field(default_factory=dict)  # those that get one item in each iteration of a loop
    frozen_reasons: dict[str, str] = field(default_factory=dict)  # those that must not change any more, and why
    change_counts: dict[str, int] = field(default_factory=dict)  # how often each was changed


@dataclass
class LoweringState:
    """State that all activations of one lowering share."""

    b: OpBuilder
    options: Options
    evaluator: Evaluator
    callees: CalledFunctions = field(default_factory=CalledFunctions)
    objects: Objects = field(default_factory=Objects)
    lists: Lists = field(default_factory=Lists)
    dependences: dict[tuple[int, str], NameRead] = field(default_factory=dict)
    extra_arguments: dict[int, ExtraArgument] = field(default_factory=dict)  # global arrays, by identity
    aliases: Mapping[int, str] = field(default_factory=dict)  # groups of global arrays that share memory
    pending_operands: list[list[Value]] = field(default_factory=list)  # operands evaluated, not used yet
    # containers of operands that were computed before they are used
    materialized: set[str] = field(default_factory=set)
    slot_axes: dict[str, tuple[int, ...]] = field(default_factory=dict)  # those that dry runs took back, too
    used_iterators: list[IteratorUse] = field(default_factory=list)  # those with a name that this path went through
    # the last of a frame is its own
    activations: list[tuple[Frame, core.Statement | None]] = field(default_factory=list)
    # statements with a part in front (`expression_splitting`)
    split_expressions: dict[Any, Any] = field(default_factory=dict)
    assigned_expression: Any = None  # the expression whose value goes to names as it is
    discarded_call: Any = None  # the call whose result is not used
    declared_type: tuple[Any, Any] | None = None  # an expression, and the annotation of what it is assigned to
    effect_token: str = ""  # the scalar that orders callbacks
    free_symbols: list[str] = field(default_factory=list)  # symbols that no argument determines
    is_callee: bool = False  # its free symbols come from the caller
    expression_loops: dict[Any, Any] = field(default_factory=dict)  # as statements, by the tree

    @property
    def selector_origins(self) -> dict[str, object]:
        """The selectors of what depends on the path taken, and where the paths meet that they distinguish."""
        return self.b.selector_origins

    @property
    def current(self) -> Frame | None:
        """The activation whose statement runs."""
        return self.activations[-1][0] if self.activations else None


@dataclass(frozen=True, eq=False)
class ExtraArgument:
    """A global array, or generator, that the program uses: passed as one more argument, called `name`."""

    name: str
    type: ArrayType | GeneratorType
    array: Any
    dependence: NameRead | None = None


@dataclass
class OpenRegion:
    """A region that is being written. Names in `escapes` live on outside it; those in `forbidden` (of a map) are
    shared by its iterations and take no assignment."""

    region: Region
    kind: str  # "function", "branch", "loop", "map", "unrolled"
    escapes: Names = NOTHING
    copies: int = 1  # how many times what is inside is written for one place of the program
    forbidden: Names = NOTHING
    params: tuple[str, ...] = ()  # of a map
    outer_ranges: Ranges = field(default_factory=Ranges)  # what is known around a map
    accumulators: dict[str, Value] = field(default_factory=dict)  # names that a map accumulates into, with their types
    slots: dict[tuple[Any, ...], str] = field(default_factory=dict)


@dataclass(frozen=True)
class ExitPoint:
    """A place where control leaves a body: the end, a continue, a break, a return; `position` counts from the end."""

    region: Region
    env: dict[str, Value]
    before_last: bool
    ranges: Ranges
    value: Value | None = None
    span: SrcSpan | None = None
    is_version: bool = False  # one of several that are written for one place of the program


@dataclass
class LoopExits:
    """Exits from the body of the loop that is being written."""

    kind: str
    depth: int  # how many scopes are around the loop
    start: int = 0  # the builder's clock where it begins
    copies: int = 1  # how many times the body is written
    copied_containers: Names = NOTHING  # containers of which lists have copies
    carried: Names = NOTHING  # names that one iteration hands to the next
    ends: list[ExitPoint] = field(default_factory=list)
    breaks: list[ExitPoint] = field(default_factory=list)


_CHOICES = {"both": "`and`", "either": "`or`", "choice": "the conditional expression"}


def shown(name: str) -> str:
    """A name as the program has it: that of a choice has a number behind an ``@``, that of a result has a dot."""
    if name.startswith(".chosen"):
        return "choice"
    return "result" if name.startswith(".return") else name.partition("@")[0]


def name_for_user(name: str) -> str:
    """Return a name for messages; some names do not occur in the program."""
    if name.startswith(".chosen") or ("@" in name and name.partition("@")[0] in _CHOICES):
        return f"the value of {_CHOICES.get(name.partition('@')[0], 'the conditional expression')}"
    return "the list" if name.startswith("list#") else repr(shown(name))


def how_to_part(name: str) -> str:
    """Return the advice for a name whose values differ in kind, shape or length."""
    chosen = name_for_user(name).startswith("the value")
    return "write an `if`, with what is done with each value in its branch" if chosen else "use different names"


def is_field(name: str) -> bool:
    """Return whether a name stands for a field of an object (`lower.objects`)."""
    return "." in name[1:]


class Frame:
    """One activation."""

    def __init__(
        self,
        program: LoweringState,
        source: Source,
        define: core.Define,
        closure: Closure,
        region: Region,
        outer: Frame | None = None,
        *,
        inline: bool = False,
        caller: Frame | None = None,
    ) -> None:
        self.program, self.source, self.define, self.closure = program, source, define, closure
        self.b, self.emit = program.b, program.b.emit
        self.outer, self.inline, self.caller = outer, inline, caller
        self.env: dict[str, Value] = {}
        copies = caller.scope.copies if caller is not None and inline else 1
        self.scopes = [OpenRegion(region, "function", copies=copies)]
        self.liveness = Liveness(define)
        self.locals = assigned(define.body)
        self.counters = counters(define)
        self.loops: list[LoopExits] = []
        self.returns: list[ExitPoint] = []
        self.memo: dict[Any, dict[str, Value]] = {}
        self.number = 0  # in keys of objects (`object_slots`), where there are several activations
        self.sizes: dict[str, Expr] = {}  # symbols of annotations, where they are not those of the program

    @property
    def scope(self) -> OpenRegion:
        """The innermost scope."""
        return self.scopes[-1]

    def span(self, node: Any) -> SrcSpan:
        """The place of a tree."""
        return self.source.span(node)

    @contextmanager
    def entering(self, scope: OpenRegion, ranges: Ranges | None = None) -> Iterator[OpenRegion]:
        """Write into the region of `scope` meanwhile; names bound meanwhile are forgotten at the end."""
        env = self.env
        self.env = dict(env)
        scope.copies *= self.scope.copies
        self.scopes.append(scope)
        try:
            with self.emit.inside(scope.region, ranges):
                yield scope
        finally:
            self.scopes.pop()
            self.env = env

    @contextmanager
    def looping(self, kind: str, copies: int = 1) -> Iterator[LoopExits]:
        """Write the body of a loop meanwhile: its `break` and `continue` end there."""
        sites = LoopExits(kind, len(self.scopes), self.b.clock, copies)
        self.loops.append(sites)
        try:
            yield sites
        finally:
            self.loops.pop()

    # -- slots ---------------------------------------------------------------------------------------------------

    def slot(self, name: str, dtype: DType, weak: bool, instead: Kinds = NO_KINDS) -> Scalar:
        """The scalar container in which `name` lives with this dtype."""
        container = self._slot(name, (name, dtype), lambda: data.Scalar(dtype, transient=True, span=self.emit.span))
        if weak and dtype == types.int64 and name in self.counters and container not in self.emit.integer_intervals:
            self.emit.integer_intervals[container] = (-FARTHEST, FARTHEST)
            self.emit.on_undo(lambda: self.emit.integer_intervals.pop(container, None))
        return Scalar(Load(container, (), dtype), weak, instead)

    def flag(self, name: str) -> Load:
        """The scalar container that holds at run time whether `name` has a value."""
        container = self._slot(
            name, (name, "is set"), lambda: data.Scalar(types.bool_, transient=True), stem=f"{name}_is_set"
        )
        return Load(container, (), types.bool_)

    def size_slot(self, name: str, axis: int) -> str:
        """The scalar container that holds the size of `name` along a dimension, where that depends on the path."""
        size = data.Scalar(types.int64, transient=True)
        return self._slot(name, (name, "size", axis), lambda: size, stem=f"{name}_size")

    def place_slot(self, name: str, what: str, dim: int) -> str:
        """The scalar container that holds where the window is that `name` shows: its start, size or step."""
        number = data.Scalar(types.int64, transient=True)
        return self._slot(name, (name, "place", what, dim), lambda: number, stem=f"{name}_{what}")

    def growing_slot(self, name: str, dtype: DType, busy: Names = NOTHING) -> ArrayValue:
        """The buffer that grows in which versions of `name` meet: one that is not `busy` showing something else."""
        for number in itertools.count():
            array = self._with_room(name, (name, "growing", dtype, number), dtype, ())
            if array.container not in busy:
                break
        return array

    def list_slot(self, name: str, kind: Any, busy: Names = NOTHING) -> ListValue:
        """The array that grows, in which lists of `name` meet; `kind`: what their items are. It is not `busy`."""
        for number in itertools.count():
            key = (name, "list", kind.dtype, kind.shape, kind.packed, *([number] if number else []))
            array = self._with_room(name, key, kind.dtype, kind.shape)
            if array.container not in busy:
                break
        found: ListValue = kind.list_of(array, size=self.size_slot(name, number))
        return found

    def _with_room(self, name: str, key: tuple[Any, ...], dtype: DType, shape: tuple[Expr, ...]) -> ArrayValue:
        """An array of `name`, the first size of which is a symbol of its own."""
        scope = self._scope_of_field(name) if is_field(name) else self._scope_of_name(name)
        if key not in scope.slots:
            room = self.emit.assign_symbol_at(scope.region, "room", FIRST_ROOM)
            self._slot(name, key, lambda: Array.packed(dtype, (room, *shape), transient=True))
        container = scope.slots[key]
        return ArrayValue.whole(container, self.emit.descs[container])

    def array_slot(
        self, name: str, dtype: DType, shape: tuple[Expr, ...], axes: tuple[int, ...] = (), busy: Names = NOTHING
    ) -> ArrayValue:
        """The array container in which versions of `name` meet: one that is not `busy` showing something else.

        It is packed in the order of `axes`, from the slowest to the fastest; default: in C order.
        """

        def describe() -> Array:
            return Array.packed(dtype, shape, order=axes or "C", transient=True, span=self.emit.span)

        for number in itertools.count():
            container = self._slot(name, (name, dtype, shape, axes, number), describe)
            if container not in busy:
                break
        if isinstance(axes, GuessedAxes) and container not in self.emit.axis_orders:
            self.emit.guess_order(container, axes)
        self.program.slot_axes[container] = axes
        return ArrayValue.whole(container, self.emit.descs[container])

    def slots(self) -> dict[str, tuple[OpenRegion, tuple[Any, ...]]]:
        """The slots around the place of writing: where each is declared, and for what."""
        return {container: (scope, key) for scope in self.scopes for key, container in scope.slots.items()}

    def slot_again(self, scope: OpenRegion, key: tuple[Any, ...], desc: data.Data) -> str:
        """A slot that a dry run has made and taken back: what it was made for will be there when it is made again."""
        if key not in scope.slots:
            scope.slots[key] = self.emit.declare(container_stem(shown(key[0])) or "tmp", desc, scope.region)
            self.emit.on_undo(lambda: scope.slots.pop(key, None))
        return scope.slots[key]

    def _slot(self, name: str, key: tuple[Any, ...], describe: Callable[[], Any], stem: str = "") -> str:
        scope = self._scope_of_field(name) if is_field(name) else self._scope_of_name(name)
        if key not in scope.slots:
            title = container_stem(stem or shown(name)) or "tmp"
            container = self.emit.declare(title, describe(), scope.region)
            scope.slots[key] = container
            self.emit.on_undo(lambda: scope.slots.pop(key, None))
        return scope.slots[key]

    def _scope_of_name(self, name: str) -> OpenRegion:
        depth = len(self.scopes) - 1
        while depth > 0 and (self.scopes[depth].kind == "unrolled" or name in self.scopes[depth].escapes):
            depth -= 1
        return self.scopes[depth]

    def _scope_of_field(self, name: str) -> OpenRegion:
        """Objects live as long as the program; one that an iteration of a map has made, as long as the iteration."""
        made = self.program.objects.creating_maps.get(name.rpartition(".")[0])
        if made is not None:
            return made
        return self.caller._scope_of_field(name) if self.caller is not None else self.scopes[0]

    def is_slot(self, container: str) -> bool:
        """Return whether names own this container (so that it changes when they are assigned)."""
        return any(container in scope.slots.values() for scope in self.scopes)

    # -- maps ----------------------------------------------------------------------------------------------------

    def map_scopes(self) -> list[OpenRegion]:
        """The parallel maps around the place of writing, those of callers included."""
        around = self.caller.map_scopes() if self.caller is not None and self.inline else []
        return around + [scope for scope in self.scopes if scope.kind == "map"]

    @property
    def is_in_loop(self) -> bool:
        """Return whether what is written runs once per iteration of a loop, or of a loop around a call that is in
        place.
        """
        around = self.caller is not None and self.inline and self.caller.is_in_loop
        return around or any(scope.kind in ("loop", "map") for scope in self.scopes)

    def forbidding(self, name: str) -> OpenRegion | None:
        """The map whose iterations share this name, if any."""
        for scope in reversed(self.scopes):
            if scope.kind == "map" and name in scope.forbidden:
                return scope
        return None
