"""Random memory orders against NumPy: `python -m tests.fuzz.orders N [first seed] [interpreted|compiled]`.

Operands of random layouts go through random operations; values and strides are compared, of results and of what reads
in the order of memory: `ravel`, `flatten`, `copy`, `*_like` with the orders K, A, C and F.
"""

from __future__ import annotations

import os
import random
import re
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import dcpy
from dcpy.base.errors import FrontendError
from tests.fuzz.program import define
from tests.support.layouts import layouts
from tests.support.oracles import assert_equal
from tests.support.spent import Stopwatch
from tests.support.used import Used

ONE = (
    "{} + 1", "np.sin({})", "{} > 0.5", "-{}", "{}.astype(np.float32)", "{}.copy('{o}')",
    "np.copy({}, order='{o}')", "np.array({}, order='{o}')", "np.asarray({}, order='{o}')",
    "np.ones_like({}, order='{o}')", "np.zeros_like({}) - 2", "np.sort({}, axis={x})", "np.cumsum({}, axis={x})",
    "np.flip({}, {x})", "np.roll({}, 1, axis={x})", "{}[::-1]", "{}[:, ::2]", "{}[..., 1:]", "{}[[1, 0, 1]]",
    "{}[:, [0, 2]]", "np.take({}, [1, 0], axis={x})", "np.repeat({}, 2, axis={x})", "np.swapaxes({}, 0, {x})",
    "np.moveaxis({}, {x}, 0)", "{}.transpose(1, 2, 0)", "{}.T", "np.sum({}, axis={x}, keepdims=True) + {}",
    "{} - np.mean({}, axis={x}, keepdims=True)", "np.where({} > 0, {}, 0.0)", "np.clip({}, -1.0, 1.0)",
    "np.pad({}, 1)", "np.tile({}, 2)", "np.diff({}, axis={x})", "np.concatenate(({}, {}), axis={x})",
    "np.broadcast_to({}[0], {}.shape)", "np.abs({})", "np.exp({}.T).T", "np.maximum({}, 0.25)",
    "np.round({}, 1)", "np.delete({}, 0, axis={x})", "np.nan_to_num({})", "np.negative({}, order='{o}')",
    "{} if k > 2 else {} * 2", "np.gradient({}, axis={x})", "np.linalg.norm({}, axis={x}, keepdims=True) * {}",
    "np.argsort({}, axis={x}, kind='stable')",
)  # fmt: skip
TWO = ("{} + {}", "np.maximum({}, {})", "{} * {}", "np.hypot({}, {})", "np.where({} > 0, {}, 1.0)",
       "np.arctan2({}, {})", "np.concatenate(({}, {}), axis={x})", "np.stack(({}, {}), axis={x})[0]")  # fmt: skip
READ = (
    "{}", "{}.ravel('{o}')", "{}.flatten('{o}')", "{}.copy('{o}')", "np.zeros_like({}, order='{o}')", "{}.T",
    "{}[0]", "{}.reshape(-1, order='{p}')", "{}[..., ::2]", "{}.flags.c_contiguous", "{}.flags.f_contiguous",
    "{} + 0", "np.ravel({}, '{o}')", "np.sum({}, axis=0)", "np.max({}, axis=-1, keepdims=True)",
)  # fmt: skip

DOCUMENTED = {  # where strides are others on purpose: docs/explanation/numpy.md
    "parts of arrays that are returned, several by path": re.compile(r"if k > 2(?s:.)*return.*(\.\., ::2|\[0\]|\.T)"),
    "arrays of which a path repeats numbers": re.compile(r"if k > 2(?s:.)*\[\(.*\b0\b"),
}


def source_of(seed: int) -> str:
    """A function of two arrays and a number."""
    rng = random.Random(seed)
    names, lines = ["a", "b"], []
    for k in range(rng.randint(1, 3)):
        one = rng.random() < 0.7 or rng.random() < 0.3
        text = rng.choice(ONE if one else TWO)
        name, other = rng.choice(names), rng.choice(names)
        operands = [name, name if one else other]
        lines.append(f"    v{k} = {_filled(text, operands, rng)}")
        names.append(f"v{k}")
    read = [_filled(rng.choice(READ), [rng.choice(names[2:]), ""], rng) for _ in range(rng.randint(1, 3))]
    return "\n".join(["def f(a, b, k):", *lines, f"    return {', '.join(read)},"]) + "\n"


def _filled(text: str, operands: list[str], rng: random.Random) -> str:
    first, *rest = text.split("{}")
    for k, part in enumerate(rest):
        first += operands[min(k, 1)] + part
    return first.replace("{o}", rng.choice("KACF")).replace("{p}", rng.choice("ACF")).replace("{x}", rng.choice("012"))


def arguments_of(seed: int) -> tuple[Any, ...]:
    """Two arrays of random layouts, and a number. No part with steps has one element along an axis."""
    rng = random.Random(-seed - 1)
    shape = rng.choice([(2, 3, 4), (3, 3, 3), (3, 4, 3)])
    known = layouts(shape)
    return known[rng.choice(list(known))], known[rng.choice(list(known))], 3


def interpreted(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What the interpreter gives, by the version that a call gets."""
    return Used(function)(*given)


def compiled(function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    """What compiled code gives."""
    return dcpy.program(function)(*given)


RUNS = {"interpreted": interpreted, "compiled": compiled}


def check(seed: int, way: str = "interpreted") -> str:
    """Compares one program with NumPy; why it is refused, "" where it is not, "raised" where NumPy raises."""
    function, given = define(source_of(seed)), arguments_of(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            expected = function(*given)
        except Exception:
            return "raised"
        try:
            got = RUNS[way](function, given)
        except FrontendError as error:
            return error.message
    shown = f"{source_of(seed)}{[array.strides for array in given[:2]]}"
    for reason, known in DOCUMENTED.items():
        if known.search(shown):
            assert_equal(*map(_packed, (got, expected)), 1e-6)
            return reason
    assert_equal(got, expected, 1e-6)
    return ""


def _packed(values: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(value.copy("C") if isinstance(value, np.ndarray) else value for value in values)


def main(count: int, first: int = 0, way: str = "interpreted") -> int:
    """Checks so many programs; 1 if one differs."""
    watch, failures = Stopwatch(), 0
    counts: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            counts[check(seed, way)] += 1
        except Exception as error:
            failures += 1
            layout = [array.strides for array in arguments_of(seed)[:2]]
            what = f"{type(error).__name__}: {str(error)[:300]}"
            print(f"seed {seed}, strides {layout}: {what}\n{source_of(seed)}", flush=True)
    for reason, times in counts.most_common():
        print(f"{times:6} {reason or 'as NumPy'}")
    print(f"{failures} mismatches, {watch}")
    return 1 if failures else 0


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ.setdefault("DCPY_CACHE_DIR", folder)
        sys.exit(main(*map(int, sys.argv[1:3]), *sys.argv[3:]))
