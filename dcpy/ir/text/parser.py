"""Parses the textual IR into an SDFG: the inverse of `printer`, more forgiving than it.

Recursive descent over `DeclarationParser` and `ExprParser`. Left out may be: names of states and tasklets, the state
around nodes (then they form an anonymous one), and the declaration of symbols that sizes, ranges or subsets mention.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from dcpy.base.assumptions import Assumption
from dcpy.base.errors import ParseError
from dcpy.base.printable_text import printable
from dcpy.ir.data import GONE, Data
from dcpy.ir.distribution import ProcessGrid
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.files.limits import DEEPEST_REGION
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.region import (
    Block,
    Branch,
    Break,
    Check,
    Continue,
    Dataflow,
    Loop,
    Process,
    Region,
    Resize,
    Return,
    State,
    SymbolAssign,
    While,
)
from dcpy.ir.schedules import SEQUENTIAL
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr
from dcpy.ir.text.declaration_parser import DECLARATIONS
from dcpy.ir.text.expr_parser import ExprParser
from dcpy.ir.text.expr_printer import SUM
from dcpy.ir.text.node_parser import NodeParser
from dcpy.ir.text.printer import default_structure
from dcpy.ir.types import DType, int64
from dcpy.ir.verify import verify_readable

RESULT_KINDS = ("array", "scalar", "python", "argument", "view", "readonly")


def parse_sdfg(text: str, file: str = "<text>") -> Sdfg:
    """The first SDFG that `text` defines, with the others as callees. `ParseError` shows the line and the place."""
    with _reading():
        sdfg = _SdfgParser(text, file).program()
    verify_readable(sdfg)
    return sdfg


@contextmanager
def _reading() -> Iterator[None]:
    """Any error of a class about its values is a `ParseError`."""
    try:
        yield
    except ParseError:
        raise
    except RecursionError:
        raise ParseError("this text nests its parts too deep") from None
    except Exception as error:
        raise ParseError(f"this text cannot be read: {printable(str(getattr(error, 'message', error)))}") from error


def parse_code(
    text: str, refs: dict[str, DType], outputs: dict[str, DType], symbols: tuple[str, ...] = ()
) -> tuple[tuple[str, ScalarExpr], ...]:
    """The code of a tasklet: assignments, one per line or with ``;`` between. `refs` are the dtypes of its inputs,
    `outputs` those of its outputs; names that are neither are symbols, of those in `symbols`."""
    with _reading():
        parser = _SdfgParser(text, "<tasklet>")
        parser.seen_symbols.update(dict.fromkeys(symbols, False))
        code = parser.code(refs, outputs)
        if parser.token.kind != "end":
            parser.fail(f"expected an assignment, found {parser.found()}")
    return code


def parse_scalar(
    text: str, containers: dict[str, Data], symbols: tuple[str, ...] = (), dtype: DType | None = None
) -> ScalarExpr:
    """A condition or the value of a symbol: reads `containers` as ``x[]`` or ``A[i, j]``."""
    with _reading():
        parser = ExprParser(text, "<expression>")
        parser.scopes.append(containers)
        parser.seen_symbols.update(dict.fromkeys(symbols, False))
        expr = parser.scalar(dtype)
        if parser.token.kind != "end":
            parser.fail(f"unexpected {parser.found()}")
    return expr


class _SdfgParser(NodeParser):
    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.sdfg = Sdfg("")

    # -- definitions -------------------------------------------------------------------------------------------

    def program(self) -> Sdfg:
        first: Sdfg | None = None
        defined: dict[str, None] = {}
        while self.token.kind != "end":
            at = self.token
            sdfg = self.definition()
            if sdfg.name in defined:
                self.fail(f"two SDFGs are called {sdfg.name!r}", at=at)
            defined[sdfg.name] = None
            first = first or sdfg
        for name, at in self.calls.items():
            if name not in defined:
                self.fail(f"no SDFG called {name!r} is defined here", at=at)
        return first or self.fail("expected an SDFG: sdfg @name(arguments) { ... }")

    def definition(self) -> Sdfg:
        self.expect("sdfg")
        self.expect("@")
        name = self.identifier("the name of the SDFG")
        self.sdfg = sdfg = self.sdfgs.setdefault(name, Sdfg(name))
        self.seen_symbols, self.bound, self.refs = {}, {}, {}
        self.scopes = [sdfg.body.containers]
        self.list_of(self._argument)
        if self.accept("symbols"):
            self.list_of(self._symbol)
        if self.accept("grids"):
            self.list_of(self._grid)
        if self.accept("assumes"):
            sdfg.assumptions = list(self.list_of(self._assumption))
        if self.accept("->"):
            self._results()
        self.expect("{")
        while self.at("constant") and self.peek(2).text == ":":
            self.advance()
            constant, value = self.constant()
            sdfg.constants[constant] = value
        self.region(sdfg.body)
        self._declare_symbols()
        sdfg.forget_names()
        return sdfg

    def _argument(self) -> None:
        at = self.token
        name = self.identifier("the name of an argument")
        if name in self.sdfg.arguments:
            self.fail(f"{name!r} is declared twice", at=at)
        self.sdfg.arguments.append(name)
        if not self.accept(":"):
            self.seen_symbols.setdefault(name, False)
            return
        keyword = self.advance().text if self.at(*DECLARATIONS) else "data"
        self.sdfg.body.containers[name] = self.descriptor(keyword)

    def _symbol(self) -> None:
        """``N``, ``N: size``, ``n: i32``, ``n: size i32``, ``N: size{least = 1, multiple_of = 8}``."""
        name = self.identifier("the name of a symbol")
        size, dtype = True, int64
        if self.accept(":"):
            size = self.accept("size")
            if self.token.kind == "name":
                dtype = self.dtype()
        self.sdfg.add_symbol(name, dtype, size=size)
        self.seen_symbols.setdefault(name, False)
        at = self.token
        if self.accept("{"):
            assumed = Assumption(**self.numbers(Assumption, f"the symbol {name!r}"))
            if problem := assumed.problem(size=size):
                self.fail(f"the assumptions about the symbol {name!r} cannot hold: {problem}", at=at)
            self.sdfg.assumed[name] = assumed

    def _grid(self) -> None:
        """``g[Px, Py]``."""
        at = self.token
        name = self.identifier("the name of a grid")
        if name in self.sdfg.grids:
            self.fail(f"the grid {name!r} is declared twice", at=at)
        self.sdfg.grids[name] = ProcessGrid(self.list_of(lambda: self.symbolic(size=True), "[", "]"))

    def _assumption(self) -> Expr:
        """``N >= M + 4``."""
        left = self.symbolic(level=SUM)
        self.expect(">=")
        return left - self.symbolic(level=SUM)

    def _declare_symbols(self) -> None:
        """Symbols that are used and not declared: those that sizes depend on are sizes."""
        for name, is_size in self.seen_symbols.items():
            if not (name in self.sdfg.symbols or name in self.bound or name in self.sdfg.assigned_symbols):
                self.sdfg.add_symbol(name, size=is_size)

    def _results(self) -> None:
        results = self.list_of(self._result)
        self.sdfg.results = results
        self.sdfg.structure = self.value() if self.accept("as") else default_structure(len(results))

    def _result(self) -> Result:
        if self.accept("constant"):
            self.expect("=")
            return Result("constant", value=self.value())
        name = self.identifier("the container of a result")
        self.expect(":")
        token = self.token
        kind = self.identifier("the kind of a result")
        if kind not in RESULT_KINDS:
            self.fail(f"no result is of kind {kind!r}", at=token, help=f"there are {', '.join(RESULT_KINDS)}")
        return Result(kind, name)

    # -- regions and blocks ------------------------------------------------------------------------------------

    def region(self, region: Region) -> Region:
        """Declarations and blocks up to the closing brace; the opening one has been read."""
        if region is not self.sdfg.body:
            self.scopes.append(region.containers)
        if len(self.scopes) > DEEPEST_REGION:
            self.fail(f"loops, branches and maps are nested more than {DEEPEST_REGION} deep")
        self.declarations(region.containers)
        anonymous: State | None = None
        while not self.accept("}"):
            node = self.node()
            if node is None:
                anonymous = None
                region.add(self.block())
            elif anonymous is None:
                anonymous = State("", [node])
                region.add(anonymous)
            else:
                anonymous.add(node)
        if region is not self.sdfg.body:
            self.scopes.pop()
        return region

    def body(self, containers: dict[str, Data] | None = None) -> Region:
        self.expect("{")
        return self.region(Region((), containers))

    def block(self) -> Block:
        readers: dict[str, Callable[[], Block]] = {
            "state": self._state,
            "loop": self._loop,
            "while": self._while,
            "if": self._branch,
            "dataflow": lambda: Dataflow(self.body()),
            "process": self._process,
            "let": self._let,
            "resize": self._resize,
            "check": self._check,
            "break": Break,
            "continue": Continue,
            "return": Return,
        }
        if self.at(*DECLARATIONS):
            self.fail("containers are declared before the first block of their region")
        if self.token.text in GONE and self.peek(2).text == ":":
            self.fail(f"there is no {self.token.text} in an SDFG any more", help=GONE[self.token.text])
        if not self.at(*readers):
            self._no_node()
        return readers[self.advance().text]()

    def _no_node(self) -> NoReturn:
        """The error for a word that begins no node where one is needed."""
        if self.token.kind == "name" and self.peek().text == "(":
            unknown = LIBRARY_KINDS.unknown(self.token.text)
            self.fail(unknown.message, help=unknown.help)
        self.fail(f"{self.found()} begins no node", help="a state holds nodes only; blocks stand beside states")

    def _state(self) -> State:
        name = "" if self.at("{") else self.identifier("the name of a state")
        self.expect("{")
        state = State(name)
        while not self.accept("}"):
            node = self.node()
            if node is None:
                self._no_node()
            state.add(node)
        return state

    def _loop(self) -> Loop:
        param = self.bind()
        self.expect("=")
        domain = self.range()
        schedule = self.schedule(SEQUENTIAL)
        return Loop(param, domain, self.body(), schedule)

    def _while(self) -> While:
        condition = self.scalar()
        return While(condition, self.body())

    def _branch(self) -> Branch:
        condition = self.scalar()
        cases = [(condition, self.body())]
        while self.accept("elif"):
            condition = self.scalar()
            cases.append((condition, self.body()))
        return Branch(cases, self.body() if self.accept("else") else None)

    def _process(self) -> Process:
        name = self.identifier("the name of a process")
        params: list[str] = []
        domain: list[Range] = []
        while self.accept(",") if params else self.peek().text == "=":
            params.append(self.bind())
            self.expect("=")
            domain.append(self.range())
        endless = self.accept("endless")
        return Process(name, tuple(params), tuple(domain), self.body(), endless)

    def _let(self) -> SymbolAssign:
        symbol = self.identifier("the name of a symbol")
        dtype = self.dtype() if self.accept(":") else self.sdfg.assigned_symbols.get(symbol, int64)
        self.expect("=")
        self.seen_symbols.setdefault(symbol, False)
        value = self.scalar(dtype)
        if symbol not in self.sdfg.symbols:
            self.sdfg.assign_symbol(symbol, dtype)
        return SymbolAssign(symbol, value)

    def _resize(self) -> Resize:
        container = self.identifier("the name of an array")
        self.expect(":")
        assign = self._let()
        self.expect("keep")
        return Resize(assign.symbol, assign.value, container, self.symbolic())

    def _check(self) -> Check:
        condition = self.scalar()
        self.expect("else")
        exception = self.identifier("the name of an exception")
        message = self.string("a message")
        values = self.list_of(self.scalar) if self.at("(") else ()
        return Check(condition, exception, message, values)
