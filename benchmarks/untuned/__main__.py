"""``python -m benchmarks.untuned [NAME ...]``: each program in dcpy and in its peers' best forms, in turn.

A ratio is the time of the fastest peer over dcpy's (`auto_optimize`): above 1, dcpy is faster. That of a program is the
geometric mean over its sizes; where dcpy refuses a program, or is wrong, NumPy's time counts as its own, or 0.01 where
NumPy has no form. Peers are NumPy, and Numba and JAX where `make bench-peers` has installed them.

``--half counted`` takes, in place of those that passes are developed against, the programs that are only counted. One
thread is timed in processor time.
"""

from __future__ import annotations

import argparse
import json
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.ab import geometric_mean
from benchmarks.contenders import Contender, Row, measured
from benchmarks.untuned import HALVES, Untuned, programs

PEERS = ("numpy", "numba", "numba-parallel", "jax")
FAILED = 0.01  # of the best peer's speed


def ratio(row: Row) -> float:
    """The best peer's time over dcpy's; NaN where no peer takes part."""
    peers = [row.seconds[peer] for peer in PEERS if peer in row.seconds]
    if not peers:
        return math.nan
    mine = row.seconds.get("dcpy", row.seconds.get("numpy", min(peers) / FAILED))
    return min(peers) / mine


def best_peer(row: Row) -> str:
    """The peer that is fastest; "" where there is none."""
    return min((peer for peer in PEERS if peer in row.seconds), key=lambda peer: row.seconds[peer], default="")


def main(words: Sequence[str] | None = None) -> int:
    """Prints the table, slowest first."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.untuned", description=__doc__)
    parser.add_argument("names", nargs="*", help="regular expressions of programs; default: all")
    parser.add_argument("--half", default="develop", choices=HALVES)
    parser.add_argument("--sizes", default="SML")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--peers", default=",".join(PEERS), help="which, with commas")
    parser.add_argument("--plain", action="store_true", help="dcpy without auto_optimize, too")
    parser.add_argument("--seconds", type=float, default=0.5, help="of timing, for each program and size")
    parser.add_argument("--json", default="", help="where to keep the rows")
    chosen = parser.parse_intermixed_args(words)
    tools = [each for each in chosen.peers.split(",") if each != "numba-parallel" or chosen.threads > 1]
    contenders = [Contender(tool, tool, chosen.threads) for tool in (*tools, "dcpy", *(["dcpy-plain"] * chosen.plain))]
    contenders = [each for each in contenders if each.python.exists()]
    found: dict[str, list[Row]] = {}
    for name, program in programs().items():
        wanted = not chosen.names or any(re.search(each, name) for each in chosen.names)
        if not wanted or chosen.half != program.half:
            continue
        found[name] = [
            measured(contenders, "untuned", name, size, seconds=chosen.seconds, tolerance=program.tolerance)
            for size in chosen.sizes
        ]
        print(f"{name:32}" + "".join(f"{ratio(row):8.2f}" for row in found[name]), _said(found[name]), flush=True)
        if chosen.json:
            rows = [vars(row) | {"family": programs()[key].family} for key, each in found.items() for row in each]
            Path(chosen.json).write_text(json.dumps({"threads": chosen.threads, "rows": rows}, indent=1))
    for each in contenders:
        each.close()
    tell(found, programs(), chosen.sizes)
    return 0


def tell(found: Mapping[str, Sequence[Row]], known: Mapping[str, Untuned], sizes: str) -> None:
    """Prints the programs from the slowest to the fastest, families, sizes, and what all of them come to."""
    means = {name: geometric_mean(r for r in map(ratio, rows) if not math.isnan(r)) for name, rows in found.items()}
    means = {name: mean for name, mean in sorted(means.items(), key=lambda item: item[1]) if not math.isnan(mean)}
    columns = "".join(f"{size:>8}" for size in sizes)
    print(f"\n{'program':32}{'family':16}{'ratio':>7}{columns}  best peer of each size")
    for name, mean in means.items():
        each = "".join(f"{ratio(row):8.2f}" for row in found[name])
        print(f"{name:32}{known[name].family:16}{mean:7.2f}{each}  {' '.join(map(best_peer, found[name]))}")
    for family in dict.fromkeys(known[name].family for name in means):
        of = [mean for name, mean in means.items() if known[name].family == family]
        print(f"family {family:16}{len(of):4} programs{geometric_mean(of):7.2f}, below 1: {sum(m < 1 for m in of)}")
    for position, size in enumerate(sizes):
        print(f"size {size}: {_counted([ratio(rows[position]) for rows in found.values()])}")
    firsts = sorted(row.first["dcpy"] for rows in found.values() for row in rows[:1] if "dcpy" in row.first)
    if firsts:
        print(f"first call: median {firsts[len(firsts) // 2]:.2f} s, longest {firsts[-1]:.2f} s")
    refused = [name for name, rows in found.items() if any("dcpy" in row.refused for row in rows)]
    print(f"refused or wrong: {', '.join(refused) or 'none'}")
    print(f"all: {_counted(list(means.values()))}")


def _counted(ratios: Sequence[float]) -> str:
    there = [each for each in ratios if not math.isnan(each)]
    below = ", ".join(f"below {bar}: {sum(each < bar for each in there)}" for bar in (1, 0.8, 0.5))
    return f"{len(there)} over the best peer: geometric mean {geometric_mean(there):.2f}; {below}"


def _said(rows: Sequence[Row]) -> str:
    said: dict[str, Any] = {}
    for row in rows:
        said |= {who: why for who, why in row.refused.items() if not why.startswith("LookupError")}
    return "  ".join(f"{who}: {why}" for who, why in said.items())


if __name__ == "__main__":
    raise SystemExit(main())
