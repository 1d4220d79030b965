"""Parses scalar expressions and symbolic ones: Python's operators and precedences, typed numbers, casts, loads.

A number without a dtype takes that of the operand beside it, else int64 or float64. Arithmetic over symbols and whole
numbers alone is folded into one `Index` (see `symbolic_folding`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from dcpy.ir import types
from dcpy.ir.data import GONE, Data
from dcpy.ir.expressions.ops import OPS
from dcpy.ir.expressions.scalar import Cast, Const, Index, Load, Number, Ref, ScalarExpr, WrapIndex, depth_of, op
from dcpy.ir.files.limits import DEEPEST_EXPRESSION
from dcpy.ir.subsets import DimSubset, Range, Subset
from dcpy.ir.symbolic import Expr, const, sym
from dcpy.ir.text.expr_printer import COMPARISON, LITERAL_WORDS, NOT, POWER, UNARY
from dcpy.ir.text.lexer import Cursor, Token
from dcpy.ir.text.symbolic_folding import fold
from dcpy.ir.types import BY_NAME, DType

if TYPE_CHECKING:
    from collections.abc import Iterator

_INFIX = {info.infix: info for info in OPS.values() if info.infix}


@dataclass(frozen=True, slots=True)
class _OpenNumber:
    """A number whose dtype is still open."""

    value: int | float


_Item = Union[ScalarExpr, _OpenNumber]  # noqa: UP007  (ScalarExpr is a Union of forward references)


class ExprParser(Cursor):
    """A cursor that reads expressions. `refs` are the connectors in scope, `scopes` the containers, innermost last."""

    def __init__(self, text: str, file: str = "<text>") -> None:
        super().__init__(text, file)
        self.refs: Mapping[str, DType] = {}
        self.scopes: list[dict[str, Data]] = []
        self.seen_symbols: dict[str, bool] = {}  # every symbol met, and whether a size depends on it
        self._symbolic = False
        self._sizes = False

    # -- entry points ------------------------------------------------------------------------------------------

    def scalar(self, dtype: DType | None = None) -> ScalarExpr:
        """A scalar expression; a lone number becomes one of `dtype`."""
        first = self.token
        value = _settle(self._infix(1), dtype)
        if depth_of(value) > DEEPEST_EXPRESSION:
            self.fail(f"operations are nested more than {DEEPEST_EXPRESSION} deep", at=first)
        return value

    def symbolic(self, *, size: bool = False, level: int = 1) -> Expr:
        """An integer expression over symbols; `size` says that a shape depends on them.

        Operators that bind looser than `level` end it.
        """
        first = self.token
        with self._in_symbols(size=size):
            item = self._infix(level)
        match item:
            case Index(value=value, dtype=types.int64):
                return value
            case _OpenNumber(value=int(value)):
                return const(value)
        return self.fail("expected an integer expression over symbols", at=first)

    def dim(self) -> DimSubset:
        """``i`` or ``start:stop:step``."""
        start = self.symbolic()
        if not self.accept(":"):
            return start
        stop = self.symbolic()
        return Range(start, stop, self.symbolic()) if self.accept(":") else Range(start, stop)

    def range(self) -> Range:
        """``start:stop`` or ``start:stop:step``."""
        first = self.token
        dim = self.dim()
        return dim if isinstance(dim, Range) else self.fail("expected a range: start:stop or start:stop:step", at=first)

    def subset(self) -> Subset:
        """``[i, 0:N]``, or nothing for a container without dimensions."""
        dims: list[DimSubset] = []
        if self.accept("["):
            while not self.accept("]"):
                dims.append(self.dim())
                if not self.at("]"):
                    self.expect(",")
        return Subset(tuple(dims))

    @contextmanager
    def _in_symbols(self, *, size: bool = False) -> Iterator[None]:
        """Every name is a symbol here."""
        before = self._symbolic, self._sizes
        self._symbolic, self._sizes = True, size
        try:
            yield
        finally:
            self._symbolic, self._sizes = before

    # -- operators ---------------------------------------------------------------------------------------------

    def _infix(self, level: int) -> _Item:
        left = self._unary()
        while True:
            if self.at("<-"):  # a < -b, written without a space
                position = self.token.position
                self.token = Token("sign", "<", position)
                self.tokens[self.index : self.index + 1] = [self.token, Token("sign", "-", position + 1)]
            info = _INFIX.get(self.token.text) if self.token.kind in ("sign", "name") else None
            if info is None or info.precedence < level:
                return left
            at = self.advance()
            right = self._infix(info.precedence + (info.precedence != POWER))
            left = self._combine(info.name, (left, right), at)
            if info.precedence == COMPARISON and self.at("==", "!=", "<", "<=", ">", ">="):
                self.fail("comparisons do not chain", help="write `a < b and b < c`")

    def _unary(self) -> _Item:
        at = self.token
        if self.accept("not"):
            return self._combine("not", (self._infix(NOT),), at)
        if self.accept("~"):
            return self._combine("invert", (self._infix(UNARY),), at)
        if not self.accept("-"):
            return self._atom()
        if self._at_number() and self.peek().text != "**":
            item = self._atom()
            return _OpenNumber(-item.value) if isinstance(item, _OpenNumber) else item
        return self._combine("neg", (self._infix(UNARY),), at)

    def _combine(self, name: str, args: Sequence[_Item], at: Token, *, folding: bool = True) -> ScalarExpr:
        folded = fold(name, tuple(map(_as_symbolic, args)), numbers=self._symbolic) if folding else None
        if folded is not None:
            return folded
        if len(args) != OPS[name].arity:
            self.fail(f"{name} takes {OPS[name].arity} arguments, not {len(args)}", at=at)
        if self._symbolic:
            self.fail(f"{name} is not possible in an integer expression over symbols", at=at)
        weak = args[1:] if name == "select" else args
        dtype = next((arg.dtype for arg in weak if not isinstance(arg, _OpenNumber)), None)
        if dtype is None and any(isinstance(arg, _OpenNumber) and isinstance(arg.value, float) for arg in weak):
            dtype = types.float64
        return op(name, *(_settle(arg, dtype) for arg in args))

    # -- operands ----------------------------------------------------------------------------------------------

    def _at_number(self) -> bool:
        return self.token.kind == "number" or (self.at("inf", "nan") and self._is_literal_word())

    def _is_literal_word(self) -> bool:
        return not self._symbolic and not (self.peek().kind == "sign" and self.peek().text == "[")

    def _atom(self) -> _Item:
        token = self.token
        if token.kind == "number":
            self.advance()
            return _OpenNumber(int(token.text) if token.text.isdigit() else float(token.text))
        if self.accept("("):
            item = self._infix(1)
            self.expect(")")
            return item
        if self.accept("@"):
            name = self.identifier("an operation")
            if name not in OPS:
                self.fail(f"no operation is called {name!r}", at=token)
            return self._combine(name, self._arguments(), token, folding=False)
        if token.kind not in ("name", "quoted"):
            self.fail(f"expected an expression, found {self.found()}")
        if token.kind == "name" and token.text in LITERAL_WORDS and self._is_literal_word():
            self.advance()
            return Const(token.text == "true", types.bool_) if token.text[0] in "tf" else _OpenNumber(float(token.text))
        self.advance()
        if token.kind == "name" and self.at("("):
            return self._call(token)
        return self._name(token)

    def _arguments(self) -> list[_Item]:
        self.expect("(")
        items: list[_Item] = []
        while not self.accept(")"):
            items.append(self._infix(1))
            if not self.at(")"):
                self.expect(",")
        return items

    def _call(self, name: Token) -> _Item:
        match name.text:
            case "index":
                return self._explicit_index()
            case "wrap":
                return self._wrap()
            case text if text in BY_NAME:
                return self._cast(BY_NAME[text])
            case text if text in OPS:
                return self._combine(text, self._arguments(), name)
        return self.fail(f"no operation or dtype is called {name.text!r}", at=name, help="see ir/expressions/ops.py")

    def _cast(self, dtype: DType) -> ScalarExpr:
        """``f32(x)``, or the constants ``f32(1.5)`` and ``c64(0.0, 1.0)``."""
        first = self.token
        items = self._arguments()
        numbers = [item.value for item in items if isinstance(item, _OpenNumber)]
        if len(items) == 2 and len(numbers) == 2 and dtype.kind == "c":
            return Const(complex(*numbers), dtype)
        if len(items) != 1:
            self.fail(f"{dtype} takes one argument", at=first)
        if not numbers or (isinstance(numbers[0], float) and not dtype.is_inexact):
            return Cast(_settle(items[0], None), dtype)
        return _constant(numbers[0], dtype)

    def _explicit_index(self) -> Index:
        """``index(e)``, ``index(e, i32)``."""
        self.expect("(")
        value, dtype = self.symbolic(), types.int64
        if self.accept(","):
            dtype = self.dtype()
        self.expect(")")
        return Index(value, dtype)

    def _wrap(self) -> WrapIndex:
        """``wrap(e, size)``, ``wrap(e, size, axis)``."""
        self.expect("(")
        arg = self.scalar(types.int64)
        self.expect(",")
        size = self.symbolic()
        axis = self.integer("the number of an axis") if self.accept(",") else 0
        self.expect(")")
        return WrapIndex(arg, size, axis)

    def _name(self, token: Token) -> ScalarExpr:
        name = token.text
        if self._symbolic:
            self.seen_symbols[name] = self.seen_symbols.get(name, False) or self._sizes
            return Index(sym(name))
        if name in self.refs:
            return Ref(name, self.refs[name])
        if name in self.seen_symbols and not self.at("["):
            return Index(sym(name))
        dtype = self.container_dtype(token)
        with self._in_symbols():
            indices = self.subset()
        if not indices.is_point:
            self.fail("one element is needed here, not a range", at=token)
        return Load(name, indices.indices, dtype)

    def dtype(self) -> DType:
        """``f64``."""
        token = self.token
        name = self.identifier("a dtype")
        if name not in BY_NAME:
            help = GONE.get(name) or f"there are {', '.join(BY_NAME)}"
            self.fail(f"no dtype is called {name!r}", at=token, help=help)
        return BY_NAME[name]

    # -- containers --------------------------------------------------------------------------------------------

    def find(self, name: str) -> Data | None:
        """The descriptor of a container as visible here."""
        return next((scope[name] for scope in reversed(self.scopes) if name in scope), None)

    def container_dtype(self, token: Token) -> DType:
        """The dtype of a container's elements; `ParseError` where there is no such container."""
        found = self.find(token.text)
        if found is None:
            self.fail(
                f"{token.text!r} is no connector, symbol or container here",
                at=token,
                help="symbols are declared after the arguments: symbols(N: size, n: i64)",
            )
        return found.dtype


def _settle(item: _Item, dtype: DType | None) -> ScalarExpr:
    """An open number takes the dtype beside it, where it can."""
    if not isinstance(item, _OpenNumber):
        return item
    default = types.float64 if isinstance(item.value, float) else types.int64
    fits = dtype is not None and (dtype.is_inexact or (dtype.is_integer and isinstance(item.value, int)))
    return _constant(item.value, dtype if fits and dtype is not None else default)


def _constant(value: int | float, dtype: DType) -> Const:
    number: Number = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[dtype.kind](value)
    return Const(number, dtype)


def _as_symbolic(item: _Item) -> Expr | None:
    match item:
        case Index(value=value, dtype=types.int64):
            return value
        case _OpenNumber(value=int(value)):
            return const(value)
    return None
