"""Record arguments: dataclass objects, named tuples, tuples of arrays; nested as deep as one likes.

A record is not passed itself: its parts are arguments of their own, by their paths (``p.x``, ``pair[0]``). Here are the
taking apart, by value or by annotation, and what is put together again after the call. The SDFG knows of neither.
"""

from __future__ import annotations

import dataclasses
import dis
import functools
import inspect
import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from dcpy.base.errors import ArgumentError
from dcpy.base.library_modules import is_library
from dcpy.base.string_formatting import ArgumentMaker, TextTemplate

_MISSING = object()
SPARSE = ("csr_matrix", "csr_array", "csc_matrix", "csc_array")  # SciPy's; see `scipy.sparse_matrices`
SPARSE_FIELDS = ("data", "indices", "indptr", "shape")
MAX_DEPTH = 32


@dataclass(frozen=True, slots=True)
class RecordMember:
    """One part of a record: the attribute or position by which it is reached, and its path."""

    step: str | int
    path: str


@dataclass(frozen=True, slots=True)
class Record:
    """An argument (or a part of one) that is passed by its `members`.

    `same_as`: the path of the earlier record that is the very same object; such a record has no members of its own.
    """

    path: str
    cls: type
    members: tuple[RecordMember, ...]
    same_as: str = ""
    length: int = -1  # of a tuple

    @property
    def is_tuple(self) -> bool:
        """Return whether members are reached by position."""
        return issubclass(self.cls, tuple)

    @property
    def changes(self) -> bool:
        """Return whether it has an identity, and fields that may be assigned."""
        return not self.is_tuple and not is_frozen(self.cls)


@dataclass
class Parts:
    """Arguments taken apart: values without parts by path, and the records that held them, outermost first."""

    leaves: dict[str, Any] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    objects: dict[str, Any] = field(default_factory=dict)  # the records themselves

    @property
    def fields(self) -> frozenset[str]:
        """The paths of the fields of objects."""
        objects = (record for record in self.records.values() if not record.is_tuple)
        return frozenset(member.path for record in objects for member in record.members)


def _is_numpys(value: Any) -> bool:
    return isinstance(value, np.ndarray)


def take_apart(bound: Mapping[str, Any], is_array: Callable[[Any], bool] = _is_numpys) -> Parts:
    """The parts of all arguments. Raises `ArgumentError` for tuples and frozen objects nested too deep."""
    parts = Parts()
    known: dict[int, str] = {}
    for name, value in bound.items():
        _take_apart(parts, known, name, value, is_array)
    return parts


def _take_apart(
    parts: Parts, known: dict[int, str], path: str, value: Any, is_array: Callable[[Any], bool], depth: int = 0,
    inside: bool = False,
) -> None:  # fmt: skip
    """The parts of one value; a tuple `inside` of a sparse matrix (its shape) has parts in any case."""
    if not is_record(value, is_array) and not inside:
        parts.leaves[path] = value
        return
    parts.objects[path] = value
    if depth > MAX_DEPTH:
        raise ArgumentError(f"argument {path!r} is nested too deep", help="pass the inner parts as arguments")
    if id(value) in known:
        parts.records[path] = Record(path, type(value), (), same_as=known[id(value)])
        return
    found = members_of(path, value)
    length = len(value) if isinstance(value, tuple) else -1
    record = Record(path, type(value), tuple(member for member, _ in found), length=length)
    parts.records[path] = record
    if record.changes:
        known[id(value)] = path
    for member, inner in found:
        is_shape = is_sparse(type(value)) and type(inner) is tuple
        _take_apart(parts, known, member.path, inner, is_array, depth + 1, is_shape)


def is_record(value: Any, is_array: Callable[[Any], bool] = _is_numpys) -> bool:
    """Return whether an argument is passed by its parts. Tuples of constants (shapes, axes) are constants themselves.
    """
    if isinstance(value, type):
        return False
    if is_dataclass(value) or is_named_tuple(value) or is_sparse(type(value)):
        return True
    return type(value) is tuple and any(is_array(item) or is_record(item, is_array) for item in value)


def is_sparse(cls: type) -> bool:
    """Return whether it is one of SciPy's classes of matrices that are stored by rows or columns."""
    return cls.__name__ in SPARSE and cls.__module__.startswith("scipy.sparse.")


def is_named_tuple(value: Any) -> bool:
    """Return whether a value is of a class, or is a class, that `collections.namedtuple` or `typing.NamedTuple` has
    made.
    """
    cls = value if isinstance(value, type) else type(value)
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def fields_of_class(cls: type) -> dict[str, Any]:
    """The fields of a dataclass or named tuple, and their annotations (maybe as texts)."""
    if is_named_tuple(cls):
        return {name: cls.__annotations__.get(name) for name in cls._fields}  # type: ignore[attr-defined]
    return {field.name: field.type for field in dataclasses.fields(cls)}


