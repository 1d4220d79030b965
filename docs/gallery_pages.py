"""Make the gallery of the site: run its programs, measure them beside NumPy, and draw figures.

`python -m docs.gallery_pages`, which needs matplotlib, is a part of `make docs`.
Without measurements, which is how `docs.generate` writes them, the pages have the programs only.
"""

from __future__ import annotations

import copy
import importlib
import os
import pkgutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from examples import gallery

FOLDER = Path(__file__).parent / "gallery"
NAMES = sorted(module.name for module in pkgutil.iter_modules(gallery.__path__))
CALLS = 5  #: of which the fastest counts
SECONDS = 3.0  #: after which no further call is made


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of a call by NumPy and by the compiled program, and of the first call, which compiles."""

    numpy: float
    compiled: float
    first: float

    @property
    def speedup(self) -> float:
        """How many times faster than NumPy the compiled program is."""
        return self.numpy / self.compiled


def module_of(name: str) -> ModuleType:
    """The module of one program."""
    return importlib.import_module(f"examples.gallery.{name}")


def text_of(name: str) -> tuple[str, str, str]:
    """Title, one sentence, and explanation: the parts of the module's docstring."""
    first, _, rest = (module_of(name).__doc__ or "").partition("\n")
    title, _, sentence = first.partition(": ")
    return title, sentence[:1].upper() + sentence[1:], rest.strip()


def page(name: str, measured: Measured | None = None) -> str:
    """The page of one program."""
    title, sentence, explanation = text_of(name)
    source = Path(module_of(name).__file__ or "").read_text().partition('"""\n\n')[2]
    lines = [f"# {title}\n", f"{sentence}\n", f"{explanation}\n"]
    if measured is not None:
        lines += [f"![{title}]({name}.png)\n", "| | time of a call |", "|---|---|"]
        lines += [f"| NumPy | {_milliseconds(measured.numpy)} |", f"| dcpy | {_milliseconds(measured.compiled)} |"]
        lines += [f"\n**{measured.speedup:.1f} times as fast as NumPy**, for the size {module_of(name).LARGE}. "]
        lines += [f"The first call compiled for {measured.first:.1f} s. {_machine()}\n"]
    lines += [f"```python\n{source}```\n", f"The file is `examples/gallery/{name}.py`.\n"]
    return "\n".join(lines)


def index(all_measured: Mapping[str, Measured] | None = None) -> str:
    """The page with a picture of each program and the table of speeds."""
    lines = ["# Gallery\n", "Twelve programs of science: plain NumPy with a decorator.\n"]
    if not all_measured:
        lines += [f"* [{text_of(name)[0]}]({name}.md): {text_of(name)[1]}" for name in NAMES]
        return "\n".join([*lines, "\nFigures and times are made by `python -m docs.gallery_pages`.\n"])
    lines += ['<div class="grid cards" markdown>\n']
    for name in NAMES:
        title, sentence, _ = text_of(name)
        lines += [f"-   **[{title}]({name}.md)**\n\n    [![{title}]({name}.png)]({name}.md)\n\n    {sentence}\n"]
    lines += ["</div>\n", "## Speed beside NumPy\n", "| program | NumPy | dcpy | times as fast |", "|---|---|---|---|"]
    for name, each in all_measured.items():
        link = f"[{text_of(name)[0]}]({name}.md)"
        times = f"{_milliseconds(each.numpy)} | {_milliseconds(each.compiled)}"
        lines.append(f"| {link} | {times} | {each.speedup:.1f} |")
    return "\n".join([*lines, f"\n{_machine()}\n"])


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds * 1e3:.0f} ms"


def _machine() -> str:
    return (
        f"Measured when this site was built, with NumPy {np.__version__} on {os.cpu_count()} cores: "
        f"the fastest of up to {CALLS} calls."
    )


def measure(name: str) -> tuple[Measured, Any]:
    """Times of one program at its large size, and its result, which is compared with NumPy's."""
    module = module_of(name)
    program, arguments = getattr(module, name), module.initialize(module.LARGE)
    start = time.perf_counter()
    result = program(**copy.deepcopy(arguments))
    first = time.perf_counter() - start
    by_numpy, expected = _fastest(program.function, arguments)
    np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-8)
    compiled, _ = _fastest(program, arguments)
    return Measured(by_numpy, compiled, first), result


def _fastest(function: Callable[..., Any], arguments: Mapping[str, Any]) -> tuple[float, Any]:
    """Seconds of the fastest call, and a result; each call has arguments of its own."""
    found, end = [], time.perf_counter() + SECONDS
    while not found or (len(found) < CALLS and time.perf_counter() < end):
        own = copy.deepcopy(dict(arguments))
        start = time.perf_counter()
        result = function(**own)
        found.append(time.perf_counter() - start)
    return min(found), result


def draw(name: str, result: Any, path: Path) -> None:
    """Write the figure of one program."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.8, 3.6), dpi=150, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    module_of(name).draw(axes, result)
    if axes.images:
        axes.set_axis_off()
    figure.savefig(path, bbox_inches="tight")


def pages() -> dict[str, Callable[[], Iterator[str]]]:
    """The pages without measurements, by their place in the documents."""
    found: dict[str, Callable[[], Iterator[str]]] = {"gallery/index.md": lambda: iter([index()])}
    for name in NAMES:
        found[f"gallery/{name}.md"] = lambda name=name: iter([page(name)])  # type: ignore[misc]
    return found


def main() -> None:
    """Write all pages with figures and measurements."""
    FOLDER.mkdir(exist_ok=True)
    all_measured = {}
    for name in NAMES:
        all_measured[name], result = measure(name)
        draw(name, result, FOLDER / f"{name}.png")
        (FOLDER / f"{name}.md").write_text(page(name, all_measured[name]))
        print(f"{name}: {all_measured[name].speedup:.1f} times as fast as NumPy")
    (FOLDER / "index.md").write_text(index(all_measured))


if __name__ == "__main__":
    main()
