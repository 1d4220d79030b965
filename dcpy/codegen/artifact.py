"""Artifacts, which code generation hands to the runtime: pure data, hashable, serializable.

The runtime builds `Artifact.units` into one shared library, whose two C functions are

    int32_t NAME_entry(void *const *args, const int64_t *symbols, void *const *results, int64_t *error);
    void    NAME_results(void *const *args, const int64_t *symbols, int64_t *numbers);

``args``     one pointer per `Signature.args`: the data of an array, or the address of a scalar's value. An
             `IntegerArg` has a pointer too, but its value is also in ``symbols``.
``symbols``  the values of `Signature.symbols`, in that order.
``results``  one pointer per `Signature.results` that is stored by the program (`FreshArray`, `ScalarResult`), and
             two per `OwnedArray`: the address of a pointer, then that of its sizes (``rank`` of them). The program
             sets the pointer to null, then to memory of its own making: from then on the caller's, to be given to
             ``free``, also where the program fails later.
``error``    4 numbers for the message when the return value is not 0. The return value is 1 + the index of the
             failed check in `Signature.checks`. Where that check's exception is a warning category, the program has
             run to its end: the results are delivered and the warning is issued.
Where a program calls Python or can be interrupted, ``args`` has one more pointer: to a struct whose first member is

    int32_t (*call)(void *self, int64_t site, const int64_t *operands);

which calls the Python function of a site. The operands are a pointer, the sizes, and the strides in elements for each
of `CallbackSite.operands`. Where it does not return 0 the program stops, and returns a number that is not 0.

A program for a device has more functions:

    void NAME_attach(void *device);
    void NAME_on_stream(void *stream);
    int32_t NAME_told(int64_t *numbers);  // where calls return before it is known whether a check fails (gpu.errors)

The first passes the table (include/dcpy_table.h) through which the program reaches the device: once, before the first
call. The second one says on which stream the next call of this thread runs, if not on the program's own. They are no
parameters of each call, so calls of programs for CPUs do nothing for them.

``numbers``  is filled by NAME_results, called first, in the order of `Signature.results`: for each `FreshArray` its
             shape; for each `ViewResult` its byte offset from the array's data pointer, its shape, then its
             strides in bytes.
             (Both functions always exist; NAME_results writes nothing where no result needs it.)
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field

from dcpy.base.assumptions import Assumption
from dcpy.base.callback_sites import CallbackSite
from dcpy.base.library_environment import Environment
from dcpy.base.source import SrcSpan


@dataclass(frozen=True, slots=True)
class Dim:
    """One size of an array argument: a symbol by name plus `offset`, or a constant.

    `not_one` asks that a symbolic size differs from 1 (a specialization in which it does not broadcast). The symbol
    itself, the size without the offset, is never negative.
    """

    symbol: str = ""
    constant: int = -1
    not_one: bool = False
    offset: int = 0

    def __str__(self) -> str:
        """The size as annotations write it: ``N``, ``N + 1``, ``3``."""
        if not self.symbol:
            return str(self.constant)
        return self.symbol + (f" {'+' if self.offset > 0 else '-'} {abs(self.offset)}" if self.offset else "")


@dataclass(frozen=True, slots=True)
class ArrayArg:
    """An array argument. `strides` name symbols, in elements, or 0 (""); empty for packed ``C`` or ``F`` order.

    Without an `order` and `strides` it is packed, in the order of `axes` from the slowest to the fastest.
    `axes` are those of a strided array from the longest stride to the shortest; then it is in Fortran order only if it
    is in C order, too. None: they may be any.

    Arrays with the same non-empty `alias` may overlap in memory; any other pair of which one is `written` may not.
    """

    name: str
    dtype: str  # NumPy's name, e.g. "float64"
    dims: tuple[Dim, ...]
    order: str = "C"  # "C", "F", or "" when `strides` holds one symbol per dimension, or `axes` the order
    strides: tuple[str, ...] = ()
    written: bool = False
    alias: str = ""
    on_device: bool = False  # in the memory of the device that the program is for
    axes: tuple[int, ...] | None = None


@dataclass(frozen=True, slots=True)
class ScalarArg:
    """A scalar argument that is no symbol.

    `weak` takes Python's own bool, int, float or complex (NEP 50: they do not promote); else a NumPy scalar (or a
    0-d array) of exactly `dtype`. With `converts`, Python numbers of a smaller kind are taken too (an int where a
    float is declared).
    """

    name: str
    dtype: str
    weak: bool = False
    converts: bool = False


@dataclass(frozen=True, slots=True)
class IntegerArg:
    """An integer argument that is also the symbol of the same name; `weak` and `dtype` as in `ScalarArg`."""

    name: str
    dtype: str = "int64"
    weak: bool = True


@dataclass(frozen=True, slots=True)
class GeneratorArg:
    """An ``np.random.Generator``: the pointer is to the struct bitgen of its bit generator, whose lock is held.

    Arguments with the same non-empty `alias` may be one generator.
    """

    name: str
    alias: str = ""


@dataclass(frozen=True, slots=True)
class ConstantArg:
    """An argument whose value is part of the specialization (None, a bool that selects code, a string, a function)."""

    name: str
    value: object = None


@dataclass(frozen=True, slots=True)
class RecordArg:
    """A dataclass object or a tuple, of which the program takes parts: those are arguments further behind.

    `length` is that of a tuple, else -1. `same_as` is the position of the argument that must be the very object, or -1;
    those in `distinct_from`, and the objects `distinct_objects`, must be others.
    """

    name: str
    cls: type
    length: int = -1
    same_as: int = -1
    distinct_from: tuple[int, ...] = ()
    distinct_objects: tuple[object, ...] = ()


Arg = ArrayArg | ScalarArg | IntegerArg | GeneratorArg | ConstantArg | RecordArg


@dataclass(frozen=True, slots=True)
class FreshArray:
    """A new array of `rank` dimensions, allocated per call: packed in C order, or that of `axes`, slowest first."""

    dtype: str
    rank: int
    on_device: bool = False
    axes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class OwnedArray:
    """A new array whose sizes are known only while the program runs: it allocates, and hands over. `axes` as above."""

    dtype: str
    rank: int
    axes: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class ScalarResult:
    """A scalar: a NumPy scalar of `dtype`, or with `python` the Python number of that kind (``len(a)``)."""

    dtype: str
    python: bool = False


@dataclass(frozen=True, slots=True)
class ArgumentResult:
    """An argument itself, by position in `Signature.args`: the same Python object is returned."""

    index: int


@dataclass(frozen=True, slots=True)
class ViewResult:
    """A view of an array argument, or of the `FreshArray` at `index`: offset, shape, strides come from NAME_results."""

    index: int
    dtype: str
    rank: int
    of_result: bool = False
    read_only: bool = False


@dataclass(frozen=True, slots=True)
class ConstantResult:
    """A Python constant: None, an int, a string."""

    value: object = None


Result = FreshArray | OwnedArray | ScalarResult | ArgumentResult | ViewResult | ConstantResult


@dataclass(frozen=True, slots=True)
class Built:
    """In the structure of results: an object that ``make(*parts)`` gives; one only where a `key` occurs again."""

    make: Callable[..., object]
    parts: tuple[object, ...]
    key: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """In the structure of results: one of `options`, by the number that the result `which` holds."""

    which: int
    options: tuple[object, ...]


@dataclass(frozen=True, slots=True)
class FieldResult:
    """After the call, the argument at position `index` gets `field`: where the result `when` is true (-1: always)."""

    index: int
    field: str
    part: object
    when: int = -1


@dataclass(frozen=True, slots=True)
class Check:
    """A run-time check: the exception to raise, and its message with ``{0}`` … ``{3}`` for the numbers in ``error``."""

    exception: str  # a name that `base.program_exceptions` knows: an exception, or a warning category
    message: str
    span: SrcSpan | None = None


@dataclass(frozen=True, slots=True)
class Linear:
    """A condition on symbols, by name: the sum of ``factor * symbol``, and `constant`, is at least 0."""

    terms: tuple[tuple[str, int], ...]
    constant: int = 0

    def __str__(self) -> str:
        """``N >= M + 4``."""
        more = [(name, factor) for name, factor in (*self.terms, ("", self.constant)) if factor > 0]
        less = [(name, -factor) for name, factor in (*self.terms, ("", self.constant)) if factor < 0]
        return f"{_sum(more)} >= {_sum(less)}"


def _sum(terms: list[tuple[str, int]]) -> str:
    texts = [f"{factor}*{name}" if name and factor != 1 else name or str(factor) for name, factor in terms]
    return " + ".join(texts) or "0"


@dataclass(frozen=True, slots=True)
class Signature:
    """Calling convention of a compiled program.

    `assumes` are conditions that the program was compiled under: calls in which one does not hold must not be handed to
    it. It is not the best program for calls in which all of `better_if` hold. What breaks what is `assumed` of a symbol
    is refused. `structure` nests result indices into tuples, ``0``, ``(0, 1)``, ``(0, (1, 2))``, `Built` objects, and
    what is `Chosen`; None returns None. `fields` says what the caller's objects get.
    """

    name: str
    args: tuple[Arg, ...]
    symbols: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()
    structure: object = None
    checks: tuple[Check, ...] = ()
    callbacks: tuple[CallbackSite, ...] = ()
    fields: tuple[FieldResult, ...] = ()
    assumes: tuple[Linear, ...] = ()
    better_if: tuple[Linear, ...] = ()
    assumed: tuple[tuple[str, Assumption], ...] = ()

    @property
    def sizes(self) -> tuple[str, ...]:
        """The symbols that are sizes of arguments' axes: none is above `LARGEST_SIZE`."""
        axes = (dim.symbol for arg in self.args if isinstance(arg, ArrayArg) for dim in arg.dims)
        return tuple(dict.fromkeys(filter(None, axes)))

    @property
    def on_device(self) -> bool:
        """Return whether arguments are in the memory of a device."""
        return any(isinstance(arg, ArrayArg) and arg.on_device for arg in self.args)


