"""Native calling conventions: the default signature of an SDFG, refined by the types of a call."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any

from dcpy.base.errors import CodegenError
from dcpy.codegen import artifact
from dcpy.codegen.artifact import (
    Arg,
    ArgumentResult,
    ArrayArg,
    Built,
    ConstantArg,
    ConstantResult,
    Dim,
    FieldResult,
    GeneratorArg,
    IntegerArg,
    RecordArg,
    Result,
    ScalarArg,
    Signature,
    ViewResult,
)
from dcpy.codegen.signature import default_signature
from dcpy.frontend.specialize import list_arguments
from dcpy.frontend.specialize.argument_types import ArgType, ArrayType, ConstantType, GeneratorType, ScalarType
from dcpy.frontend.specialize.record_arguments import (
    ArrayPart,
    CallOutcome,
    ChosenPart,
    GivenArgument,
    KnownObject,
    ListResult,
    MadeObject,
    Record,
    ResultPart,
    cutter,
    lister,
    maker,
    take_apart,
)
from dcpy.ir.analysis.dataflow.def_use import Uses
from dcpy.ir.analysis.dataflow.opaque_handles import handles_of
from dcpy.ir.sdfg import Sdfg

if TYPE_CHECKING:
    from dcpy.frontend.lower.functions.record_passing import RecordPassing
    from dcpy.frontend.lower.lowering_result import Lowered

#: Where the dispatcher finds an argument that no caller passes: see runtime/dispatch/encoding.py.
Source = tuple[object, ...]


def signature_of(sdfg: Sdfg) -> Signature:
    """The signature of an SDFG that is called by itself, as its descriptors say; words to draw from are generators.

    Raises `CodegenError` where no argument has a size.
    """
    signature, uses = default_signature(sdfg), Uses(sdfg)
    generators = {name for drawn in handles_of(sdfg) for name in uses.overlapping(drawn)}
    args = (
        GeneratorArg(arg.name, arg.alias) if arg.name in generators and isinstance(arg, ArrayArg) else arg
        for arg in signature.args
    )
    found = replace(signature, args=tuple(args))
    told = {name for arg in found.args for name in _told_by(arg)}
    if unknown := [name for name in found.symbols if name not in told]:
        raise CodegenError(
            f"the value of {', '.join(unknown)} follows from no argument of {sdfg.name!r}",
            span=sdfg.span,
            help="make it an argument, or the size of one",
        )
    return found


def _told_by(arg: Arg) -> Iterator[str]:
    """The symbols whose value follows from one argument."""
    match arg:
        case IntegerArg(name=name):
            yield name
        case ArrayArg(dims=dims, strides=strides):
            yield from (dim.symbol for dim in dims if dim.symbol)
            yield from filter(None, strides)


@dataclass(frozen=True)
class Convention:
    """Calling convention of an SDFG: its parameters, the types of their parts, and how those are passed.

    `closure` names the global arrays, which are the last arguments.
    """

    parameters: tuple[str, ...]
    types: Mapping[str, ArgType]
    passing: RecordPassing
    closure: tuple[str, ...] = ()
    global_objects: tuple[object, ...] = ()

    @classmethod
    def of(cls, lowered: Lowered, parameters: Iterable[str]) -> Convention:
        """The convention of a function of these parameters."""
        extra = {argument.name: argument.type for argument in lowered.extra_arguments}
        found = tuple(dependence.value for dependence in lowered.dependences if is_dataclass(dependence.value))
        return cls(tuple(parameters), {**lowered.types, **extra}, lowered.passing, tuple(extra), found)

    def with_global_arrays_passed(self) -> Convention:
        """The same, with the global arrays as parameters."""
        return replace(self, parameters=(*self.parameters, *self.closure), closure=())

    def described(self, signature: Signature) -> Signature:
        """The signature with the names that the user knows: ``p.x``."""
        paths = {container: path for path, container in self.passing.containers.items()}
        named = (replace(arg, name=paths.get(arg.name, arg.name)) for arg in signature.args)
        return replace(signature, args=tuple(named))

    def taken_apart(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments of the SDFG by name, for values of the parameters."""
        leaves = take_apart(self._lists_passed(bound)).leaves
        names = self.passing.containers
        passed = {path for path, kind in self.types.items() if not isinstance(kind, ConstantType)}
        return {names.get(path, path): value for path, value in leaves.items() if path in passed}

    def _lists_passed(self, bound: Mapping[str, Any]) -> dict[str, Any]:
        """Lists as they are passed."""
        return list_arguments.passed(bound, lambda name: name not in self.passing.records)

    def delivered(self, bound: Mapping[str, Any], results: Any) -> Any:
        """Return the function's result from the SDFG's results; assign the fields of the caller's objects."""
        passed = take_apart(self._lists_passed(bound))
        given = passed.leaves | passed.objects | list_arguments.of_the_caller(bound, passed.objects)
        made: dict[str, Any] = {}
        outcome = self.passing.outcome
        if not outcome.effects:
            return _put_together(outcome.returned, results, given, made)
        returned, *changes = results
        parts = [_put_together(effect.part, change[0], given, made)
                 for effect, change in zip(outcome.effects, changes, strict=True)]  # fmt: skip
        for effect, change, part in zip(outcome.effects, changes, parts, strict=True):
            if effect.when is None or change[1]:
                setattr(given[effect.path], effect.field, part)
        return _put_together(outcome.returned, returned, given, made)


