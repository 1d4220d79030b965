"""The stateful dataflow multigraph: arguments, symbols, results, and one region that runs.

This file holds the structure and look-ups. Algorithms are functions elsewhere: `ir.text` prints and parses, `ir.verify`
checks, `ir.interp` runs, `ir.editing.rewriter` changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import InvalidSdfg
from dcpy.base.source import SrcSpan
from dcpy.ir import types
from dcpy.ir.data import Data
from dcpy.ir.distribution import ProcessGrid, coordinate_names
from dcpy.ir.region import Region, SymbolAssign
from dcpy.ir.symbolic import Expr, ExprLike
from dcpy.ir.types import DType


@dataclass(frozen=True, slots=True)
class Result:
    """One value that Python gets back.

    kind        container                      what Python gets
    ``array``   a non-transient, written array a new array (the caller allocates it, or the program
                                              where its size is known only while it runs)
    ``scalar``  a non-transient 0-d `Array`    a NumPy scalar
    ``python``  a non-transient 0-d `Array`    a Python bool, int, float or complex
    ``argument`` an argument                   the very object that was passed
    ``view``    a `View` of an argument, or of an array that shares its memory
                an array that is a result
    ``readonly`` such a `View`                the same, and it takes no writes
    ``constant`` (none)                        `value`: None, a number, a string
    """

    kind: str
    container: str = ""
    value: Any = None

    @property
    def is_view(self) -> bool:
        """Return whether it shows memory of an argument, or of another result."""
        return self.kind in ("view", "readonly")


class Sdfg:
    """A program. Names of containers, symbols and parameters are unique in it, nested regions included.

    `arguments` orders the names that a caller passes: containers that are not transient, and integer symbols.
    `symbols` has all free symbols (sizes, strides, integer arguments) with their dtypes. `sizes` lists those that are
    known not to be negative; `assumptions` are expressions over free symbols that are at least 0 in every run: guards,
    which the caller tests. `assumed` has what the user says of single free symbols: callers see to it that this holds,
    too, and refuse what breaks it. Symbols assigned by `SymbolAssign` are in `assigned_symbols`.
    `results` and `structure` say what Python gets back: `structure` nests indices into `results` (``0``,
    ``(0, 1)``), None for a function that returns nothing.
    `grids` are the grids of processes over which containers and maps of it are distributed, by name.
    `callbacks` binds the names of Python functions that the program calls; it is not saved.
    """

    def __init__(self, name: str, span: SrcSpan | None = None) -> None:
        self.name = name
        self.span = span
        self.arguments: list[str] = []
        self.symbols: dict[str, DType] = {}
        self.sizes: list[str] = []
        self.assumptions: list[Expr] = []
        self.assumed: dict[str, Assumption] = {}
        self.assigned_symbols: dict[str, DType] = {}
        self.constants: dict[str, np.ndarray[Any, Any]] = {}
        self.grids: dict[str, ProcessGrid] = {}
        self.results: tuple[Result, ...] = ()
        self.structure: Any = None
        self.body = Region()
        self.body.owner = self
        self.history: list[str] = []
        self.callbacks: dict[str, Any] = {}
        self._successors: dict[Any, Any] = {}  # of elements that were taken out, what runs instead of them
        self._used: dict[str, int] | None = None  # names in use, with the last number given; None: not known

    # -- declarations ------------------------------------------------------------------------------------------

    def declare(self, name: str, desc: Data, region: Region | None = None) -> str:
        """Declare a container in `region` (default: the outermost); return its name."""
        home = region or self.body
        if name in home.containers or name in self.symbols:
            raise InvalidSdfg(f"{name!r} is declared twice in {self.name!r}")
        home.containers[name] = desc
        self._take(name)
        return name

    def add_argument(self, name: str, desc: Data) -> str:
        """Declare a container that the caller passes."""
        self.declare(name, desc)
        self.arguments.append(name)
        return name

    def add_symbol(self, name: str, dtype: DType = types.int64, *, size: bool = False, argument: bool = False) -> str:
        """Declare a free symbol: a `size` (at least 0), a stride, or an integer `argument` of the program."""
        self.symbols.setdefault(name, dtype)
        self._take(name)
        if size and name not in self.sizes:
            self.sizes.append(name)
        if argument and name not in self.arguments:
            self.arguments.append(name)
        return name

    def assign_symbol(self, name: str, dtype: DType = types.int64) -> str:
        """Declare a symbol that `SymbolAssign` blocks give values to."""
        self.assigned_symbols.setdefault(name, dtype)
        self._take(name)
        return name

    def add_grid(self, name: str, *sizes: ExprLike | str) -> str:
        """Declare a grid of processes. Symbols in its sizes that are not known yet become sizes of at least 1."""
        grid = self.grids[name] = ProcessGrid.of(*sizes)
        for symbol in grid.symbols:
            if symbol not in self.symbols:
                self.add_symbol(symbol, size=True)
                self.assumed[symbol] = Assumption(least=1)
        for taken in (name, *coordinate_names(name, len(sizes))):
            self._take(taken)
        return name

    def fresh_name(self, stem: str) -> str:
        """A name that nothing in this SDFG has yet: `stem` itself, or with a number."""
        used = self._known_names()
        if stem not in used:
            used[stem] = 0
            return stem
        while True:
            used[stem] += 1
            name = f"{stem}_{used[stem]}"
            if name not in used:
                used[name] = 0
                return name

    def is_free(self, name: str) -> bool:
        """Return whether nothing in this SDFG has this name; unlike `fresh_name` it takes nothing."""
        return name not in self._known_names()

    def forget_names(self) -> None:
        """Recompute the used names at the next `fresh_name` (after an SDFG was built or changed by hand)."""
        self._used = None

    def _known_names(self) -> dict[str, int]:
        if self._used is None:
            self._used = dict.fromkeys(self._names_in_use(), 0)
        return self._used

    def _take(self, name: str) -> None:
        if self._used is not None:
            self._used.setdefault(name, 0)

    def _names_in_use(self) -> Iterator[str]:
        yield from self.symbols
        yield from self.assigned_symbols
        yield from self.constants
        for name, grid in self.grids.items():
            yield from (name, *coordinate_names(name, len(grid.sizes)))
        for region in self.body.walk_regions():
            yield from region.containers
            yield from region.params
        for block in self.body.walk_blocks():
            if isinstance(block, SymbolAssign):
                yield block.symbol

    # -- handles -----------------------------------------------------------------------------------------------

    def forward(self, old: Any, new: Any) -> None:
        """Let a handle to the node or block `old` mean `new` from now on."""
        self._successors[old] = new

    def current(self, element: Any) -> Any:
        """Return the present form of a node or block that was kept: itself, or its replacement."""
        while element in self._successors:
            element = self._successors[element]
        return element

    # -- look-ups ----------------------------------------------------------------------------------------------

    @property
    def containers(self) -> dict[str, Data]:
        """Containers of the outermost region: all arguments, and transients that are visible everywhere."""
        return self.body.containers

    def home_of(self, name: str) -> Region:
        """The region that declares a container; `InvalidSdfg` where none does. A search: not for inner loops."""
        for region in self.body.walk_regions():
            if name in region.containers:
                return region
        raise InvalidSdfg(f"no container {name!r} in {self.name!r}")

    def desc(self, name: str, region: Region | None = None) -> Data:
        """The descriptor of a container as seen from `region` (default: anywhere).

        With `region` the look-up climbs to the outermost one: cheap. `InvalidSdfg` where nothing of that name is
        visible.
        """
        scope: Region | None = region or (self.body if name in self.body.containers else self.home_of(name))
        while scope is not None:
            if name in scope.containers:
                return scope.containers[name]
            scope = scope.parent
        raise InvalidSdfg(f"no container {name!r} is visible here, in {self.name!r}")

    def redeclare(self, name: str, desc: Data) -> None:
        """Replace a container's descriptor: the one place where a change can be seen."""
        self.home_of(name).containers[name] = desc

    def with_callees(self) -> tuple[Sdfg, ...]:
        """The SDFG and all that it calls, at any depth, each once, as its text has them.

        First itself, then what it calls in program order, then what these call.
        """
        met = {self: None}
        pending = [self]
        for each in pending:  # grows while callees are met
            called = dict.fromkeys(call.sdfg for call in each.body.walk_calls() if call.sdfg not in met)
            met |= called
            pending += called
        return tuple(met)

    def is_argument(self, name: str) -> bool:
        return name in self.body.containers and not self.body.containers[name].transient
