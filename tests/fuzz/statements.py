"""Random statements: a function is written line by line, and run up to the line being written.

`Writer.known` is what the names stand for at that place (in the first iteration of each loop around, in the branch
being written), so that `Expressions` can try what it makes. A line has two texts: the one of the program, and the one
used to get there while the statement around it is unfinished (``if True:`` for ``if k > 3:``).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

import dcpy
from tests.fuzz import functions, loops
from tests.fuzz.choice import RandomSource, chance, pick
from tests.fuzz.expressions import Expressions, Unsuitable, is_integer, is_value, same_type, suitable
from tests.fuzz.program import ARGUMENTS, HEAD, RAISED, Program, define
from tests.fuzz.themes import THEMES, Theme, new_names

SCOPE: dict[str, Any] = {"np": np, "dcpy": dcpy}


@dataclass
class Line:
    """A line of the program, and the line that stands for it until the statement around it is complete."""

    real: str
    probe: str


class Writer:
    """Writes the body of a function for sample arguments."""

    def __init__(self, choice: RandomSource, sample: Program, theme: Theme = THEMES["anything"]) -> None:
        self.choice = choice
        self.sample = sample
        self.theme = theme
        self.lines: list[Line] = []
        self.indent = 1
        self.bound = set(ARGUMENTS)
        self.counters: set[str] = set()  # what loops count with: never bound again
        self.returned: list[Any] = []  # what early returns give
        self.counter = 0
        self.loops = 0
        self.known: dict[str, Any] = {}
        self.helpers = define(HEAD + "    return None\n").__globals__
        self.look()

    # -- where we are ------------------------------------------------------------------------------------------

    def write(self, real: str, probe: str | None = None) -> None:
        """Adds a line."""
        margin = "    " * self.indent
        self.lines.append(Line(margin + real, margin + (real if probe is None else probe)))

    def look(self) -> bool:
        """Finds out what the names stand for here; whether this place can be reached."""
        body = "\n".join(line.probe for line in self.lines)
        source = f"{HEAD}{body}\n{'    ' * self.indent}return dict(locals())\n"
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)
                found = define(source)(*self.sample.arguments())
        except Exception:
            return False
        if not isinstance(found, dict):
            return False
        self.known = {name: value for name, value in found.items() if name in self.bound and is_value(value)}
        return True

    def try_lines(self, *texts: str) -> bool:
        """Writes lines if they run and leave suitable values; whether they do."""
        count = len(self.lines)
        for text in texts:
            self.write(text)
        if self.look() and all(suitable(value) for value in self.known.values()):
            return True
        del self.lines[count:]
        self.look()
        return False

    def rebindable(self) -> list[str]:
        return [name for name in self.known if name not in self.counters]

    def fresh(self) -> str:
        self.counter += 1
        return f"t{self.counter}"

    @contextmanager
    def block(self, real: str, probe: str) -> Iterator[None]:
        """A compound statement; what is bound in it is unbound afterwards."""
        count, bound = len(self.lines), set(self.bound)
        self.write(real, probe)
        self.indent += 1
        start = len(self.lines)
        self.look()
        yield
        if len(self.lines) == start:
            self.write("pass")
        self.indent -= 1
        self.bound &= bound
        for line in self.lines[count:]:
            if line.probe.strip() != "pass" or not line.real.strip().startswith("return"):
                line.probe = line.real
        self.look()

    @property
    def expressions(self) -> Expressions:
        return Expressions(self.choice, self.known, self.helpers)

    # -- statements --------------------------------------------------------------------------------------------

    def statement(self, depth: int) -> None:
        """One statement, of any kind."""
        if self.theme.statements and chance(self.choice, 40):
            return self.themed()
        kinds = [self.bind, self.bind, self.bind, self.store, self.store, self.alias, self.augment, self.rebind]
        kinds += [self.pair, self.helper, self.swap, self.write_to, self.scatter, self.several_at_once]
        kinds += [self.sweep, self.sweep, self.carry]
        if depth:
            for compound in (
                self.branch,
                self.branch,
                self.range_loop,
                self.range_loop,
                self.while_loop,
                self.map_loop,
                self.array_loop,
            ):
                kinds.append(lambda compound=compound: compound(depth))
        return pick(self.choice, kinds)()

    def several(self, count: int, depth: int) -> None:
        for _ in range(self.choice.number(1, count)):
            self.statement(depth)

    def bind(self) -> None:
        """``t = expression``."""
        name = self.fresh()
        self.bound.add(name)
        if not self.try_lines(f"{name} = {self.expressions.expression(3)}"):
            self.try_lines(f"{name} = a + 1")

    def alias(self) -> None:
        """Another name for an array, or for a part of it."""
        made, name = self.expressions, self.fresh()
        arrays = made.arrays()
        source = pick(self.choice, arrays)
        text = made.part(source) if chance(self.choice, 50) else made.view(0) if chance(self.choice, 50) else source
        self.bound.add(name)
        self.try_lines(f"{name} = {text}") or self.try_lines(f"{name} = {source}")

    def pair(self) -> None:
        """Several names at once."""
        first, second, made = self.fresh(), self.fresh(), self.expressions
        one, other = made.expression(2), made.expression(2)
        texts = (
            f"{first}, {second} = {one}, {other}", f"{first} = {second} = {one}",
            f"{first}, {second} = both({one}, {other})",
            f"({first}, {second}) = c.shape", f"{first}, {second} = divmod({one}, {other})",
        )  # fmt: skip
        self.bound |= {first, second}
        self.try_lines(pick(self.choice, texts))

    def swap(self) -> None:
        """Two names change places."""
        one, other = pick(self.choice, self.rebindable()), pick(self.choice, self.rebindable())
        if self.indent == 1 or same_type(self.known[one], self.known[other]):
            self.try_lines(f"{one}, {other} = {other}, {one}")

    def helper(self) -> None:
        """A call of another function, a nested one or a lambda perhaps."""
        name, made = self.fresh(), self.expressions
        array, value = pick(self.choice, made.arrays()), made.expression(1)
        self.bound.add(name)
        match self.choice.number(0, 5):
            case 0:
                self.try_lines(f"{name} = mutate({made.part(array)}, {self.castable(array)})")
            case 1:
                self.try_lines(f"{name} = first_positive({array})")
            case 2:
                self.try_lines(f"{name} = total({array}, {value})")
            case 3:
                self.try_lines(f"g{name} = lambda x, y=2: x * y + {made.number()}", f"{name} = g{name}({value})")
            case 4:
                self.try_lines(
                    f"def g{name}(x, y={made.number()}):",
                    f"    x = x + {array}",
                    "    return x - y",
                    f"{name} = g{name}({value})",
                )
            case _:
                self.try_lines(f"{name} = scaled({value}, factor={made.number()})")

    def rebind(self) -> None:
        """A name gets another value; inside of branches and loops one of the same type."""
        name, made = pick(self.choice, self.rebindable()), self.expressions
        old = self.known[name]
        candidates = [made.expression(2) for _ in range(2)]
        candidates += [
            f"np.flip({name})",
            f"{name} * 2",
            f"np.where({name} > 1, {name}, 2)",
            f"-{name}",
            f"{name}.copy()",
        ]
        candidates += [other for other, value in self.known.items() if same_type(value, old) and other != name]
        if chance(self.choice, 50):
            candidates.reverse()
        for text in candidates:
            try:
                value = made.evaluate(text)
            except Unsuitable:
                continue
            if (self.indent == 1 and chance(self.choice, 50)) or same_type(value, old):
                self.try_lines(f"{name} = {text}")
                return

    def store(self) -> None:
        """``x[part] = expression``."""
        made = self.expressions
        name = pick(self.choice, made.arrays())
        part = made.part(name)
        self.try_lines(f"{part if '[' in part else name + '[...]'} = {self.castable(name)}")

    def write_to(self) -> None:
        """A function or a method that writes to an array."""
        made = self.expressions
        name = pick(self.choice, made.arrays())
        target = made.part(name) if chance(self.choice, 30) else name
        value, number = self.castable(name), made.casted(made.number(), "int8")
        text = pick(self.choice, functions.WRITES).format(target, value, number)
        self.try_lines(text) or self.try_lines(f"np.copyto({name}, {value})")

    def scatter(self) -> None:
        """``x[mask] = ...``, ``x[indices] += ...``"""
        made = self.expressions
        if not made.arrays(np.ndim):
            return
        name = pick(self.choice, made.arrays(np.ndim))
        place = name + pick(self.choice, functions.PLACES).format(name)
        number = made.casted(made.number(), self.known[name].dtype.name)
        operator = pick(self.choice, ("=", "=", "+=", "*="))
        value = pick(self.choice, (number, number, f"{place} * 2", self.castable(name)))
        self.try_lines(f"{place} {operator} {value}") or self.try_lines(f"{name}[{name} == 1] = 0")

    def several_at_once(self) -> None:
        """Comprehensions and starred targets of known lengths, chained targets, checks."""
        name, made = self.fresh(), self.expressions
        number, array = made.number(), pick(self.choice, made.arrays())
        self.bound |= {name, f"{name}r"}
        texts = (
            f"{name} = np.array([x * 2 for x in (1, {number}, 3)])", f"{name}, *{name}r = (1, {number}, s)",
            f"{name} = sum([x + 1 for x in (k, {number})])", f"{name} = np.stack([x + 1 for x in ({array}, {array})])",
            f"{name}, {name}r = {array}[:2]", f"{array}[0] = {array}[-1] = {number}",
            f"{name} = np.zeros_like({array}, shape=({array}.size, 2))", f"{name} = (lambda x: x)({array})",
            f"{name} = {array}.shape[0] if {made.condition()} else 7", f"({name} := {number})",
            f"assert {array}.size >= 0, f'no elements in {{k}}'",
        )  # fmt: skip
        self.try_lines(pick(self.choice, texts))

    def sweep(self) -> None:
        """Loops over elements, whose iterations may depend on each other."""
        arrays = {name: self.known[name] for name in self.expressions.arrays(lambda value: 0 < value.ndim < 3)}
        if arrays:
            lines = loops.over_elements(self.choice, arrays, self.counter)
            self.counter += 2
            self.try_lines(*lines)

    def carry(self) -> None:
        """Loops and branches that bind arrays and numbers anew."""
        name, made = self.fresh(), self.expressions
        array, other = pick(self.choice, made.arrays()), pick(self.choice, made.arrays())
        self.bound |= {name, f"i{name}"}
        operands = array, other, made.expression(2), made.number(), made.condition()
        self.try_lines(*pick(self.choice, loops.REBINDING).format(name, f"i{name}", *operands).splitlines())

    def themed(self) -> None:
        """What the program is mostly about."""
        for _ in range(3):
            lines, names = self.template(self.theme.statements)
            before = set(self.bound)
            self.bound |= names
            if self.try_lines(*lines):
                return
            self.bound = before

    def template(self, texts: tuple[str, ...]) -> tuple[list[str], set[str]]:
        """One of some templates with operands at hand, two arrays of one type if there are; the names that it binds."""
        made, name = self.expressions, self.fresh()
        arrays = made.arrays(lambda value: value.ndim > 0) or made.arrays()
        array = pick(self.choice, arrays)
        alike = [other for other in arrays if same_type(self.known[other], self.known[array]) and other != array]
        other = pick(self.choice, alike if alike and chance(self.choice, 70) else arrays)
        operands = made.expression(2), made.number(), made.condition(), self.castable(array), made.number()
        text = pick(self.choice, texts).format(name, f"{name}o", array, other, *operands)
        return text.splitlines(), new_names(name, f"{name}o")

    def ending(self) -> bool:
        """Writes what ends the function in a way of the theme's, and may raise; whether it did."""
        count, body = len(self.lines), "\n".join(line.probe for line in self.lines)
        for _ in range(3):
            lines, _ = self.template(self.theme.results)
            tail = "\n".join("    " + line for line in lines)
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    define(f"{HEAD}{body}\n{tail}\n")(*self.sample.arguments())
            except RAISED:
                pass
            except Exception:
                continue
            for line in lines:
                self.write(line)
            return True
        return len(self.lines) > count

    def augment(self) -> None:
        """``x += expression``, also for parts and for numbers."""
        made = self.expressions
        operator = pick(self.choice, ("+=", "-=", "*=", "+=", "//=", "%=", "/=", "**=", "&=", "|=", "^=", ">>="))
        numbers = [name for name in self.rebindable() if not isinstance(self.known[name], np.ndarray)]
        if chance(self.choice, 25) and numbers:
            name = pick(self.choice, numbers)
            before, text = self.known[name], f"{name} {operator} {made.number()}"
            if self.try_lines(text) and self.indent > 1 and not same_type(self.known.get(name), before):
                self.lines.pop()
                self.look()
            return
        name = pick(self.choice, made.arrays())
        target = made.part(name)
        self.try_lines(f"{target} {operator} {self.castable(name)}") or self.try_lines(f"{target} *= {target}")

    def castable(self, name: str) -> str:
        """An expression that may be stored into an array without leaving the range of its dtype."""
        made = self.expressions
        text = made.expression(2)
        return (
            text
            if chance(self.choice, 30) and self.fits(text, name)
            else made.casted(text, self.known[name].dtype.name)
        )

    def fits(self, text: str, name: str) -> bool:
        try:
            value = self.expressions.evaluate(text)
        except Unsuitable:
            return False
        kinds = np.result_type(value).kind, self.known[name].dtype.kind
        return not (kinds[0] in "fc" and kinds[1] in "iu")

    # -- compound statements -----------------------------------------------------------------------------------

    def branch(self, depth: int) -> None:
        """``if``, with ``elif`` and ``else`` perhaps; returns perhaps."""
        condition, outside = self.expressions.condition(), set(self.bound)
        with self.block(f"if {condition}:", "if True:"):
            self.several(2, depth - 1)
            self.leave()
        if chance(self.choice, 20):
            with self.block(f"elif {self.expressions.condition()}:", "elif False:"):
                pass
        if chance(self.choice, 50):
            with self.block("else:", "else:"):
                if self.reach_else(condition):
                    self.several(2, depth - 1)
        self.bound &= outside
        self.look()

    def reach_else(self, condition: str) -> bool:
        """Makes the branch around be taken while its ``else`` is written."""
        for line in reversed(self.lines[:-1]):
            if line.real == "    " * (self.indent - 1) + f"if {condition}:":
                line.probe = "    " * (self.indent - 1) + "if False:"
                return self.look()
        return False

    def leave(self) -> None:
        """A jump at the end of a branch, sometimes."""
        if self.loops and chance(self.choice, 30):
            self.write(pick(self.choice, ("break", "continue")), "pass")
        elif chance(self.choice, 12):
            name = pick(self.choice, list(self.known))
            if not self.returned or same_type(self.known[name], self.returned[0]):
                self.returned.append(self.known[name])
                self.write(f"return {name}", "pass")

    def range_loop(self, depth: int) -> None:
        """``for i in range(...)``, with ``else`` perhaps; the variable may be used afterwards."""
        name = f"i{self.counter}"
        self.counter += 1
        ranges = (
            "a.shape[0]",
            "1, b.shape[0]",
            "len(a) - 1, -1, -1",
            "0, c.shape[1], 2",
            "3",
            "len(d)",
            "max(k, -2), 3",
            "c.shape[0] - 1",
            "0",
        )
        text = pick(self.choice, ranges)
        self.loop(f"for {name} in range({text}):", f"for {name} in [*range({text}), 0][:1]:", name, depth)
        if chance(self.choice, 15):
            self.bound.add(name)
            if not self.try_lines(f"{self.fresh()} = {name} + 1"):
                self.bound.discard(name)

    def array_loop(self, depth: int) -> None:
        """``for x in array``, `enumerate` and `zip`."""
        name = f"x{self.counter}"
        self.counter += 1
        arrays = self.expressions.arrays(lambda value: value.ndim > 0 and value.shape[0] > 0)
        if not arrays:
            return
        first, second = pick(self.choice, arrays), pick(self.choice, arrays)
        header = pick(
            self.choice,
            (
                f"for {name} in {first}:",
                f"for i{name}, {name} in enumerate({first}):",
                f"for i{name}, {name} in zip({first}, {second}):",
            ),
        )
        self.bound.add(f"i{name}")
        self.loop(header, header, name, depth)
        self.bound.discard(f"i{name}")

    def while_loop(self, depth: int) -> None:
        """A loop that ends after some iterations."""
        name = f"w{self.counter}"
        self.counter += 1
        self.bound.add(name)
        self.counters.add(name)
        self.write(f"{name} = 0")
        self.look()
        condition = pick(self.choice, ("", "", f" and ({self.expressions.condition()})"))
        self.loop(
            f"while {name} < {self.choice.number(1, 3)}{condition}:", f"while {name} < 1:", name, depth, f"{name} += 1"
        )

    def loop(self, real: str, probe: str, name: str, depth: int, first: str = "") -> None:
        self.bound.add(name)
        with self.block(real, probe):
            if first:
                self.write(first)
            self.loops += 1
            if self.look():
                self.several(2, depth - 1)
            self.loops -= 1
        if not first:
            self.bound.discard(name)
        if chance(self.choice, 15):
            with self.block("else:", "else:"):
                if self.look():
                    self.bind()

    def map_loop(self, depth: int) -> None:
        """``dcpy.map``: each iteration writes elements of its own, or adds to a common one."""
        arrays = self.expressions.arrays(lambda value: 0 < value.ndim < 3 and value.size > 0)
        if not arrays:
            return
        target = pick(self.choice, arrays)
        value = self.known[target]
        params = [f"p{self.counter + axis}" for axis in range(value.ndim)]
        self.counter += value.ndim
        ranges = ", ".join(f"0:{target}.shape[{axis}]" for axis in range(value.ndim))
        element = f"{target}[{', '.join(params)}]"
        others = [name for name, other in self.known.items() if name != target and not np.shares_memory(other, value)]
        hidden = {name: other for name, other in self.known.items() if name in others}
        outside = set(self.bound)
        self.bound |= set(params)
        with self.block(
            f"for {', '.join(params)} in dcpy.map[{ranges}]:", f"for {', '.join(params)} in dcpy.map[{ranges}]:"
        ):
            if self.look():
                at_hand = {name: other for name, other in self.known.items() if name in {*hidden, *params}}
                text = Expressions(self.choice, at_hand, self.helpers).number() if at_hand else "1"
                integers = [name for name, other in at_hand.items() if is_integer(other)]
                casted = self.expressions.casted(f"({text} + {element})", value.dtype.name)
                sums = [f"{element} = {casted}", f"{element} += {pick(self.choice, integers)}", f"{element} *= 2"]
                self.try_lines(pick(self.choice, sums)) or self.try_lines(f"{element} = {element}")
        self.bound &= outside
        self.look()
