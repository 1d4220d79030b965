"""`python -m tests.fuzz.invalid N [first seed]`: N wrong programs, each of which dcpy refuses.

Valid programs are mutated (`tests.fuzz.programs`, and a few of other kinds): unknown names, other types, other numbers
of arguments, statements and expressions at places where nobody writes them. Each is compiled to C++ text, as written or
optimized; few are still valid. Nothing but a `DcpyError` may come out, or what the program itself raises; no error is a
fault of dcpy (`CompilerFault`), and each refusal has a place.
"""

from __future__ import annotations

import ast
import copy
import random
import sys
import traceback
import warnings
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace

import numpy as np

import dcpy
from dcpy.base.tracebacks import is_marked
from tests.fuzz.__main__ import limited
from tests.fuzz.program import ARGUMENTS, HEAD, Program
from tests.fuzz.programs import seeded

BATCH = 50
SECONDS = 60  # for one program
MUTATIONS = 3  # in one program, at most

#: bodies of other kinds than the random ones
BODIES = (
    """\
def g(x, y=2, *rest, key=None):
    return x * y
r = g(a, k)
return r, g(*[c, s], key=3)""",
    """\
xs = [x * 2 for x in a if x > 0]
ys = {i: a[i] for i in range(2)}
return sum(xs), ys[1], len(xs)""",
    """\
t = (1, 2.5, a)
x, *rest = t
i = 0
while i < k:
    i += 1
    if i == 2:
        continue
    c[i % 2] += i
return c, x, rest[0]""",
    """\
text = f'{k:>3} of {s}'
assert k < 5, text
for i, (x, y) in enumerate(zip(a, b)):
    a[i] = x if x < y else y
return a""",
    """\
m = c @ c.T
q = np.linalg.norm(m) + np.einsum('ij,ij->', c, c)
return m[None, ..., -1], q, np.where(c > 0, c, 0).sum(axis=0)""",
    """\
xs = []
for i in range(3):
    xs.append(a * i)
xs.sort
return np.stack(xs), max(k, 3), sorted([k, 1, 2])[0]""",
    """\
f2 = lambda x, y=k: x + y
w = np.zeros((2, 3), dtype=np.int32)
w[:, ::-1] = k
return f2(a), w[w > 1], np.add.reduce(w)""",
    """\
match k:
    case 0:
        r = 1.0
    case 1 | 2:
        r = 2.0
    case _:
        r = 3.0
return r * a""",
    """\
@dcpy.map
def body(i: _[0:2]):
    c[i, 0] = a[i]
return c""",
    """\
for i in dcpy.map[0:2]:
    c[i] = i
rng = np.random.default_rng(k)
return c, rng.random(3)""",
)
#: expressions at places where nobody writes them
STRANGE = (
    "undefined", "None", "'text'", "b'bytes'", "...", "()", "[]", "{}", "{1: 2}", "{1, 2}", "(a, b)", "[a, [b, c]]",
    "1j", "10**30", "-1", "2**63", "1e400", "a.T.T", "a.nothing", "k.nothing", "np.nothing", "np", "dcpy", "print",
    "len", "int", "np.float64", "'%d' % k", "f'{a}'", "lambda: a", "lambda *x, **y: x", "(yield)", "(yield a)",
    "(n := k)", "a[b]", "a[...]", "a['x']", "a[1.5]", "a[None, None]", "a[k:]", "a[::0]", "a[1, 2, 3]", "c[c > 0]",
    "z[()]", "k[0]", "a()", "k(3)", "a(*b)", "np.sin()", "np.sin(a, b, c, d)", "np.sin('x')", "np.zeros('x')",
    "np.zeros(-1)", "np.zeros((2, -1))", "np.zeros(a)", "np.ones(3, dtype='nothing')", "np.ones(3, dtype=a)",
    "a.reshape(7, 7)", "a.reshape(-1, -1)", "a.sum(axis=9)", "a.sum(axis='x')", "a.sum(nothing=1)",
    "np.concatenate(a)", "np.concatenate([])", "np.stack([a, c])", "np.dot(c, c)", "c @ 3", "a @ c @ e",
    "np.linalg.inv(a)", "np.linalg.solve(c, 'x')", "np.einsum('ij', a)", "np.einsum('i,j->k', a, b)", "range(3)",
    "range('x')", "range(a)", "range()", "range(1, 2, 0)", "len(3)", "len()", "len(z)", "abs('x')", "abs()",
    "int('x')", "int(a)", "float(c)", "bool(a)", "str(a)", "sum()", "sum(3)", "max()", "max([])", "max(a, b)",
    "min(k, 'x')", "sorted(3)", "zip(a, 3)", "enumerate()", "map(3, a)", "filter(None, a)", "isinstance(a)",
    "isinstance(a, 3)", "type(a)", "getattr(a, 'T')", "getattr(a, k)", "open('x')", "input()", "eval('a')",
    "exec('a')", "super()", "object()", "iter(a)", "next(a)", "a < b < c", "a in b", "k in a", "k in 3", "a is b",
    "not a", "not 'x'", "-'x'", "~1.5", "-True", "~a", "a and b", "a or k", "a if b else c", "k if a else 'x'",
    "[*a]", "[*3]", "{**k}", "(*a, *k)", "[x for x in 3]", "[x for x in a for y in x]", "[x async for x in a]",
    "{x: x for x in a}", "{x for x in a}", "sum(x for x in a)", "sum(x for x in k)", "await a", "a % 'x'", "'x' + 1",
    "a + 'x'", "'x' * a", "[1] + (2,)", "[1] * 1.5", "a ** 'x'", "k // 0", "k % 0", "1 << -1", "1 << 80", "k << a",
    "a << 1.5", "divmod(a, 0)", "np.random.rand(k)", "np.random.default_rng()", "a.astype('nothing')", "a.astype()",
    "a.view(np.int8)", "a.flat[0]", "a.flags", "a.T[k][k][k]", "np.where()", "np.where(a)", "np.where(a, b)",
    "np.take(a, 99)", "np.add.at(a, b, c)", "np.add(a)", "np.add.reduce()", "np.sort(a, kind='x')", "np.fft.fft(k)",
    "np.fft.fft(a, norm='x')", "np.nditer(a)", "np.vectorize(int)(a)", "a.copy(1, 2, 3)", "dcpy.map[0:2]",
    "dcpy.symbol('N')", "np.pi()", "np.newaxis", "slice(1, 2)", "a[slice(k)]", "a[slice('x')]", "a[(1, (2, 3))]",
    "[[1, 2], [3]]", "np.array([[1, 2], [3]])", "np.array(['x'])", "np.array(None)", "np.array([a, k])",
    "np.full(3, 'x')", "complex(1, 2, 3)", "round(a, 'x')", "pow(2, -1, 0)", "np.linspace(0, 1, -3)",
    "np.arange(0, 1, 0)", "np.eye(-2)", "np.split(a, 5)", "np.pad(a, -1)", "np.roll(a, 'x')", "np.tile(a, -1)",
    "np.broadcast_to(c, (5, 7))", "np.clip(a)", "np.histogram(a, bins=0)", "f(a)", "f(*a, **k)", "f()", "a.__class__",
    "a.__init__", "k.__add__(1)", "k.bit_length()", "s.real", "'x'.upper()", "'x'.format(a)", "[].pop()", "[].append",
    "[1].index(3)", "(1, 2).count()", "{}.get(1)", "{}.keys()", "{}['x']", "{a: 1}", "{1: 2}[3]",
)  # fmt: skip
#: statements at places where nobody writes them
STATEMENTS = (
    "try:\n    a[0] = 1\nexcept ValueError:\n    pass", "with a:\n    pass", "with open('x') as h:\n    pass",
    "global a1", "nonlocal q", "class C:\n    x = 1", "async def h():\n    await a", "import nothing",
    "from nothing import x", "from math import *", "import os.path", "del a", "del a[0]", "del a.x", "del undefined",
    "raise", "raise ValueError", "raise ValueError('x', a)", "raise a", "raise 3", "assert a", "assert k, a, ",
    "assert 'x'", "assert (k, 'x')", "pass", "break", "continue", "return", "return a, 'x'", "return None",
    "return lambda: a", "return [a, [b]]", "return {'x': a}", "return np", "return print", "yield a", "yield from a",
    "a = None", "a = 'x'", "k = a", "a[0] = a", "a[0] = 'x'", "a[0] = None", "a[99] = 1", "a['x'] = 1", "a[:] = c",
    "a[b] = c", "a.x = 1", "a.T = b", "a.shape = (1, 2)", "k[0] = 1", "k += a", "k += 'x'", "a += c", "a += 'x'",
    "a @= b", "a //= 0", "c[0] += e", "a, b = c", "a, b = k", "a, *b = a", "(a, b), c = a, b", "[a, b] = a",
    "a = b = c = undefined", "a: 'nothing' = 3", "x: dcpy.float64", "undefined += 1", "undefined[0] = 1", "print(a)",
    "print(undefined)", "for x in k:\n    pass", "for x in 'abc':\n    pass", "for x, y in a:\n    pass",
    "for a[0] in range(3):\n    pass", "for i in range(3):\n    a = c\nelse:\n    b = a",
    "for i in a:\n    k = i\n    i = 'x'", "while a:\n    pass", "while 'x':\n    break", "while True:\n    pass",
    "while k:\n    k = 'x'", "if a:\n    b = 1", "if 'x':\n    b = 1", "if k:\n    q = 1\nelse:\n    q = 'x'",
    "if k:\n    q = a\nelse:\n    q = c", "if k:\n    q = 1\nreturn q", "if k:\n    return 1\nreturn a",
    "def h():\n    return h()\nh()", "def h(x):\n    return h(x - 1)\nk = h(k)",
    "def h(x=a, *, y):\n    return x\nh()", "def h():\n    nonlocal k\n    k = 3\nh()",
    "def h():\n    yield 1\nfor x in h():\n    a += x", "def h():\n    yield from a\nx = h()",
    "@undefined\ndef h():\n    pass", "@dcpy.program\ndef h(x):\n    return x\nh(a)",
    "match a:\n    case [x, y]:\n        pass", "match k:\n    case {'x': y}:\n        pass",
    "match k:\n    case int(x):\n        pass", "x = y = []\nx.append(y)", "x = [1]\nx[0] = a\nx[1] = 2",
    "x = {}\nx[k] = a", "x = {}\nx['a'] = a\nreturn x", "x = [a] * k", "x = (1, 2)\nx[0] = 3",
    "x = []\nx.append(1)\nx.append('x')", "x = [3]\nwhile x:\n    x.pop()",
    "x = []\nfor i in range(k):\n    x.append(x)", "with dcpy.tasklet:\n    x << a[0]\n    y = x\n    y >> b[0]",
    "with dcpy.tasklet:\n    x << undefined\n", "for i in dcpy.map[0:k]:\n    return i",
    "for i, j in dcpy.map[0:2]:\n    a[i] = 1", "for i in dcpy.map:\n    pass", "lambda: (yield)", "...", "a.sort(3)",
    "a.fill()", "a.resize(3)", "np.copyto(a, c)", "np.random.seed('x')", "np.put(a, 9, 9)", "np.place(a, b, c)",
    "k.real = 3",
)  # fmt: skip


