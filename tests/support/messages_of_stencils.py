"""How many messages stencils on grids of ranks send, and how many elements these have: formulas of N and P."""

from __future__ import annotations


def along(n, ranks):
    """Of an axis with a halo of 1: blocks with elements, ranks that get an element before theirs, and behind theirs."""
    block = -(-n // ranks)
    blocks = -(-n // block)
    return blocks, min(ranks - 1, n // block), blocks - 1


def one_update(name, n, m, grid):
    """Messages and elements of one step: both sides of A and B, or each side once of three fields."""
    (rows, above, below), (columns, left, right) = along(n, grid[0]), along(m, grid[1])
    if name == "jacobi_1d":  # along the other axis there are copies
        return 2 * (above + below) * grid[1], 2 * (above + below) * grid[1]
    twice, deep = (1, 1) if name == "fdtd_2d" else (2, n if name == "heat_3d" else 1)
    messages = twice * ((above + below) * columns + (left + right) * rows)
    return messages, twice * deep * ((above + below) * m + (left + right) * n)
