"""Record passing: parts of records as containers by path, and the parts that no call need look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from dcpy.frontend.lower.dead_declarations import mentioned
from dcpy.frontend.specialize.argument_types import ArgType, ArrayType, OpaqueType
from dcpy.frontend.specialize.record_arguments import CallOutcome, Record
from dcpy.ir.analysis.dataflow.def_use import desc_symbols
from dcpy.ir.sdfg import Sdfg

if TYPE_CHECKING:
    from dcpy.frontend.lower.frame import LoweringState


@dataclass(frozen=True)
class RecordPassing:
    """Records among the arguments, the container (or symbol) of each part by path, and what comes back."""

    records: dict[str, Record] = field(default_factory=dict)
    containers: dict[str, str] = field(default_factory=dict)
    outcome: CallOutcome = field(default_factory=CallOutcome)


def without_unused(
    program: LoweringState, sdfg: Sdfg, types: Mapping[str, ArgType], passing: RecordPassing
) -> tuple[dict[str, ArgType], RecordPassing]:
    """Forget fields that the program does not read: a call may pass anything there."""
    in_use = {*mentioned(sdfg), *(name for name, needed in program.objects.used_fields.items() if needed)}
    kept = dict(types)
    for path in _fields(passing.records):
        if path not in kept:
            continue
        without = {other: kind for other, kind in kept.items() if other != path}
        orphans = set(_sizes(kept[path])) - {name for kind in without.values() for name in _sizes(kind)}
        if path in in_use or passing.containers[path] in in_use or orphans & in_use:
            continue
        kept = without
        _forget(sdfg, passing.containers[path], orphans)
    records = _needed(passing.records, kept, in_use)
    return {path: kind for path, kind in kept.items() if not isinstance(kind, OpaqueType)}, replace(
        passing, records=records
    )


def _fields(records: Mapping[str, Record]) -> list[str]:
    """The paths of parts that programs read by name, so that it is known whether they do."""
    return [member.path for record in records.values() if record.changes for member in record.members]


def _sizes(kind: ArgType) -> list[str]:
    return [name for dim in kind.dims for name in dim.symbols] if isinstance(kind, ArrayType) else []


def _forget(sdfg: Sdfg, container: str, sizes: set[str]) -> None:
    if container not in sdfg.arguments:
        return  # a constant
    sdfg.arguments.remove(container)
    symbols = {container} | sizes
    if container in sdfg.containers:
        desc = sdfg.containers.pop(container)
        strides = {name for stride in getattr(desc, "strides", ()) for name in stride.symbols}
        symbols |= strides - {name for other in sdfg.containers.values() for name in desc_symbols(other)}
    for name in symbols:
        sdfg.symbols.pop(name, None)
        sdfg.assumed.pop(name, None)
    sdfg.sizes = [name for name in sdfg.sizes if name not in symbols]


def _needed(records: Mapping[str, Record], types: Mapping[str, ArgType], in_use: set[str]) -> dict[str, Record]:
    """The records that hold something which is passed, or are written themselves; parameters stay."""
    kept: dict[str, Record] = {}
    for path, record in reversed(list(records.items())):
        members = tuple(member for member in record.members if member.path in types or member.path in kept)
        is_parameter = path.isidentifier()
        if members or is_parameter or path in in_use:
            kept[path] = replace(record, members=members)
    return dict(reversed(list(kept.items())))
