"""Prints an SDFG as text: one construct per line, defaults left out, the same bytes for the same program.

`ir.text.parser` reads it back. Places in the Python source are not printed; JSON keeps them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields
from typing import Any

from dcpy.base.errors import InvalidSdfg
from dcpy.ir.data import Data
from dcpy.ir.memlet import Memlet
from dcpy.ir.nodes import Call, Callback, Copy, ForeignCall, LibraryNode, Map, Node, Tasklet
from dcpy.ir.region import Block, Branch, Check, Dataflow, Loop, Process, Region, Resize, State, SymbolAssign, While
from dcpy.ir.schedules import SEQUENTIAL
from dcpy.ir.sdfg import Result, Sdfg
from dcpy.ir.subsets import Range
from dcpy.ir.symbolic import Expr
from dcpy.ir.text.declaration_printer import print_argument, print_constant, print_declaration, print_value
from dcpy.ir.text.expr_printer import print_expr
from dcpy.ir.text.lexer import quote
from dcpy.ir.types import int64

INDENT = "  "


def print_sdfg(sdfg: Sdfg) -> str:
    """The text of `sdfg`, followed by the SDFGs that it calls. Ends without a line break."""
    printer = _SdfgPrinter(sdfg)
    texts = []
    for callee in printer.met:  # grows while callees are met
        printer.sdfg = callee
        texts.append("\n".join(printer.definition(callee)))
    return "\n\n".join(texts)


def print_block(block: Block, sdfg: Sdfg) -> str:
    """The text of one block."""
    return "\n".join(_SdfgPrinter(sdfg).block(block))


def print_node(node: Node, sdfg: Sdfg) -> str:
    """The text of one node."""
    return "\n".join(_SdfgPrinter(sdfg).node(node))


def print_assumption(fact: Expr) -> str:
    """``fact >= 0`` with nothing but sums: ``N >= M + 4``."""
    more = Expr(tuple(term for term in fact.terms if term[1] > 0))
    return f"{more} >= {more - fact}"


def properties(node: LibraryNode | Callback | type[LibraryNode | Callback]) -> tuple[Field[Any], ...]:
    """The dataclass fields of a library node that are its own."""
    common = {field.name for field in fields(LibraryNode)}
    return tuple(field for field in fields(node) if field.name not in common)


def print_properties(node: LibraryNode | Callback) -> list[str]:
    """``name = value`` for each property that does not have its default."""
    values = {field: getattr(node, field.name) for field in properties(node)}
    return [f"{field.name} = {print_value(value)}" for field, value in values.items() if not _is_default(field, value)]


class _SdfgPrinter:
    def __init__(self, sdfg: Sdfg) -> None:
        self.sdfg = sdfg
        self.met: list[Sdfg] = []
        self.names: dict[Sdfg, str] = {}
        self.name_of(sdfg)

    def name_of(self, sdfg: Sdfg) -> str:
        """The name of a definition in this text: the SDFG's own, with a number if another one has it."""
        if sdfg not in self.names:
            taken, name, count = set(self.names.values()), sdfg.name, 0
            while name in taken:
                count += 1
                name = f"{sdfg.name}_{count}"
            self.names[sdfg] = name
            self.met.append(sdfg)
        return self.names[sdfg]

    # -- definitions -------------------------------------------------------------------------------------------

    def definition(self, sdfg: Sdfg) -> list[str]:
        lookup = self._lookup(sdfg.body)
        arguments = [
            print_argument(name, sdfg.containers[name], lookup) if name in sdfg.containers else name
            for name in sdfg.arguments
        ]
        header = f"sdfg @{quote(self.names[sdfg])}({', '.join(arguments)})"
        if sdfg.symbols:
            header += f" symbols({', '.join(self._symbol(name) for name in sdfg.symbols)})"
        if sdfg.grids:
            header += f" grids({', '.join(f'{name}{grid}' for name, grid in sdfg.grids.items())})"
        if sdfg.assumptions:
            header += f" assumes({', '.join(map(print_assumption, sdfg.assumptions))})"
        if sdfg.results or sdfg.structure is not None:
            header += f" -> {self._results(sdfg)}"
        constants = [print_constant(name, value) for name, value in sdfg.constants.items()]
        return _braces(header, constants + self.region(sdfg.body))

    def _symbol(self, name: str) -> str:
        dtype, assumed = self.sdfg.symbols[name], str(self.sdfg.assumed.get(name, ""))
        if name not in self.sdfg.sizes:
            return f"{name}: {dtype}{assumed}"
        return f"{name}: size{assumed}" if dtype == int64 else f"{name}: size {dtype}{assumed}"

    def _results(self, sdfg: Sdfg) -> str:
        text = f"({', '.join(map(_result, sdfg.results))})"
        plain = sdfg.structure == default_structure(len(sdfg.results))
        return text if plain else f"{text} as {print_value(sdfg.structure)}"

    def _lookup(self, region: Region) -> Callable[[str], Data]:
        return lambda name: self.sdfg.desc(name, region)

    # -- regions and blocks ------------------------------------------------------------------------------------

    def region(self, region: Region) -> list[str]:
        """Declarations and blocks. The arguments of the SDFG are in its header, not here."""
        hidden = self.sdfg.arguments if region is self.sdfg.body else ()
        lookup = self._lookup(region)
        visible = {name: desc for name, desc in region.containers.items() if name not in hidden}
        lines = [print_declaration(name, desc, lookup) for name, desc in visible.items()]
        match region.blocks:
            case [State(name="", nodes=[_, *_] as nodes)] if isinstance(region.owner, Node):
                return lines + self.nodes(nodes)
        return lines + [line for block in region.blocks for line in self.block(block)]

    def block(self, block: Block) -> list[str]:
        match block:
            case State(name=name, nodes=nodes):
                return _braces(_words("state", name and quote(name)), self.nodes(nodes))
            case Loop() | While() | Dataflow() | Process():
                return _braces(_head(block), self.region(block.body))
            case Branch():
                return self._branch(block)
            case Resize():
                return [f"resize {block.container}: {block.symbol} = {print_expr(block.value)} keep {block.kept}"]
            case SymbolAssign():
                dtype = self.sdfg.assigned_symbols.get(block.symbol, int64)
                annotation = "" if dtype == int64 else f": {dtype}"
                return [f"let {block.symbol}{annotation} = {print_expr(block.value)}"]
            case Check():
                values = f" ({', '.join(map(print_expr, block.values))})" if block.values else ""
                message = json.dumps(block.message)
                return [f"check {print_expr(block.condition)} else {block.exception} {message}{values}"]
            case Block(kind="break" | "continue" | "return"):
                return [block.kind]
        raise InvalidSdfg(f"a block of kind {block.kind!r} has no text")

    def _branch(self, block: Branch) -> list[str]:
        lines: list[str] = []
        for condition, body in block.cases:
            word = "} elif" if lines else "if"
            lines += [f"{word} {print_expr(condition)} {{", *_indent(self.region(body))]
        if block.otherwise is not None:
            lines += ["} else {", *_indent(self.region(block.otherwise))]
        return [*lines, "}"]

    # -- nodes -------------------------------------------------------------------------------------------------

    def nodes(self, nodes: list[Node]) -> list[str]:
        return [line for node in nodes for line in self.node(node)]

    def node(self, node: Node) -> list[str]:
        match node:
            case Tasklet():
                names = (*node.inputs, *dict(node.code))
                code = "; ".join(f"{name} = {print_expr(value, names)}" for name, value in node.code)
                head = _words("tasklet", node.name and quote(node.name), _flow(node.inputs, node.outputs))
                return [f"{head} {{ {code} }}"]
            case Copy(src=src, dst=dst, moves=moves):
                return [f"{'move' if moves else 'copy'} {src} -> {dst}"]
            case Map():
                domain = _domain(node.params, node.domain)
                home = "" if node.home is None else f"home {node.home}"
                claimed = "claimed" if node.claimed else ""
                return _braces(_words("map", domain, home, str(node.schedule), claimed), self.region(node.body))
            case Call():
                return [self._call(node)]
            case LibraryNode() | Callback():
                return [_library(node)]
            case ForeignCall():
                return [_foreign(node)]
        raise InvalidSdfg(f"a node of kind {node.kind!r} has no text")

    def _call(self, node: Call) -> str:
        arguments = ", ".join(f"{name} = {memlet}" for name, memlet in node.arguments.items())
        symbols = ", ".join(f"{name} = {value}" for name, value in node.symbols.items())
        text = f"call @{quote(self.name_of(node.sdfg))} ({arguments})" + (f" with ({symbols})" if symbols else "")
        return f"{text} outlined" if node.outlined else text


