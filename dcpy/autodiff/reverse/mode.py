"""Reverse mode: gradients of a program, by going through its statements backwards.

``A_bar`` is the derivative of what is differentiated by the elements of ``A``. Reversed, a statement takes the adjoints
of what it wrote, leaves 0 there, and adds their products with its partials to the adjoints of what it read. The values
in partials are those that it read (`dcpy.autodiff.versions`).

Griewank and Walther, Evaluating Derivatives (2008), chapters 3 and 4.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dcpy.autodiff.activity import Activity
from dcpy.autodiff.assignments import number
from dcpy.autodiff.obstacles import refuse
from dcpy.autodiff.reverse.bodies import NodeWriter, ReversedBody
from dcpy.autodiff.reverse.code import AdjointCode
from dcpy.autodiff.reverse.items import ItemTree, LetItem, LibraryItem, LoopItem, Opaque, Pointwise, ProgramItem
from dcpy.autodiff.reverse.operands import AdjointOperands
from dcpy.autodiff.reverse.preparation import prepare_for_reversal
from dcpy.autodiff.reverse.statements import ReversedStatements
from dcpy.autodiff.versions import ReadVersions
from dcpy.base.errors import GradientRefused
from dcpy.ir.analysis.dataflow.value_ranges import ranges_at
from dcpy.ir.data import Array, Scalar
from dcpy.ir.editing.rewriter import Rewriter, rewriting
from dcpy.ir.expressions.scalar import Index, Ref, ScalarExpr, loads_of, op, symbols_of
from dcpy.ir.memlet import Memlet
from dcpy.ir.region import Check, Loop, Return, SymbolAssign
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Range, Subset
from dcpy.ir.symbolic import ZERO, Expr, sym


@dataclass(frozen=True)
class SeedNames:
    """Names of the arguments that take seeds: for results in the order asked for, for updated arguments by name."""

    results: tuple[str, ...]
    arguments: dict[str, str]


def reverse_mode(
    sdfg: Sdfg,
    wrt: Sequence[str],
    *,
    results: Sequence[int] | None = None,
    seeded: Sequence[str] = (),
    sizes: Mapping[str, int] | None = None,
) -> SeedNames:
    """Add the gradients by some floating-point arguments, in place.

    The SDFG then returns a pair: what it returned before, and a tuple of gradients in the order of `wrt`. Some of its
    `results`, by number, each as often as it has a seed, and of its updated arguments, `seeded`, have seeds; with None
    its only result is a number, and has the seed 1. What holds for `sizes`, values of symbols, may be assumed of a
    call. Raises `GradientRefused`.
    """
    prepare_for_reversal(sdfg, wrt)
    with rewriting(sdfg, f"reverse-mode{{wrt=({','.join(wrt)})}}") as rw:
        return ReverseMode(rw, wrt, results, seeded, sizes or {}).run()


class ReverseMode:
    """The transformation at work on one SDFG."""

    def __init__(
        self,
        rw: Rewriter,
        wrt: Sequence[str],
        results: Sequence[int] | None,
        seeded: Sequence[str],
        sizes: Mapping[str, int],
    ) -> None:
        self.rw, self.wrt, self.seeded = rw, tuple(wrt), tuple(seeded)
        self.sizes = sizes
        self.places = None if results is None else tuple(results)
        self.floats = [
            place
            for place, result in enumerate(rw.sdfg.results)
            if result.container and rw.uses.desc(result.container).dtype.is_inexact
        ]
        self.activity = Activity(rw.uses, wrt)
        goals = [*(rw.sdfg.results[place].container for place in self.floats), *seeded]
        self.activity.keep_useful(goals)
        self._require_real()
        self.program = ItemTree(rw.uses, self.activity)
        self.versions = ReadVersions(rw, self.program)
        self.writer = NodeWriter(rw)
        self.codes: dict[Pointwise, AdjointCode] = {}
        self.operands = AdjointOperands(rw, self.program, self.versions, self.wrt)

    def _require_real(self) -> None:
        for base in self.activity.bases:
            desc = self.rw.uses.desc(base)
            if desc.dtype.kind == "c":
                raise GradientRefused(f"{base!r} is complex: complex numbers have no gradients yet", span=desc.span,
                                      help="dcpy.jvp takes them, or compute with real and imaginary parts")  # fmt: skip
            if isinstance(desc, Array) and (desc.alias or desc.distribution is not None):
                raise GradientRefused(f"{base!r} may overlap with another argument, or is distributed", span=desc.span,
                                      help="pass arrays that do not overlap, for instance copies")  # fmt: skip

    def run(self) -> SeedNames:
        """Announce what is read, save it, write the reversed program behind the program."""
        for block in self.rw.sdfg.body.walk_blocks():
            if isinstance(block, Return):
                refuse("a return in the middle is not reversed yet", block, "return once, at the end")
        lets = self._announce()
        self.versions.write_tapes()
        last = ReversedBody(None, {})
        names = self._seeds(last)
        statements = ReversedStatements(self.rw, self.writer, self.operands, self.codes, self._assumed)
        self._reverse(self.program.items, last, statements, lets)
        for base in self.wrt:
            if base in last.untouched:
                self.operands.touch(base, last, self.writer)
        finished = last.finished()
        for name, desc in finished.containers.items():
            self.rw.declare(name, desc)
        for block in list(finished.blocks):
            finished.remove(block)
            self.rw.insert(block, self.rw.sdfg.body)
        self._results()
        return names

    def _assumed(self, fact: Expr, item: ProgramItem) -> bool:
        """Return whether an expression is at least 0 at an item: it is proved, or assumed of calls from now on."""
        sdfg = self.rw.sdfg
        if ranges_at(item.element).proves_nonneg(fact):
            return True
        if not fact.is_linear or not set(fact.symbols) <= set(self.sizes) & set(sdfg.symbols):
            return False
        if (fact.subs(self.sizes).constant or 0) < 0:
            return False
        if fact not in sdfg.assumptions:
            sdfg.assumptions.append(fact)
        return True

    # -- what is read ------------------------------------------------------------------------------------------------

    def _announce(self) -> dict[str, LetItem]:
        symbols: set[str] = set()
        for item in self.program.walk():
            match item:
                case Pointwise(is_active=True):
                    self.codes[item] = code = AdjointCode(item, self.activity.inputs(item.inputs),
                                                          self.activity.inputs(item.outputs))  # fmt: skip
                    for name in sorted(code.values_read()):
                        self.versions.request(item.inputs[name], item)
                    symbols.update(_symbols_of(item))
                case LibraryItem():
                    for name in self.operands.needed(item):
                        self.versions.request(item.node.inputs[name], item, ordered=True)
                    operands = [*item.node.reads(), *item.node.writes()]
                    symbols.update(s for memlet in operands for s in memlet.subset.symbols)
                case LoopItem():
                    symbols.update(item.loop.range.symbols)
        for found in self.versions.again.values():
            symbols.update(_symbols_of(found.writer))
        return self._lets(symbols)

    def _lets(self, symbols: set[str]) -> dict[str, LetItem]:
        """The assignments in loops that reversed statements need; their values are announced, too."""
        found: dict[str, LetItem] = {}
        pending = sorted(symbols & set(self.rw.sdfg.assigned_symbols))
        for name in pending:  # grows: values have symbols, too
            definers = self.rw.uses.definers(name)
            items = [item for item in self.program.walk() if isinstance(item, LetItem) and item.element in definers]
            if len(definers) != 1 or len(items) != 1:
                refuse(f"{name!r} is assigned in more than one place, or under a condition", definers[0],
                       "use a name for each value that indices and bounds depend on")  # fmt: skip
            item = items[0]
            if item.around is None:
                continue
            found[name] = item
            assert isinstance(item.element, SymbolAssign)
            for load in loads_of(item.element.value):
                self.versions.request(Memlet(load.container, Subset(load.indices)), item)
            again = [other for writer in self.versions.again.values() for other in _symbols_of(writer.writer)]
            for other in (*symbols_of(item.element.value), *again):
                if other in self.rw.sdfg.assigned_symbols and other not in pending:
                    pending.append(other)
        return found

    # -- the reversed program ----------------------------------------------------------------------------------------

    def _reverse(
        self,
        items: Sequence[ProgramItem],
        body: ReversedBody,
        statements: ReversedStatements,
        lets: Mapping[str, LetItem],
    ) -> None:
        for item in items:
            if isinstance(item, LetItem) and item.around is not None and item in lets.values():
                self.operands.let_again(item, body)
            elif isinstance(item, Pointwise):
                self.operands.compute_again(item, body)
        for item in reversed(items):
            match item:
                case Pointwise(is_active=True):
                    statements.pointwise(item, body)
                case LibraryItem():
                    statements.library(item, body)
                case LoopItem():
                    self._loop(item, body, statements, lets)
                case Opaque() | LetItem() | Pointwise():
                    pass

    def _loop(
        self, item: LoopItem, around: ReversedBody, statements: ReversedStatements, lets: Mapping[str, LetItem]
    ) -> None:
        for base in sorted(item.reads | item.writes):
            if base in around.untouched:
                self.operands.touch(base, around, self.writer)
        loop = item.loop
        param = self.rw.fresh_name(f"{loop.param}_back")
        values = loop.range
        back = Range(values.last, values.start - values.step, -values.step).subs(around.env)
        body = ReversedBody(item, {**around.env, loop.param: sym(param)})
        for inner in item.items:
            if isinstance(inner, LetItem) and inner in lets.values():
                self.operands.name_again(inner, body)
        self.operands.open(body)
        self._reverse(item.items, body, statements, lets)
        for base in list(body.untouched):
            del body.untouched[base]
        around.blocks.append(Loop(param, back, body.finished(), span=loop.span))

    # -- seeds and results -------------------------------------------------------------------------------------------

    def _seeds(self, last: ReversedBody) -> SeedNames:
        rw = self.rw
        self.operands.open(last)
        results: list[str] = []
        arguments: dict[str, str] = {}
        if self.places is None:
            place = self._only_number()
            container = rw.sdfg.results[place].container
            if self.activity.holds(container):
                desc = rw.uses.desc(container)
                target = self.operands.bar_of(Memlet(container, Subset()), last)
                del last.untouched[self.activity.base(container)]
                node = self.writer.pointwise({}, ((), ()), {}, {"out": target}, [("out", number(1.0, desc.dtype))])
                last.add(node)
            return SeedNames((), {})
        for place in self.places:
            container = rw.sdfg.results[place].container
            results.append(self._seed(container, last, f"return{len(results)}"))
        for name in self.seeded:
            arguments[name] = self._seed(name, last, name)
        return SeedNames(tuple(results), arguments)

    def _start(self, container: str, last: ReversedBody) -> None:
        """Fill the adjoint of a result with zeros: a part of it gets a seed, or what it is added to."""
        base = self.activity.base(container)
        if base in last.untouched:
            self.operands.touch(base, last, self.writer)

    def _seed(self, container: str, last: ReversedBody, stem: str) -> str:
        """An argument for a seed, added to the adjoint of a container."""
        rw = self.rw
        desc = rw.uses.desc(container)
        shape = tuple(self._named_size(size, stem) for size in desc.shape)
        own = Array.packed(desc.dtype, shape) if shape else Scalar(desc.dtype)
        name = rw.declare_fresh(f"{stem}_seed", own)
        rw.sdfg.arguments.append(name)
        if not self.activity.holds(container):
            return name
        self._start(container, last)
        params = tuple(rw.fresh_name("z") for _ in desc.shape)
        place = Subset(tuple(map(sym, params)))
        target = self.operands.bar_of(Memlet(container, place), last)
        code: list[tuple[str, ScalarExpr]] = [("sum", op("add", Ref("bar", desc.dtype), Ref("seed", desc.dtype)))]
        inputs = {"bar": target, "seed": Memlet(name, place)}
        domain = [Range(ZERO, size) for size in desc.shape]
        last.add(self.writer.pointwise({}, (params, domain), inputs, {"sum": target}, code, named=True))
        return name

    def _named_size(self, size: Expr, stem: str) -> Expr:
        """A size of an argument: a number or a symbol, else a symbol of its own that is checked."""
        sdfg = self.rw.sdfg
        if size.constant is not None or str(size) in sdfg.symbols:
            return size
        named = sym(sdfg.add_symbol(self.rw.fresh_name("S"), size=True))
        holds = op("eq", Index(named), Index(size))
        check = Check(holds, "ValueError", f"the seed of {stem} has the size {{0}} where {{1}} is needed",
                      (Index(named), Index(size)))  # fmt: skip
        is_free = set(size.symbols) <= set(sdfg.symbols)
        self.rw.insert(check, sdfg.body, 0 if is_free else None)
        return named

    def _only_number(self) -> int:
        rw = self.rw
        numbers = [place for place in self.floats if not rw.uses.desc(rw.sdfg.results[place].container).shape]
        if len(self.floats) != 1 or len(numbers) != 1 or len(rw.sdfg.results) != 1:
            raise GradientRefused(
                f"{rw.sdfg.name}() does not return one real number",
                span=rw.sdfg.span,
                help="dcpy.vjp takes a seed for each result, and for arguments that are updated",
            )
        return numbers[0]

    def _results(self) -> None:
        sdfg = self.rw.sdfg
        results = list(sdfg.results)
        places = []
        for name in self.wrt:
            desc = self.rw.uses.desc(name)
            places.append(len(results))
            results.append(Result("array" if desc.shape else "scalar", self.operands.bars[name]))
        sdfg.results = tuple(results)
        sdfg.structure = (sdfg.structure, tuple(places))


def _symbols_of(item: Pointwise) -> list[str]:
    """The symbols in the memlets, the domain and the code of an item."""
    memlets = [*item.inputs.values(), *item.outputs.values()]
    found = [name for memlet in memlets for name in memlet.subset.symbols]
    found += [name for values in item.domain for name in values.symbols]
    return found + [name for _, value in item.code for name in symbols_of(value)]
