"""``python -m benchmarks.overview``: the picture of the README, from the results of the last campaign.

Bars say how many times as fast as NumPy each framework runs a kernel: everybody gets the same NumPy source. Kernels are
the well-known ones that all frameworks were measured on. Needs matplotlib (the extra `bench`).
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path

RESULTS = Path("benchmarks/results/npbench.json")
PICTURE = Path("docs/images/overview.svg")
PRESET, THREADS = "large", 2
KERNELS = {
    "gemm": "matrix product",
    "doitgen": "tensor product",
    "gesummv": "matrix × vector",
    "softmax": "softmax",
    "stockham_fft": "FFT",
    "jacobi_2d": "Jacobi 2-d",
    "fdtd_2d": "FDTD 2-d",
    "hdiff": "weather stencil",
    "heat_3d": "heat 3-d",
    "arc_distance": "great circles",
}
FRAMEWORKS = {"dcpy": "#1b7f5c", "numba": "#4c78a8", "pythran": "#e0a030", "dace": "#9a6fb0", "jax": "#c8553d"}
TITLES = {"dcpy": "dcpy", "numba": "Numba", "pythran": "Pythran", "dace": "DaCe", "jax": "JAX"}
Row = Mapping[str, object]


def speedups(rows: Sequence[Row]) -> dict[str, dict[str, float | None]]:
    """Return of each kernel and framework how many times as fast as NumPy it is; None where it does not run.

    NumPy's time is the median of the medians beside all frameworks, as in the tables of benchmarks/README.md.
    """
    part = [row for row in rows if (row["preset"], row["threads"]) == (PRESET, THREADS)]
    table: dict[str, dict[str, float | None]] = {}
    for kernel in KERNELS:
        mine = [row for row in part if row["kernel"] == kernel]
        numpy = statistics.median(float(str(row["numpy_median"])) for row in mine if "numpy_median" in row)
        table[kernel] = dict.fromkeys(FRAMEWORKS)
        for row in mine:
            if row["framework"] in FRAMEWORKS and row["status"] == "ok":
                table[kernel][str(row["framework"])] = numpy / float(str(row["median"]))
    return table


def draw(table: Mapping[str, Mapping[str, float | None]], path: Path) -> None:
    """Draw the table as SVG: the same table gives the same bytes."""
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    style = {"svg.hashsalt": "dcpy", "svg.fonttype": "none", "font.family": "sans-serif", "font.size": 10}
    with matplotlib.rc_context(style):
        figure, axes = pyplot.subplots(figsize=(10, 3.8), layout="constrained")
        width = 0.8 / len(FRAMEWORKS)
        for place, (name, colour) in enumerate(FRAMEWORKS.items()):
            at = [kernel + (place - (len(FRAMEWORKS) - 1) / 2) * width for kernel in range(len(KERNELS))]
            heights = [table[kernel][name] for kernel in KERNELS]
            from_one = [math.nan if height is None else height - 1 for height in heights]
            axes.bar(at, from_one, width, bottom=1, color=colour, label=TITLES[name])
            for x, height in zip(at, heights, strict=True):
                if height is None:
                    axes.text(x, 1.04, "×", ha="center", va="bottom", color=colour, fontsize=9)
        axes.axhline(1, color="#333333", linewidth=1)
        axes.set_yscale("log")
        ticks = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]
        axes.set_yticks(ticks, [f"{tick:g}" for tick in ticks])
        axes.minorticks_off()
        axes.set_ylabel("times as fast as NumPy")
        axes.set_xticks(range(len(KERNELS)), list(KERNELS.values()), rotation=22, ha="right", rotation_mode="anchor")
        axes.legend(ncols=len(FRAMEWORKS), frameon=False, loc="upper left")
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title("The same NumPy source, two threads (× : does not run)", fontsize=10, loc="left")
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Date": None})
        pyplot.close(figure)


def main() -> None:
    """Read the results, and write the picture."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.overview", description=__doc__)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("-o", type=Path, default=PICTURE)
    chosen = parser.parse_args()
    draw(speedups(json.loads(chosen.json.read_text())["rows"]), chosen.o)
    print(chosen.o)


if __name__ == "__main__":
    main()
