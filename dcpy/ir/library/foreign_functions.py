"""Foreign functions: the C functions that a foreign call may name, which are those that its environment declares.

Without this rule a file could name any function of the process, as `system`. What an environment declares are its
prototypes, and what its declarations define or declare at file scope or in a namespace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from types import MappingProxyType

from dcpy.base.errors import DcpyError
from dcpy.base.library_environment import Environment
from dcpy.base.prototypes import Prototype
from dcpy.ir.library.expansions import environment_of
from dcpy.ir.nodes import ForeignCall, Node
from dcpy.ir.sdfg import Sdfg

_TOKEN = re.compile(
    r"""//[^\n]*|/\*.*?\*/|\#(?:[^\n\\]|\\.)*|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'"""
    r"""|(?P<space>namespace\s+(?P<name>\w+)\s*\{|extern\s+"C"\s*\{)|(?P<word>[A-Za-z_]\w*)|(?P<sign>[(){}])|(?P<other>\S)""",
    re.DOTALL,
)
_NOT_FUNCTIONS = (
    "alignas", "alignof", "asm", "decltype", "noexcept", "requires", "sizeof", "static_assert", "typeid", "typeof",
)  # fmt: skip
_NAME = re.compile(r"[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*")
_FUNCTION = re.compile(rf"{_NAME.pattern}(?:<{_NAME.pattern}(?:<{_NAME.pattern}>)?>)?", re.ASCII)


def refusal(node: ForeignCall, known: Mapping[str, Environment] | None = None) -> str:
    """Return why a call is refused, for its name or the number of its arguments; "" if it is not.

    `known`: environments beside those that are registered.
    """
    if not _FUNCTION.fullmatch(node.function):
        return f"{node.function!r} is no name of a C function"
    if not node.environment:
        return f"{node.function} is called from no environment, which would say what it is"
    try:
        environment = (known or {}).get(node.environment) or environment_of(node.environment)
    except DcpyError as error:
        return f"{node.function} cannot be called: {error.message}"
    declared = functions_of(environment)
    missing = next((name for name in _NAME.findall(node.function) if name not in declared), "")
    if missing:
        return f"the environment {node.environment!r} declares no function {missing!r}"
    prototype = prototypes_of(environment).get(node.function)
    if prototype is not None and len(prototype.parameters) != len(node.args):
        return f"{node.function} takes {len(prototype.parameters)} arguments, not {len(node.args)}"
    return ""


def environments_in(sdfg: Sdfg) -> Iterator[str]:
    """The environments of the foreign calls in an SDFG."""
    yield from (node.environment for node in sdfg.body.walk_nodes() if isinstance(node, ForeignCall))


def keep_in_order(nodes: Iterable[Node]) -> None:
    """Order the C functions of a library node that has visible effects: they have the same effects."""
    for node in nodes:
        if isinstance(node, ForeignCall):
            node.ordered = True


@lru_cache(maxsize=64)
def functions_of(environment: Environment) -> frozenset[str]:
    """The functions that an environment declares: ``name``, or ``namespace::name``."""
    return frozenset((*prototypes_of(environment), *_declared_in(environment.declarations)))


@lru_cache(maxsize=64)
def prototypes_of(environment: Environment) -> Mapping[str, Prototype]:
    """The prototypes of an environment by the names of their functions."""
    return MappingProxyType({prototype.name: prototype for prototype in environment.prototypes})


def _declared_in(text: str) -> list[str]:
    """Names before a parenthesis, outside of all braces and parentheses but those of namespaces."""
    found: list[str] = []
    open_: list[str | None] = []  # per brace or parenthesis: the namespace, "" for none of its own, None within code
    word = ""
    for match in _TOKEN.finditer(text):
        if match["space"]:
            open_.append(match["name"] or "")
        elif match["sign"] == "(" and word and None not in open_ and word not in _NOT_FUNCTIONS:
            found.append("::".join([*(name for name in open_ if name), word]))
        if match["sign"] in ("(", "{"):
            open_.append(None)
        elif match["sign"] in (")", "}") and open_:
            open_.pop()
        word = match["word"] or ""
    return [name for name in found if not name.rpartition("::")[2].startswith("__")]
