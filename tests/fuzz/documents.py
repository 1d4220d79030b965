"""Valid documents of many kinds, and what strangers may write into their fields.

The fields are found by walking the JSON, so that a field that is new is among them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from functools import cache
from random import Random
from typing import Any

import numpy as np

import dcpy
from dcpy import driver
from dcpy.base.options import resolve_options
from dcpy.ir.files.json import to_json
from tests.ir.text.test_round_trip import PROGRAMS

FIRES = "canary_fires"
HOSTILE = (
    f"\n{FIRES}(); //", f"*/ {FIRES}(); /*", f"x*/\n#error {FIRES}\n", f'"; {FIRES}(); "', f"\\\n{FIRES}();",
    f"x??/\n{FIRES}();", f'"; __builtin_system("touch CANARY"); int {FIRES}[] = {{}}; //',
    "\nstatic int x = __builtin_system(\"touch CANARY\"); //", "#include </etc/passwd>", f"\r#define int {FIRES}()",
    "\x00", f"a\x00{FIRES}()", "../../CANARY", "/CANARY", "..", "/", "C:\\x", "~/x", "a/b", ".", "", " ", "a b",
    "-o", "--help", "$(touch CANARY)", "`touch CANARY`", "%n%s%s", "{0}{1}{9}{0.__class__}", "{", "x" * 5000,
    "\u202e", "\u2028", "\u0430bs", "\uff21", "\u00b2", "\ud800", "\U0001f600", "\x1b[2J", "\x7f",
    "<script>alert(1)</script>", "</script>", "&lt;", "__import__('os').system('touch CANARY')", "lambda: 0",
    "system", "abort", "__builtin_trap", "std::abort", "main", "int", "asm", "operator", "None", "nan", "1e999",
    "0x10", "1//0", "N % 0", "min()", "N" + "*N" * 50, "(" * 500, "9" * 5000, "9" * 400, "-" * 600 + "1", "N + 1",
    "max(N, 0) // N", "float64", "O", "V8", "array", "f64", "True", "*args", "x, y=z", "f(x)(y)", "x.__class__",
    "[x for x in y]", "(yield)", "item(x)", "'" * 3, "error", "args", "results", "symbols", "A", "N", "i",
)  # fmt: skip
NUMBERS = (
    -1, 0, 1, 2, 255, 2**31 - 1, 2**31, 2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 2**64, 10**30, 10**400, 1.5, -0.0,
    1e308, True, False, None, "1", [], {}, [[]], {"dict": {}}, {"sdfg": 0}, {"expr": "N"}, {"float": "nan"},
    {"complex": [0, 1]},
)  # fmt: skip
Slot = tuple[Any, Any]  # a list or object, and an index or key of it; ``("key", name)`` for a key itself

N, M = dcpy.symbols("N M")
K = dcpy.symbol("K", range=(1, 64), multiple_of=2, typical=8)


@dcpy.callback(returns=dcpy.float64[N])
def outside(x: object) -> object:
    return x


@dcpy.program
def branches(a: dcpy.float64[N], k: dcpy.int64):
    b = np.zeros_like(a)
    for i in range(1, k):
        if a[0] > 3.0:
            b[i % 3] += a[i - 1] * k
        elif k > 7:
            raise ValueError(f"k is {k}")
    while a[0] < 0.5:
        a[0] = a[0] * 2 + 1
    return b, k, "text", a[::2]


@dcpy.program
def libraries(A: dcpy.float64[N, M], B: dcpy.float64[M, N], x: dcpy.float64[N]):
    C = A @ B
    y = np.linalg.solve(C, x) + np.fft.rfft(x)[0].real
    return np.sort(y), np.sum(C, axis=0), np.argmax(x), C.T


@dcpy.program
def drawing(rng: np.random.Generator, a: dcpy.float64[N]):
    return rng.normal(size=3), a + rng.random()


@dcpy.program
def calling(a: dcpy.float64[N]):
    return outside(a) + 1


@dcpy.program
def masks(a: dcpy.float64[N], index: dcpy.int64[M]):
    a[index] += 1.0
    return a[a > 0.5], np.nonzero(a), a[index[0]]


@dcpy.program
def products(A: dcpy.float64[N, M], B: dcpy.float64[M, N]):
    return np.sort(A @ B)


@dcpy.program
def assuming(a: dcpy.float64[K]):
    for i in range(K // 2):
        a[2 * i + 1] = a[2 * i] + K


def _sources() -> Iterator[Any]:
    for program in (branches, masks, calling):
        yield program.to_sdfg(simplify=False)
    for program in (branches, libraries, calling, products):
        yield program.to_sdfg()
    sample = (np.random.default_rng(1), np.zeros(3))
    yield drawing.to_sdfg(*sample)
    yield products.to_sdfg().expand_library_nodes()  # calls of C functions
    yield dcpy.SDFG.of(driver.lower(branches.to_sdfg(), resolve_options())[0])
    for text in PROGRAMS.values():
        yield dcpy.parse(text)
    yield assuming.to_sdfg()


@cache
def documents() -> tuple[str, ...]:
    """Documents as texts."""
    return tuple(json.dumps(to_json(sdfg)) for sdfg in _sources())


@cache
def fields() -> dict[str, tuple[tuple[int, int], ...]]:
    """Where each field of text or number is: by its name, (document, number of the place in it)."""
    found: dict[str, list[tuple[int, int]]] = {}
    for number, text in enumerate(documents()):
        for position, (path, _) in enumerate(places(json.loads(text))):
            found.setdefault(path, []).append((number, position))
    return {path: tuple(where) for path, where in sorted(found.items())}


def places(value: Any, path: str = "") -> Iterator[tuple[str, Slot]]:
    """Every place of a document that holds a string or a number, keys of tables included, with the field's name."""
    for key, inner in list(value.items() if isinstance(value, dict) else enumerate(value)):
        is_table = isinstance(value, dict) and path.endswith(".dict")
        name = f"{path}[]" if is_table else f"{path}.{key}" if isinstance(value, dict) else path
        if is_table:
            yield f"{path} (key)", ("key", (value, key))
        name = ".".join(name.split(".")[-3:])  # the field, and what it is in
        if isinstance(inner, dict | list):
            yield from places(inner, name)
        elif inner is not None:
            yield f"{name} ({type(inner).__name__})", (value, key)


def mutated(seed: int) -> tuple[str, dict[str, Any]]:
    """A document with one field filled with something else: what was done, in words, and the document."""
    rng = Random(seed)
    names = list(fields())
    name = names[seed % len(names)]  # each field in turn
    number, position = rng.choice(fields()[name])
    document = json.loads(documents()[number])
    where = list(places(document))[position][1]
    old = where[1][1] if where[0] == "key" else where[0][where[1]]
    pool = HOSTILE if isinstance(old, str) and rng.random() < 0.9 else NUMBERS
    new = pool[(seed // len(names) + rng.randrange(3)) % len(pool)]
    if isinstance(old, str) and isinstance(new, str) and rng.random() < 0.5:
        return f"document {number}: {name}: all {old!r:.40} are {new!r:.40}", _replaced(document, old, new)
    _put(where, copy.deepcopy(new))
    return f"document {number}: {name}: {old!r:.40} is {new!r:.40}", document


def _put(where: Slot, new: Any) -> None:
    if where[0] == "key":
        table, key = where[1]
        table[str(new)] = table.pop(key)
    else:
        where[0][where[1]] = new


def _replaced(value: Any, old: str, new: str) -> Any:
    if isinstance(value, dict):
        return {new if key == old else key: _replaced(inner, old, new) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replaced(inner, old, new) for inner in value]
    return new if value == old else value