def is_frozen(cls: type) -> bool:
    """Return whether assignments to the fields of a dataclass are refused by Python; those of sparse matrices are by
    dcpy.
    """
    return is_sparse(cls) or (is_dataclass(cls) and bool(cls.__dataclass_params__.frozen))  # type: ignore[attr-defined]


CONTAINERS = "dcpy.frontend.python.containers."  # the classes that stand for Python's containers

#: what classes have whose objects are more than their attributes: ways of their own to keep them, or arrays elsewhere
_SPECIAL = {"__setattr__", "__new__", "__array__", "__array_interface__", "__cuda_array_interface__", "__dlpack__",
            "__dlpack_device__"}  # fmt: skip


def is_plain_class(cls: type) -> bool:
    """Return whether a class that is no dataclass has objects that are just their attributes, set in Python's
    ``__init__``.
    """
    bases = [base for base in cls.__mro__ if base is not object]
    plain = all(type(base) is type for base in bases)
    own = all(_is_the_users(base) and _SPECIAL.isdisjoint(vars(base)) for base in bases)
    started = isinstance(inspect.getattr_static(cls, "__init__", None), FunctionType)
    return plain and own and started and not is_dataclass(cls)


def _is_the_users(cls: type) -> bool:
    """Return whether a class is lowered from its source: the user's, or one of dcpy's own that stand for Python's."""
    return not is_library(cls.__module__) or cls.__module__.startswith(CONTAINERS)


def field_names(cls: type) -> list[str]:
    """The fields of objects of a class: those of a dataclass, and the attributes that methods assign to ``self``."""
    found = dict.fromkeys((field.name for field in dataclasses.fields(cls)) if is_dataclass(cls) else (), True)
    for base in reversed(cls.__mro__):
        for method in vars(base).values():
            method = getattr(method, "__wrapped__", method)
            if isinstance(method, FunctionType) and method.__code__.co_varnames:
                found |= dict.fromkeys(_assigned_attributes(method.__code__), True)
    return list(found)


@functools.cache
def _assigned_attributes(code: CodeType) -> list[str]:
    instructions = list(dis.get_instructions(code))
    own = code.co_varnames[0]
    pairs = itertools.pairwise(instructions)
    return [
        str(store.argval)
        for load, store in pairs
        if store.opname == "STORE_ATTR" and own in (load.argval if isinstance(load.argval, tuple) else (load.argval,))
    ]


def members_of(path: str, value: Any) -> list[tuple[RecordMember, Any]]:
    """The parts of a tuple or an object, and their values."""
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        paths = [f"{path}.{names[k]}" if names else f"{path}[{k}]" for k in range(len(value))]
        return [(RecordMember(k, paths[k]), item) for k, item in enumerate(value)]
    if is_sparse(type(value)):
        return [(RecordMember(name, f"{path}.{name}"), getattr(value, name)) for name in SPARSE_FIELDS]
    found = ((name, getattr(value, name, _MISSING)) for name in field_names(type(value)))
    return [(RecordMember(name, f"{path}.{name}"), item) for name, item in found if item is not _MISSING]


def container_stem(path: str) -> str:
    """Return the name of a part's container: ``p_x``, ``pair_0``; "" for the name ``_``."""
    return re.sub(r"\W+", "_", path).strip("_")


