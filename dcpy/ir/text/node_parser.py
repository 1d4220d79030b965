"""Parses nodes and their memlets. What is inside the braces of a scope is read by `parser`."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from dcpy.ir.data import Data
from dcpy.ir.expressions.scalar import ScalarExpr
from dcpy.ir.field_roles import Role
from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.memlet import CONFLICT_RESOLUTIONS, Memlet
from dcpy.ir.nodes import Call, Callback, Copy, ForeignCall, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Region
from dcpy.ir.schedules import SCHEDULES, UNDECIDED, Schedule
from dcpy.ir.sdfg import Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr
from dcpy.ir.text.declaration_parser import DeclarationParser
from dcpy.ir.text.lexer import Token
from dcpy.ir.text.printer import properties
from dcpy.ir.types import DType


class NodeParser(DeclarationParser):
    """A cursor that reads nodes."""

    def __init__(self, text: str, file: str = "<text>") -> None:
        super().__init__(text, file)
        self.bound: dict[str, None] = {}  # parameters: symbols that are not free
        self.sdfgs: dict[str, Sdfg] = {}  # by name; those that were only called so far are empty
        self.calls: dict[str, Token] = {}

    def body(self, containers: dict[str, Data] | None = None) -> Region:
        """A region in braces, in which `containers` are declared already."""
        raise NotImplementedError

    def node(self) -> Node | None:
        """The node at the cursor; None where something else begins there."""
        match self.token.text if self.token.kind == "name" else "":
            case "tasklet":
                return self._tasklet()
            case "copy" | "move" as word:
                self.advance()
                src = self.memlet()
                self.expect("->")
                return Copy(src, self.memlet(), moves=word == "move")
            case "map":
                return self._map()
            case "call":
                return self._call_node()
            case "foreign":
                return self._foreign()
            case "callback":
                return self._library(self.advance())
            case kind if kind in LIBRARY_KINDS and self.peek().text == "(":
                return self._library(self.advance())
        return None

    def memlet(self) -> Memlet:
        """``A[i, 0:N]``, ``acc (add)``."""
        at = self.token
        container = self.identifier("the name of a container")
        if self.find(container) is None:
            self.fail(f"no container is called {container!r} here", at=at)
        subset = self.subset()
        wcr, dynamic = "", False
        if self.at("(") and self.peek().text in (*CONFLICT_RESOLUTIONS, "dynamic"):
            for option in self.list_of(lambda: self.identifier("an option of a memlet")):
                if option == "dynamic":
                    dynamic = True
                elif option in CONFLICT_RESOLUTIONS:
                    wcr = option
                else:
                    self.fail(f"no conflict resolution is called {option!r}")
        return Memlet(container, subset, wcr, dynamic)

    def flow(self) -> tuple[dict[str, Memlet], dict[str, Memlet]]:
        """``(a <- x[i]) -> (o -> y[i])``."""
        inputs = self._connectors("<-")
        return inputs, self._connectors("->") if self.accept("->") else {}

    def _connectors(self, arrow: str) -> dict[str, Memlet]:
        table: dict[str, Memlet] = {}

        def entry() -> None:
            at = self.token
            name = self.identifier("the name of a connector")
            if name in table:
                self.fail(f"connector {name!r} is there twice", at=at)
            self.expect(arrow)
            table[name] = self.memlet()

        self.list_of(entry)
        return table

    def _tasklet(self) -> Tasklet:
        self.advance()
        name = "" if self.at("(") else self.identifier("the name of a tasklet")
        at = self.token
        inputs, outputs = self.flow()
        self.expect("{")
        code = self.code(self._dtypes(inputs, at), self._dtypes(outputs, at))
        self.expect("}")
        return Tasklet(inputs, outputs, code, name)

    def _dtypes(self, memlets: dict[str, Memlet], at: Token) -> dict[str, DType]:
        table: dict[str, DType] = {}
        for name, memlet in memlets.items():
            desc = self.find(memlet.container)
            if desc is None:
                self.fail(f"{memlet.container!r} is no container here", at=at)
            table[name] = desc.dtype
        return table

    def code(self, refs: dict[str, DType], outputs: dict[str, DType]) -> tuple[tuple[str, ScalarExpr], ...]:
        """Assignments, with ``;`` between them if you like."""
        self.refs = names = dict(refs)
        code: list[tuple[str, ScalarExpr]] = []
        while self.token.kind in ("name", "quoted"):
            name = self.identifier("a connector")
            self.expect("=")
            value = self.scalar(outputs.get(name))
            names[name] = value.dtype
            code.append((name, value))
            while self.accept(";"):
                pass
        self.refs = {}
        return tuple(code)

    def _map(self) -> Map:
        self.advance()
        params: list[str] = []
        domain: list[Range] = []
        while not params or self.accept(","):
            params.append(self.bind())
            self.expect("=")
            domain.append(self.range())
        home = self.distribution() if self.accept("home") else None
        schedule = self.schedule(UNDECIDED)
        claimed = self.accept("claimed")
        return Map(tuple(params), tuple(domain), self.body(), schedule, claimed, home)

    def schedule(self, default: Schedule) -> Schedule:
        """``@parallel{chunk = 64}``, if there is one."""
        if not self.accept("@"):
            return default
        token = self.token
        word = self.identifier("a schedule")
        kind = SCHEDULES.get(word)
        if kind is None:
            self.fail(f"no schedule is called {word!r}", at=token, help=f"there are {', '.join(SCHEDULES)}")
        known = [field.name for field in fields(kind)]
        if self.token.text == "{" and self.peek().text in known and self.peek(2).text == "=":
            self.advance()
            return kind(**self.numbers(kind, f"@{word}"))
        return kind()

    def numbers(self, kind: type[Any], owner: str) -> dict[str, Any]:
        """``chunk = 64, width = 4}``, values of fields of a dataclass; the opening brace has been read."""
        known = {field.name: field.default for field in fields(kind)}
        values: dict[str, Any] = {}
        while not self.accept("}"):
            token = self.token
            name = self.identifier("a parameter")
            if name not in known:
                self.fail(f"{owner} has no parameter {name!r}", at=token, help=f"it has {', '.join(known)}")
            if name in values:
                self.fail(f"{owner} has two values of {name!r}", at=token)
            self.expect("=")
            in_words = isinstance(known[name], str)
            values[name] = self.word(kind.words, name) if in_words else self.integer("a number")
            self.accept(",")
        return values

    def _call_node(self) -> Call:
        self.advance()
        self.expect("@")
        at = self.token
        name = self.identifier("the name of an SDFG")
        self.calls.setdefault(name, at)
        arguments: dict[str, Memlet] = {}
        symbols: dict[str, Expr] = {}

        def argument() -> None:
            key = self.identifier("the name of an argument")
            self.expect("=")
            arguments[key] = self.memlet()

        def symbol() -> None:
            key = self.identifier("the name of a symbol")
            self.expect("=")
            symbols[key] = self.symbolic()

        self.list_of(argument)
        if self.accept("with"):
            self.list_of(symbol)
        return Call(self.sdfgs.setdefault(name, Sdfg(name)), arguments, symbols, bool(self.accept("outlined")))

    def _library(self, kind: Token) -> Node:
        cls = Callback if kind.text == Callback.kind else LIBRARY_KINDS[kind.text]
        inputs, outputs = self.flow()
        values: dict[str, Any] = {}
        if self.at("{"):
            self.list_of(lambda: values.update([self._property(cls)]), "{", "}")
        known = {field.name: field for field in properties(cls)}
        for name in values:
            if name not in known:
                self.fail(f"{kind.text} has no property {name!r}", at=kind, help=f"it has {', '.join(known) or 'none'}")
        for name, field in known.items():
            if name not in values and field.default is MISSING and field.default_factory is MISSING:
                self.fail(f"{kind.text} needs its property {name!r}", at=kind)
        return cls(inputs=inputs, outputs=outputs, **values)

    def _property(self, cls: type[LibraryNode | Callback]) -> tuple[str, Any]:
        name = self.identifier("the name of a property")
        self.expect("=")
        of_sections = self.at("[") or (self.at("(") and self.peek().text == "[")
        if cls.roles.get(name) is not Role.BOUND or of_sections:
            return name, self.value()
        of_several = any(field.name == name and str(field.type).startswith("tuple") for field in properties(cls))
        return name, self.list_of(self.symbolic) if of_several else self.symbolic()

    def _foreign(self) -> ForeignCall:
        at = self.advance()
        inputs, outputs = self.flow()
        environment = self.identifier("the name of an environment") if self.accept("from") else ""
        ordered = self.accept("ordered")
        self.expect("{")
        result = ""
        if self.peek().text == "=":
            result = self.identifier("a connector")
            self.expect("=")
        function = self.identifier("the name of a C function")
        self.refs = self._dtypes(inputs, at)
        args = self.list_of(lambda: self.identifier("a connector") if self.accept("&") else self.scalar())
        self.refs = {}
        self.expect("}")
        return ForeignCall(function, args, inputs, outputs, environment, result, ordered)

    def bind(self) -> str:
        """The name of a parameter."""
        name = self.identifier("the name of a parameter")
        self.bound[name] = None
        self.seen_symbols.setdefault(name, False)
        return name