@dataclass
class Findings:
    """What became of some programs."""

    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def add(self, other: Findings) -> None:
        self.outcomes += other.outcomes
        self.failures += other.failures


def mutated(seed: int) -> Program:
    """A program with a few mistakes, the same for a seed."""
    rng = random.Random(seed)
    program = seeded(seed) if rng.random() < 0.5 else None
    text = program.source if program else HEAD + "".join(f"    {line}\n" for line in rng.choice(BODIES).split("\n"))
    arguments = program or Program("", scalar=rng.randrange(6), seed=seed)
    while True:
        tree = ast.parse(text)
        try:
            for _ in range(rng.randint(1, MUTATIONS)):
                rng.choice(_MUTATIONS)(tree, rng)
            source = ast.unparse(ast.fix_missing_locations(tree)) + "\n"
            compile(source, "<mutated>", "exec")
        except (SyntaxError, ValueError, TypeError, AttributeError, IndexError):  # no Python
            continue
        if source.startswith("def f("):
            return replace(arguments, source=source)


def check(seeds: range, failures: int = 20) -> Findings:
    """Compiles the programs of these seeds."""
    found = Findings()
    for seed in seeds:
        with limited(SECONDS):
            outcome = outcome_of(mutated(seed), seed)
        kind, _, told = outcome.partition("\n")
        found.outcomes[kind] += 1
        if told and len(found.failures) < failures:
            found.failures.append(f"seed {seed}: {kind}\n{told}")
    return found


