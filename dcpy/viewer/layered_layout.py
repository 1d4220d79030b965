"""Layered layout: the vertices of an acyclic graph in layers from top to bottom, with few crossings and short edges.

The classic steps (Sugiyama, Tagawa, Toda 1981): layers by longest path, bends where an edge passes a layer, order
within a layer by barycentres, then positions that are as close as possible to their neighbours'. Pure geometry:
sizes in, coordinates out, the same for the same input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Point = tuple[float, float]
SWEEPS = 8  # down and up, when ordering and when placing
LAYER_GAP, NEIGHBOUR_GAP, BEND_GAP, PORT_GAP = 22.0, 26.0, 14.0, 14.0


@dataclass(frozen=True, slots=True)
class Layout:
    """`positions` are the top left corners of the vertices; `paths` the points of the edges, from source to target.

    A path goes straight from its first point to its second, then bends to its third, and so on alternately.
    """

    positions: list[Point]
    paths: list[list[Point]]
    width: float
    height: float


def layered(sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> Layout:
    """Places vertices of these sizes; every edge goes from a lower number to a higher one."""
    graph = _Layers(sizes, edges)
    graph.order()
    graph.place()
    return graph.layout()


class _Layers:
    """Vertices, and bends as further vertices without a size."""

    def __init__(self, sizes: Sequence[tuple[float, float]], edges: Sequence[tuple[int, int]]) -> None:
        self.count = len(sizes)
        self.sizes = list(sizes)
        self.level = _levels(len(sizes), edges)
        self.chains: list[list[int]] = []  # of each edge: source, bends, target
        self.above: list[list[int]] = [[] for _ in sizes]
        self.below: list[list[int]] = [[] for _ in sizes]
        for source, target in edges:
            chain = [source]
            for level in range(self.level[source] + 1, self.level[target]):
                chain.append(self._bend(level))
            chain.append(target)
            for upper, lower in pairwise(chain):
                self.below[upper].append(lower)
                self.above[lower].append(upper)
            self.chains.append(chain)
        depth = max(self.level, default=-1) + 1
        self.layers: list[list[int]] = [[] for _ in range(depth)]
        for vertex, level in enumerate(self.level):
            self.layers[level].append(vertex)
        self.x: list[float] = []  # centres

    def _bend(self, level: int) -> int:
        self.sizes.append((0.0, 0.0))
        self.level.append(level)
        self.above.append([])
        self.below.append([])
        return len(self.sizes) - 1

    # -- order -------------------------------------------------------------------------------------------------

    def order(self) -> None:
        """Sort each layer by the mean position of its neighbours; keep the order with the fewest crossings."""
        best, fewest = [list(layer) for layer in self.layers], self._crossings()
        for sweep in range(SWEEPS):
            if fewest == 0:
                break
            self._sweep(down=sweep % 2 == 0)
            crossings = self._crossings()
            if crossings < fewest:
                best, fewest = [list(layer) for layer in self.layers], crossings
        self.layers = best

    def _sweep(self, *, down: bool) -> None:
        neighbours = self.above if down else self.below
        place = self._places()
        for layer in self.layers if down else reversed(self.layers):
            means = {vertex: _mean([place[other] for other in neighbours[vertex]], place[vertex]) for vertex in layer}
            layer.sort(key=lambda vertex: (means[vertex], place[vertex]))
            for position, vertex in enumerate(layer):
                place[vertex] = position

    def _places(self) -> dict[int, float]:
        return {vertex: float(position) for layer in self.layers for position, vertex in enumerate(layer)}

    def _crossings(self) -> int:
        place = self._places()
        total = 0
        for layer in self.layers[:-1]:
            ends = [place[lower] for upper in layer for lower in sorted(self.below[upper], key=place.__getitem__)]
            total += _inversions(ends)
        return total

    # -- positions ---------------------------------------------------------------------------------------------

    def place(self) -> None:
        """Centres each vertex between its neighbours as far as the order and the gaps allow."""
        self.x = [0.0] * len(self.sizes)
        for layer in self.layers:
            self._settle(layer, [0.0] * len(layer))
        for sweep in range(SWEEPS):
            down = sweep % 2 == 0
            neighbours = self.above if down else self.below
            for layer in self.layers if down else reversed(self.layers):
                wishes = [_mean([self.x[other] for other in neighbours[v]], self.x[v]) for v in layer]
                self._settle(layer, wishes)

    def _settle(self, layer: list[int], wishes: list[float]) -> None:
        """Least squares under minimal distances: neighbours that would overlap move as one block (PAVA)."""
        offsets = [0.0]
        for left, right in pairwise(layer):
            offsets.append(offsets[-1] + self._distance(left, right))
        blocks: list[tuple[float, int]] = []  # mean wish, how many
        for wish, offset in zip(wishes, offsets, strict=True):
            mean, count = wish - offset, 1
            while blocks and blocks[-1][0] > mean:
                other, others = blocks.pop()
                mean, count = (mean * count + other * others) / (count + others), count + others
            blocks.append((mean, count))
        places = [mean for mean, count in blocks for _ in range(count)]
        for vertex, place, offset in zip(layer, places, offsets, strict=True):
            self.x[vertex] = place + offset

    def _distance(self, left: int, right: int) -> float:
        bends = left >= self.count, right >= self.count
        gap = BEND_GAP if any(bends) else NEIGHBOUR_GAP
        return (self.sizes[left][0] + self.sizes[right][0]) / 2 + gap

    # -- result ------------------------------------------------------------------------------------------------

    def layout(self) -> Layout:
        """Coordinates that begin at 0."""
        left = min((self.x[v] - self.sizes[v][0] / 2 for v in range(len(self.sizes))), default=0.0)
        self.x = [x - left for x in self.x]
        width = max((self.x[v] + self.sizes[v][0] / 2 for v in range(len(self.sizes))), default=0.0)
        tops, bottoms, y = [], [], 0.0
        for layer in self.layers:
            height = max((self.sizes[vertex][1] for vertex in layer), default=0.0)
            tops.append(y)
            bottoms.append(y + height)
            y += height + LAYER_GAP
        positions = []
        for vertex in range(self.count):
            (own_width, height), level = self.sizes[vertex], self.level[vertex]
            middle = (tops[level] + bottoms[level]) / 2
            positions.append((self.x[vertex] - own_width / 2, middle - height / 2))
        paths = self._paths(positions, tops, bottoms)
        return Layout(positions, paths, width, bottoms[-1] if bottoms else 0.0)

    def _paths(self, positions: list[Point], tops: list[float], bottoms: list[float]) -> list[list[Point]]:
        leaving, arriving = self._ports(self.below, 1), self._ports(self.above, -2)
        paths = []
        for chain in self.chains:
            source, target = chain[0], chain[-1]
            start_x, end_x = leaving[source, chain[1]].pop(0), arriving[target, chain[-2]].pop(0)
            start = positions[source][1] + self.sizes[source][1]
            points = [(start_x, start), (start_x, bottoms[self.level[source]])]
            for bend in chain[1:-1]:
                points += [(self.x[bend], tops[self.level[bend]]), (self.x[bend], bottoms[self.level[bend]])]
            points += [(end_x, tops[self.level[target]]), (end_x, positions[target][1])]
            paths.append(points)
        return paths

    def _ports(self, neighbours: list[list[int]], end: int) -> dict[tuple[int, int], list[float]]:
        """Return the ports of edges at a vertex, by vertex and neighbour, in the order of the neighbours."""
        ports: dict[tuple[int, int], list[float]] = {}
        for vertex in range(self.count):
            others = sorted(neighbours[vertex], key=lambda other: (self.x[other], other))
            room = min(PORT_GAP, self.sizes[vertex][0] * 0.6 / max(len(others) - 1, 1))
            for position, other in enumerate(others):
                shift = (position - (len(others) - 1) / 2) * room
                ports.setdefault((vertex, other), []).append(self.x[vertex] + shift)
        return ports


def _levels(count: int, edges: Sequence[tuple[int, int]]) -> list[int]:
    """The longest way from a source; sources themselves move down to just above where they are needed."""
    import networkx

    graph = networkx.DiGraph(edges)
    graph.add_nodes_from(range(count))
    level = [0] * count
    for number, layer in enumerate(networkx.topological_generations(graph)):
        for vertex in layer:
            level[vertex] = number
    first_use: dict[int, int] = {}
    has_input = {target for _, target in edges}
    for source, target in edges:
        first_use[source] = min(first_use.get(source, level[target]), level[target])
    return [
        first_use[vertex] - 1 if vertex not in has_input and vertex in first_use else level[vertex]
        for vertex in range(count)
    ]


def _mean(values: list[float], otherwise: float) -> float:
    return sum(values) / len(values) if values else otherwise


def _inversions(values: list[float]) -> int:
    """Return the number of pairs that are out of order."""
    if len(values) < 2:
        return 0
    middle = len(values) // 2
    left, right = values[:middle], values[middle:]
    total = _inversions(left) + _inversions(right)
    left, right = sorted(left), sorted(right)
    position = 0
    for value in right:
        while position < len(left) and left[position] <= value:
            position += 1
        total += len(left) - position
    return total