def _put_together(part: ResultPart, value: Any, given: Mapping[str, Any], made: dict[str, Any]) -> Any:
    match part:
        case MadeObject(key=key) if key in made:
            return made[key]
        case tuple(inner) | MadeObject(parts=inner):
            parts = tuple(_put_together(p, v, given, made) for p, v in zip(inner, value, strict=True))
            if not isinstance(part, MadeObject):
                return parts
            found = maker(part.cls, part.names)(*parts)
            return made.setdefault(part.key, found) if part.key else found
        case GivenArgument(path=path):
            return given[path]
        case KnownObject(value=known):
            return known
        case ListResult(levels=levels, weak=weak, key=key):
            found = made.get(key) or lister(levels, weak)(value)
            return made.setdefault(key, found) if key else found
        case ArrayPart(steps=steps):
            return cutter(steps)(*value)
        case ChosenPart(options=options):
            which, *found = value
            return _put_together(options[which], found[which], given, made)
    return value


def signature_of_call(sdfg: Sdfg, convention: Convention) -> tuple[Signature, tuple[Source, ...]]:
    """The signature for calls of the function of an SDFG, and where the parts of records come from.

    Those are behind the parameters, and before the closure. Types add what descriptors do not have: constants that are
    no containers, numbers of Python's own, and sizes that must differ from 1.
    """
    passing, types = convention.passing, convention.types
    order, sources = _order(convention.parameters, passing.records)
    order += convention.closure
    slots = {path: slot for slot, path in enumerate(order)}
    default = default_signature(sdfg)
    known = {arg.name: arg for arg in default.args}
    args: list[Arg] = []
    for path in order:
        container = passing.containers.get(path, path)
        record = passing.records.get(path)
        if record is None:
            args.append(_refined(container, types[path], known.get(container)))
        else:
            args.append(_record_arg(record, convention, slots))
    by_container = {passing.containers.get(path, path): slot for path, slot in slots.items()}
    moved = [by_container[arg.name] for arg in default.args]
    moved_results = tuple(_moved(result, moved) for result in default.results)
    signature = replace(default, args=tuple(args), results=moved_results)
    return with_outcome(signature, passing.outcome, slots), sources