DEVICE = "device"  # the language of kernels
HEADERS = ("dcpy_table.h", "dcpy_device.h", "dcpy_chips.h")  # dcpy's own, the same beside all programs for devices


@dataclass(frozen=True, slots=True)
class Unit:
    """One file of a generated program. Equal content, also with other `places`: those are for readers.

    A translation unit has a `language`, whose compiler makes an object of it; what has none is read by others (a
    header). From a line on (they count from 1), `places` says where in Python the lines come from.
    """

    name: str  # of the file
    text: str
    language: str = ""  # "C++", "C"
    flags: tuple[str, ...] = ()  # what its compiler needs beyond the options, e.g. "-std=c++17"
    places: tuple[tuple[int, SrcSpan], ...] = field(default=(), compare=False)

    def place_of(self, line: int) -> SrcSpan | None:
        """Return the place in Python from which a line comes; None for lines above the program."""
        return next((span for first, span in reversed(self.places) if first <= line), None)


@dataclass(frozen=True, slots=True)
class Kernel:
    """A function of a device: for blocks of so many threads along z, y and x, with so many bytes that those share.

    `small_of`: the kernel in whose place this one is launched where sizes are small; `indices`: how wide they are.
    """

    name: str
    threads: tuple[int, int, int]
    shared_bytes: int
    small_of: str = ""
    indices: str = field(default="", compare=False)
    span: SrcSpan | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A generated program: units that are compiled apart, each by the compiler of its language, and linked into one
    library by that of the first. Equal content, equal `key`, wherever its Python text lies.

    The entry points are ``NAME_entry`` and ``NAME_results`` for the `signature`'s name, in any of the units. A program
    for a device has one of the language "device", with its `kernels` (in the words of include/dcpy_device.h).
    """

    signature: Signature
    units: tuple[Unit, ...]
    environments: tuple[Environment, ...] = ()
    flags: tuple[str, ...] = ()  # what compiling and linking need beyond the options, e.g. "-fopenmp"
    kernels: tuple[Kernel, ...] = ()  # of the unit for a device, by number

    @property
    def languages(self) -> tuple[str, ...]:
        """The languages of the units, each once; that of the first one links."""
        return tuple(dict.fromkeys(unit.language for unit in self.units if unit.language))

    @property
    def files(self) -> tuple[tuple[str, str], ...]:
        """Names and texts of the units."""
        return tuple((unit.name, unit.text) for unit in self.units)

    @property
    def kernel_places(self) -> tuple[tuple[int, SrcSpan], ...]:
        """`Unit.places` of the unit for a device."""
        return next((unit.places for unit in self.units if unit.language == DEVICE), ())

    def unit(self, name: str) -> Unit | None:
        """The unit in the file of this name."""
        return next((unit for unit in self.units if unit.name == name), None)

    def key(self, extra: Iterable[str] = ()) -> str:
        """A content hash over everything that can change the machine code; `extra` names options and toolchains."""
        digest = hashlib.sha256()
        units = (repr((unit.name, unit.text, unit.language, unit.flags)) for unit in self.units)
        environments = (repr(asdict(e)) for e in self.environments)
        for part in (self.signature.name, *units, *environments, *self.flags, *extra):
            digest.update(part.encode())
            digest.update(b"\0")
        return digest.hexdigest()[:32]