# -- what comes back -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MadeObject:
    """An object that the program has made: its class, the fields that are set (or the keys), and the parts.

    Where `key` is not empty, the object has an identity: in several places it is one.
    """

    cls: type | TextTemplate
    names: tuple[Any, ...]
    parts: tuple[ResultPart, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class GivenArgument:
    """A record or generator that was passed, itself: its path. `index`: the result (a constant) in its place."""

    path: str
    index: int


@dataclass(frozen=True, slots=True)
class KnownObject:
    """A Python object that is known at compile time; `index` as of `GivenArgument`."""

    value: Any
    index: int


@dataclass(frozen=True, slots=True)
class ListResult:
    """A list of run-time length, as an array among the results: ``lister(levels, weak)`` makes it one."""

    levels: tuple[Any, ...]
    weak: bool
    index: int
    key: str = ""  # as of `MadeObject`


@dataclass(frozen=True, slots=True)
class ChosenPart:
    """One of several, by the number that the result `which` holds: what is returned depends on the path taken."""

    which: int
    options: tuple[ResultPart, ...]


@dataclass(frozen=True, slots=True)
class ArrayPart:
    """A part of an array that was passed: where it is was found out on the way.

    `parts` are the array, then the numbers of the `steps`. A step is a part: for each dimension of the array an index,
    or start, size and step where the first tuple says so; the second has the dimensions that those of the part run
    along, -1 for a new one. Or it is a shape of so many sizes.
    """

    parts: tuple[int, ...]
    steps: tuple[CutStep, ...]


CutStep = tuple[tuple[bool, ...], tuple[int, ...]] | int
_ObjectPart = MadeObject | GivenArgument | KnownObject
ResultPart = int | tuple["ResultPart", ...] | _ObjectPart | ListResult | ChosenPart | ArrayPart | None


@dataclass(frozen=True, slots=True)
class FieldEffect:
    """After the call, the object at `path` has a new `field`: where the result `when` holds, if there is one."""

    path: str
    field: str
    part: ResultPart
    when: int | None = None


@dataclass(frozen=True, slots=True)
class CallOutcome:
    """Results of a call, over indices of results, and its effects on objects."""

    returned: ResultPart = None
    effects: tuple[FieldEffect, ...] = ()


def maker(cls: type | TextTemplate, names: tuple[Any, ...]) -> Callable[..., Any]:
    """A function from parts to an object of the class. The constructor does not run: the program has run it."""

    def make(*parts: Any) -> Any:
        if isinstance(cls, TextTemplate):
            return cls(*parts)
        if cls is list:
            return list(parts)
        if cls is dict:
            return dict(zip(names, parts, strict=True))
        if issubclass(cls, tuple):
            return tuple.__new__(cls, parts)
        made: Any = object.__new__(cls)
        for name, part in zip(names, parts, strict=True):
            object.__setattr__(made, name, part)
        return made.as_python() if cls.__module__.startswith(CONTAINERS) else made

    return make


def lister(levels: tuple[Any, ...], weak: bool) -> Callable[..., Any]:
    """A function from an array to the lists (or tuples) that its elements are in; `weak`: they are Python's numbers."""

    packed = getattr(levels[-1], "from_words", None)
    last = len(levels) - 1 if packed is not None else len(levels)

    def nested(part: Any, depth: int) -> Any:
        if depth == last:
            return part
        if packed is not None and depth == last - 1:
            found = packed(part) if levels[depth] else tuple(packed(part))
            separator = getattr(levels[depth], "separator", None)
            return found if separator is None else separator.join(found)
        items = [nested(item, depth + 1) for item in part]
        if (separator := getattr(levels[depth], "separator", None)) is not None:
            return separator.join(items)
        cls = getattr(levels[depth], "cls", tuple)
        return items if levels[depth] else tuple.__new__(cls, items)

    def make(array: Any) -> Any:
        return nested(array.tolist() if weak and packed is None else array, 0)

    return make


@dataclass(frozen=True)
class ListMaker(ArgumentMaker):
    """Makes a callback's list of the array that it is in compiled code: of the texts in it one, with a `separator`."""

    levels: tuple[Any, ...]
    weak: bool
    separator: str | None = None

    def __call__(self, *operands: Any) -> Any:
        (array,) = operands
        made = lister(self.levels, self.weak)(array)
        return made if self.separator is None else self.separator.join(made)


def cutter(steps: tuple[CutStep, ...]) -> Callable[..., Any]:
    """A function from an array and the numbers of an `ArrayPart` to the part: a view."""

    def make(array: Any, *numbers: int) -> Any:
        rest = iter(numbers)
        for step in steps:
            if isinstance(step, int):
                array = array.reshape([next(rest) for _ in range(step)])
            else:
                array = _cut(array, step, rest)
        return array

    return make


def _cut(array: Any, step: tuple[tuple[bool, ...], tuple[int, ...]], numbers: Iterator[int]) -> Any:
    ranges, axes = step
    kept = [axis for axis, is_range in enumerate(ranges) if is_range]
    keys: list[Any] = []
    for is_range in ranges:
        start = next(numbers)
        size, stride = (next(numbers), next(numbers)) if is_range else (1, 1)
        keys.append(_slice(start, size, stride) if is_range else start)
    found = array[(*keys, ...)].transpose([kept.index(axis) for axis in axes if axis >= 0])
    new = tuple(position for position, axis in enumerate(axes) if axis < 0)
    return np.expand_dims(found, new) if new else found


def _slice(start: int, size: int, stride: int) -> slice:
    """The slice of `size` elements from `start`: in Python's, a negative number counts from the end."""
    if size == 0:
        return slice(0, 0, stride)
    stop = start + size * stride
    return slice(start, None if stop < 0 else stop, stride)