def outcome_of(program: Program, seed: int = 0) -> str:
    """In a word what becomes of a program; behind a line end, what is wrong with that."""
    options = {"auto_optimize": seed % 3 == 0, "allow_callbacks": seed % 7 == 0}
    arguments = dict(zip(ARGUMENTS, program.arguments(), strict=True))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            function = program.function()
            arguments = {name: arguments.get(name, 1) for name in function.__code__.co_varnames[: _count(function)]}
            dcpy.program(function, **options).to_sdfg(**arguments).code()
    except dcpy.CompilerFault as fault:
        return f"fault\n{fault}\n{_last_frames(fault.__cause__)}\n{program.source}"
    except dcpy.FrontendError as error:
        return "refused" if error.span is not None else f"no place\n{error}\n{program.source}"
    except dcpy.DcpyError:
        return "refused later"
    except Exception as error:
        if is_marked(error):
            return "raised"
        return f"escaped\n{type(error).__name__}: {error}\n{_last_frames(error)}\n{program.source}"
    return "valid"


def _count(function: object) -> int:
    code = function.__code__  # type: ignore[attr-defined]
    return code.co_argcount + code.co_kwonlyargcount


def _last_frames(error: BaseException | None) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-4:] if error else []
    return "\n".join(f"  {frame.filename.rpartition('dcpy/')[2]}:{frame.lineno} {frame.name}" for frame in frames)