def with_outcome(signature: Signature, outcome: CallOutcome, slots: Mapping[str, int]) -> Signature:
    """The signature of a function with this outcome: what it returns, and what fields of objects get.

    `slots` are the positions of arguments, by path.
    """
    results = list(signature.results)
    for fixed in _fixed(outcome):
        results[fixed.index] = (
            ArgumentResult(slots[fixed.path]) if isinstance(fixed, GivenArgument) else ConstantResult(fixed.value)
        )
    fields = tuple(
        FieldResult(slots[effect.path], effect.field, _built(effect.part), -1 if effect.when is None else effect.when)
        for effect in outcome.effects
    )
    return replace(signature, results=tuple(results), structure=_built(outcome.returned), fields=fields)


def _order(parameters: Sequence[str], records: Mapping[str, Record]) -> tuple[list[str], tuple[Source, ...]]:
    """Paths in the order of arguments: the parameters, then the parts of records; where each part is found."""
    order = list(parameters)
    sources: list[Source] = []
    for path, record in records.items():
        for member in record.members:
            sources.append(("item" if record.is_tuple else "field", order.index(path), member.step))
            order.append(member.path)
    return order, tuple(sources)


def _record_arg(record: Record, convention: Convention, slots: Mapping[str, int]) -> RecordArg:
    records = convention.passing.records
    before = [slots[path] for path in itertools.takewhile(lambda path: path != record.path, records)
              if record.changes and records[path].cls is record.cls and not records[path].same_as]  # fmt: skip
    same = slots.get(record.same_as, -1)
    apart = () if record.same_as else tuple(before)
    is_changed = any(effect.path == record.path for effect in convention.passing.outcome.effects)
    strangers = convention.global_objects if is_changed else ()  # what is known of those would not hold any more
    return RecordArg(record.path, record.cls, record.length, same, apart, strangers)


def _fixed(outcome: CallOutcome) -> Iterator[GivenArgument | KnownObject]:
    """Yield the parts that are not computed: objects that were passed, and constants."""
    parts: list[ResultPart] = [outcome.returned, *(effect.part for effect in outcome.effects)]
    while parts:
        match parts.pop():
            case GivenArgument() | KnownObject() as fixed:
                yield fixed
            case tuple(inner) | MadeObject(parts=inner) | ChosenPart(options=inner):
                parts += inner


def _built(part: ResultPart) -> object:
    match part:
        case tuple():
            return tuple(map(_built, part))
        case MadeObject(cls, names, parts, key):
            return Built(maker(cls, names), tuple(map(_built, parts)), key)
        case GivenArgument(index=index) | KnownObject(index=index):
            return index
        case ListResult(levels=levels, weak=weak, index=index, key=key):
            return Built(lister(levels, weak), (index,), key)
        case ArrayPart(parts, steps):
            return Built(cutter(steps), parts)
        case ChosenPart(which, options):
            return artifact.Chosen(which, tuple(map(_built, options)))
    return part


def _refined(name: str, kind: ArgType, arg: Arg | None) -> Arg:
    match kind, arg:
        case ConstantType(value=value), _:
            return ConstantArg(name, value)
        case GeneratorType(alias=alias), ArrayArg():
            return GeneratorArg(name, alias)
        case ArrayType(not_one=not_one, axes=axes), ArrayArg(dims=dims):
            return replace(arg, dims=tuple(_checked(dim, not_one) for dim in dims), axes=axes)
        case ScalarType(weak=weak, converts=converts), ScalarArg():
            return replace(arg, weak=weak, converts=converts)
        case ScalarType(weak=weak), IntegerArg():
            return replace(arg, weak=weak)
    raise AssertionError(f"argument {name!r}: {kind} does not go with {arg}")


def _checked(dim: Dim, not_one: tuple[str, ...]) -> Dim:
    return replace(dim, not_one=dim.symbol != "" and dim.symbol in not_one)


def _moved(result: Result, positions: list[int]) -> Result:
    if isinstance(result, ArgumentResult) or (isinstance(result, ViewResult) and not result.of_result):
        return replace(result, index=positions[result.index])
    return result