def _head(block: Loop | While | Dataflow | Process) -> str:
    """Return the text before the body of a block that has one."""
    match block:
        case Loop():
            schedule = "" if block.schedule == SEQUENTIAL else str(block.schedule)
            return _words(f"loop {block.param} = {block.range}", schedule)
        case While():
            return f"while {print_expr(block.condition)}"
        case Process():
            domain = _domain(block.params, block.domain)
            return _words("process", quote(block.name), domain, "endless" if block.endless else "")
    return block.kind


def _domain(params: Sequence[str], domain: Sequence[Range]) -> str:
    return ", ".join(f"{param} = {dim}" for param, dim in zip(params, domain, strict=True))


def default_structure(count: int) -> int | tuple[int, ...] | None:
    """Return the default nesting of results: nothing, the one, or a flat tuple."""
    return (None, 0)[count] if count < 2 else tuple(range(count))


def _result(result: Result) -> str:
    if result.kind == "constant":
        return f"constant = {print_value(result.value)}"
    return f"{result.container}: {result.kind}"


def _library(node: LibraryNode | Callback) -> str:
    text = f"{node.kind} {_flow(node.inputs, node.outputs)}"
    own = print_properties(node)
    return f"{text} {{{', '.join(own)}}}" if own else text


def _is_default(field: Field[Any], value: object) -> bool:
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return type(value) is type(default) and repr(value) == repr(default)


def _foreign(node: ForeignCall) -> str:
    args = ", ".join(f"&{arg}" if isinstance(arg, str) else print_expr(arg, node.inputs) for arg in node.args)
    result = f"{node.result} = " if node.result else ""
    environment = f"from {quote(node.environment)}" if node.environment else ""
    head = _words("foreign", _flow(node.inputs, node.outputs), environment, "ordered" if node.ordered else "")
    return f"{head} {{ {result}{quote(node.function)}({args}) }}"


def _flow(inputs: Mapping[str, Memlet], outputs: Mapping[str, Memlet]) -> str:
    left = ", ".join(f"{name} <- {memlet}" for name, memlet in inputs.items())
    right = ", ".join(f"{name} -> {memlet}" for name, memlet in outputs.items())
    return f"({left}) -> ({right})"




def _braces(head: str, lines: list[str]) -> list[str]:
    return [f"{head} {{", *_indent(lines), "}"] if lines else [f"{head} {{ }}"]


def _indent(lines: list[str]) -> list[str]:
    return [INDENT + line for line in lines]


def _words(*words: str) -> str:
    return " ".join(word for word in words if word)
