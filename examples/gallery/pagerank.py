"""PageRank: importance of pages by the links between them.

Links are two index arrays. Each page passes its rank on to the pages that it links to, until the ranks settle.
"""

import numpy as np

import dcpy

SMALL, LARGE = 12, 20_000


@dcpy.program(auto_optimize=True)
def pagerank(source, target, pages, damping, tolerance):
    links = np.maximum(np.bincount(source, minlength=pages), 1)
    rank = np.full(pages, 1 / pages)
    change = 1.0
    while change > tolerance:
        passed = np.bincount(target, weights=rank[source] / links[source], minlength=pages)
        new = (1 - damping) / pages + damping * passed
        new /= new.sum()
        change = np.abs(new - rank).sum()
        rank = new
    return rank


def initialize(n):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, n, 8 * n), (n * rng.random(8 * n) ** 3).astype(np.int64)
    return {"source": source, "target": target, "pages": n, "damping": 0.85, "tolerance": 1e-10}


def draw(axes, result):
    axes.loglog(np.sort(result)[::-1])
    axes.set_xlabel("page, in order of rank")
    axes.set_ylabel("rank")