# -- mutations -------------------------------------------------------------------------------------------------------


def _expressions(tree: ast.AST) -> list[tuple[ast.AST, str, int | None]]:
    """The places of expressions: a node, the name of its field, and the position in a list."""
    found: list[tuple[ast.AST, str, int | None]] = []
    for node in ast.walk(tree):
        for name, value in ast.iter_fields(node):
            if isinstance(value, ast.expr):
                found.append((node, name, None))
            elif isinstance(value, list):
                found += [(node, name, k) for k, item in enumerate(value) if isinstance(item, ast.expr)]
    return found


def _bodies(tree: ast.AST) -> list[list[ast.stmt]]:
    found = [getattr(node, name) for node in ast.walk(tree) for name in ("body", "orelse") if hasattr(node, name)]
    return [body for body in found[1:] if isinstance(body, list) and body and isinstance(body[0], ast.stmt)]


def _put(place: tuple[ast.AST, str, int | None], value: ast.expr) -> None:
    node, name, position = place
    if position is None:
        setattr(node, name, value)
    else:
        getattr(node, name)[position] = value


def _get(place: tuple[ast.AST, str, int | None]) -> ast.expr:
    node, name, position = place
    value = getattr(node, name)
    found: ast.expr = value if position is None else value[position]
    return found


def _strange_expression(tree: ast.AST, rng: random.Random) -> None:
    _put(rng.choice(_expressions(tree)), ast.parse(rng.choice(STRANGE), mode="eval").body)


def _expression_from_elsewhere(tree: ast.AST, rng: random.Random) -> None:
    places = _expressions(tree)
    _put(rng.choice(places), copy.deepcopy(_get(rng.choice(places))))


