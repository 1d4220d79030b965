"""Programs that are distributed in a way that a rule refuses: the rule, the program, and what is said about it."""

from __future__ import annotations

from dcpy import plugins

plugins.load()  # texts name library nodes

MAP = "tasklet (v <- x[i]) -> (o -> x[i]) { o = v }"


def array(placed: str, rest: str = "", grids: str = "g[P, Q]") -> str:
    return f"sdfg @f(x: f64[N, 7] on {placed}) symbols(N: size, P: size, Q: size) grids({grids}) {{ {rest} }}"


def mapped(home: str, body: str = MAP, around: str = "{}") -> str:
    inner = around.format(f"map i = 0:N home {home} {{ {body} }}")
    return f"sdfg @f(x: f64[N]) symbols(N: size, P: size, Q: size) grids(g[P, Q]) {{ {inner} }}"


def updating(what: str, before: int | str, data: str = "H: f64[N]") -> str:
    placed = "" if before == "" else " on g(block 0) halo (1:1)"
    widths = ("()", "()") if before == "" else (f"({before},)", "(1,)")
    update = f"comm.update (x <- {what}) -> (x -> {what}) {{before = {widths[0]}, behind = {widths[1]}}}"
    return f"sdfg @f() symbols(N: size) grids(g[2]) {{ data {data} transient{placed} {update} }}"


DISTRIBUTED = [
    ("grid.sizes", array("g(whole, whole)", grids="g[]"), "the grid 'g' has no axis"),
    ("grid.sizes", array("g(whole, whole)", grids="g[2, 0]"), "an axis of the grid 'g' has 0 ranks"),
    ("grid.sizes", "sdfg @f() grids(g[q]) { let q = 1 }", "mentions 'q', which is no free symbol"),
    ("distribution.grid", array("h(whole, whole)"), "'x' is on the grid 'h', which does not exist"),
    ("distribution.grid", array("g(block 2, whole)"), "'x' is along axis 2 of the grid 'g', which has 2"),
    ("distribution.grid", array("g(block 1, cyclic 1)"), "'x' is along axis 1 of the grid 'g' twice"),
    ("distribution.grid", array("g(block 1, whole) root 1"), "'x' is along axis 1 of the grid 'g' twice"),
    ("distribution.axes", array("g(block 1)"), "'x' has 2 dimensions, its distribution has 1"),
    ("distribution.axes", array("g(block 0, block 1) halo (1:1)"), "'x' has 2 dimensions, its halo has 1"),
    ("distribution.axes", array("g(block 0, cyclic 1) halo (1:1, 0:1)"), "a halo along a dimension that has no blocks"),
    ("distribution.axes", array("g(block 0, block 1) halo (-1:1, 0:1)"), "the halo of 'x' has a negative width"),
    ("distribution.blocks", array("g(whole, block 0 by 2)", grids="g[3]"), "1 elements of 'x' are on no rank"),
    ("distribution.blocks", array("g(whole, block 0 by 4 offset 2)", grids="g[2]"), "1 elements of 'x' are on no rank"),
    ("distribution.blocks", array("g(cyclic 0 by 0, whole)"), "'x' has blocks of 0 elements"),
    ("distribution.blocks", array("g(block 0 offset (-1), whole)"), "'x' has the offset -1"),
    ("distribution.blocks", array("g(whole, whole) root 0 at (-1)"), "'x' is at the coordinate -1"),
    ("distribution.partial", array("g(whole, whole) partial 0 add"), "has a value that is still to be combined"),
    ("distribution.partial", array("g(whole, whole) partial 0 bitand"), "f64 values of 'x' cannot be combined"),
    (
        "distribution.constant",
        "sdfg @f() grids(g[2]) { constant w: f64[1] = {0.5} data w: f64[1] transient on g(block 0) }",
        "the constant 'w' is distributed",
    ),
    (
        "distribution.constant",
        mapped("g(whole)", "data t: f64[2] transient on g(block 0)"),
        "'t' is private to iterations, and distributed",
    ),
    ("map.home", mapped("g(whole, whole)"), "the home of the map over i has 2 entries"),
    ("map.home", mapped("g(block 0)"), "the home of the map over i does not say how large blocks are"),
    ("map.halo", mapped("g(block 0 by 4) halo (1:1, 0:0)"), "the halo of the map over i has 2 entries"),
    ("map.halo", mapped("g(block 0 by 4) halo (1:-1)"), "the halo of the map over i has a negative width"),
    ("map.halo", mapped("g(cyclic 0) halo (1:1)"), "is along a parameter that has no blocks"),
    ("map.halo", mapped("g(block 0 by 4) root 1 halo (1:1)"), "is on ranks that run nothing"),
    ("map.home", mapped("g(whole) partial 1 add"), "the home of the map over i has something to combine"),
    ("map.home", mapped("h(whole)"), "the home of the map over i is on the grid 'h', which does not exist"),
    ("map.home", mapped("g(cyclic 0 by 0)"), "the home of the map over i has blocks of 0 elements"),
    ("map.home", mapped("g(block 0 by 4)", around="map j = 0:1 {{ {} }}"), "is inside of what runs on one rank"),
    (
        "call.grids",
        "sdfg @f(x: f64[N]) { call @h (y = x[0:N]) with (M = N) } sdfg @h(y: f64[M]) grids(g[2]) { }",
        "@h is distributed over a grid of its own",
    ),
    ("update.room", updating("H[0:N]", 2), "an update is of 2 elements of neighbours along dimension 0 of 'H'"),
    ("update.room", updating("H[1:N]", 1), "an update is of H[1:N], a part of 'H'"),
    ("update.room", updating("s", "", "s: f64"), "an update is of 's', which is no array"),
    ("library.problems", updating("H[0:N]", -1), "has a negative width"),
    ("library.problems", updating("H[0:N]", "1, 1"), "has 2 and 1 widths for 1 dimensions"),
]