_AROUND = (
    "-{}", "not {}", "{}.T", "{}[0]", "{}[{}]", "{}()", "({}, {})", "[{}]", "{} + {}", "{} if {} else 1", "{}.x",
    "{} < {}", "*{}", "lambda: {}", "np.sin({})", "len({})", "{}[..., None]", "[x for x in {}]", "{} @ {}", "str({})",
)  # fmt: skip


def _strange_around(tree: ast.AST, rng: random.Random) -> None:
    place = rng.choice(_expressions(tree))
    inner = ast.unparse(_get(place))
    form = rng.choice(_AROUND)
    _put(place, ast.parse(f"({form.replace('{}', f'({inner})')})", mode="eval").body if form[0] != "*"
         else ast.Starred(_get(place), ast.Load()))  # fmt: skip


def _strange_statement(tree: ast.AST, rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    position = rng.randint(0, len(body))
    body[position:position] = ast.parse(rng.choice(STATEMENTS).strip().rstrip(","), type_comments=False).body


def _statement_gone(tree: ast.AST, rng: random.Random) -> None:
    body = rng.choice(_bodies(tree))
    del body[rng.randrange(len(body))]
    body += [] if body else [ast.Pass()]


def _statement_moved(tree: ast.AST, rng: random.Random) -> None:
    body, other = rng.choice(_bodies(tree)), rng.choice(_bodies(tree))
    other.insert(rng.randint(0, len(other)), copy.deepcopy(rng.choice(body)))


def _other_name(tree: ast.AST, rng: random.Random) -> None:
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    if names:
        rng.choice(names).id = rng.choice([*(name.id for name in names), "undefined", "_", "self", "f", "np", "int"])


def _other_attribute(tree: ast.AST, rng: random.Random) -> None:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    if nodes:
        rng.choice(nodes).attr = rng.choice(
            [*(node.attr for node in nodes), "x", "T", "shape", "dtype", "append", "real", "size", "at"]
        )


def _other_arguments(tree: ast.AST, rng: random.Random) -> None:
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if not calls:
        return
    call = rng.choice(calls)
    match rng.randrange(4):
        case 0:
            call.args = call.args[:-1]
        case 1:
            call.args.append(ast.parse(rng.choice(STRANGE[:60]), mode="eval").body)
        case 2:
            name = rng.choice(("axis", "dtype", "out", "where", "keepdims", "x", "key", "order", "initial"))
            call.keywords.append(ast.keyword(name, ast.parse(rng.choice(STRANGE[:60]), mode="eval").body))
        case 3:
            rng.shuffle(call.args)


def _other_constant(tree: ast.AST, rng: random.Random) -> None:
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Constant)]
    if nodes:
        rng.choice(nodes).value = rng.choice(
            (None, True, "x", b"x", ..., -1, 0, 7, 2**31, 2**63, 2**64, 10**30, 1.5, 1e300, 2j)
        )


def _other_parameters(tree: ast.AST, rng: random.Random) -> None:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
    args = rng.choice(functions).args
    match rng.randrange(4):
        case 0:
            args.args = args.args[:-1]
        case 1:
            args.args.append(ast.arg("extra"))
        case 2:
            args.vararg = ast.arg("rest")
        case 3:
            args.kwarg = ast.arg("named")


_MUTATIONS = (
    _strange_expression, _strange_expression, _strange_expression, _strange_around, _strange_around,
    _expression_from_elsewhere, _strange_statement, _strange_statement, _statement_gone, _statement_moved, _other_name,
    _other_attribute, _other_arguments, _other_arguments, _other_constant, _other_parameters,
)  # fmt: skip


def main(number: int, first: int) -> int:
    """Checks so many programs in all processors; 1 where something escaped."""
    found = Findings()
    with ProcessPoolExecutor(max_workers=2) as pool:
        ranges = [range(k, min(k + BATCH, first + number)) for k in range(first, first + number, BATCH)]
        for part in pool.map(check, ranges):
            found.add(part)
    for failure in found.failures:
        print(failure)
    print(", ".join(f"{kind}: {count}" for kind, count in sorted(found.outcomes.items())))
    return int(bool(found.failures))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0))
