"""Text in canonical form: parsed and printed, it is the same."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field

import pytest

from dcpy.ir.library.library_kinds import LIBRARY_KINDS
from dcpy.ir.nodes import LibraryNode
from dcpy.ir.text import parse_sdfg, print_sdfg
from dcpy.ir.types import DType, float64


@dataclass(eq=False)
class Toy(LibraryNode):
    """A library node with a property of each type."""

    kind = "toy.node"
    flag: bool = False
    number: int = 1
    factor: float = 1.0
    axes: tuple[int, ...] = ()
    dtype: DType = float64
    label: str = ""
    tags: list[str] = field(default_factory=list)


if Toy.kind not in LIBRARY_KINDS:
    LIBRARY_KINDS.add(Toy.kind, Toy)

PROGRAMS = {
    "axpy": """
        sdfg @axpy(a: f64, x: f64[N], y: f64[N], n) symbols(N: size, n: i64) -> (__return: array) {
          data __return: f64[N]
          state s0 {
            map i = 0:N, j = 0:N:2 @parallel {
              tasklet t (xi <- x[i], al <- a) -> (o -> y[i]) { p = al * xi; o = p + 1.0 }
              tasklet (xi <- x[i]) -> (o -> y[j] (add, dynamic)) { o = xi }
            }
            copy x[0:N] -> __return[0:N]
          }
        }""",
    "descriptors": """
        sdfg @d(A: f32[N, M] strides (1, N) @global @heap alias g, q: stream f64[4] capacity 8) \
symbols(N: size, M: size i32, k: i64) {
          constant w: f64[2, 1] = {0.1, nan}
          constant z: c64 = {(0.0, -1.0)}
          data zero: f16[] transient @stack lifetime persistent
          data scalar: u8 transient @register
          stream s: c128 transient
          stream tokens: f32[2] token (4, 4) capacity 8 transient
          data banked: f32[N] transient @global bank hbm 0:4 axis 0
          data tile: f64[8, 8] transient @local @bram bank ddr 1 partition complete 1 partition cyclic 0 by 4
          data taps: f64[8] transient @local @shift_register
          data each: f64[8] transient @local @registers
          view v: f32[N - 2, M] of A[1:N - 1, 0:M]
          view t: f32[M, N] of A[0:N, 0:M] axes (1, 0)
          view b: f32[M, 7] of A[3, 0:M] axes (1, -1)
          view e: f32[] of v[0, 0]
          view f: f32[M*N] of A
          view bits: u8[4*M*N] of A strides (2) offset 4*k
          view odd: f32[N] of A[0:N, 0] strides (7) offset 2
        }""",
    "control flow": """
        sdfg @c(x: f64[], idx: i32[N]) symbols(N: size, T: i64) {
          loop t = 0:T {
            data c: f64 transient
            state {
              tasklet () -> (o -> c) { o = 0.0 }
            }
            let k = wrap(idx[t], N, 0)
            let k2: i32 = idx[k] + i32(1)
            check k < N and x[] >= 0.0 else IndexError "index {0} is \\"out\\" of bounds" (k, N + 1)
            if c[] > 0.0 {
              break
            } elif c[] < -1.0 {
              continue
            } else {
            }
          }
          while not isnan(x[]) {
            return
          }
          state named { }
          state "two words" { }
        }""",
    "processes": """
        sdfg @d(x: f64[N], y: f64[N]) symbols(N: size) {
          stream s: f64[5] capacity 3 transient
          dataflow {
            stream u: i32 transient
            process give {
              loop i = 0:N {
                state {
                  copy x[i] -> s[0]
                }
              }
            }
            process pass p = 0:4, endless = 0:1 {
              data v: f64 transient
              while true {
                state {
                  copy s[p] -> v
                  copy v -> s[p + 1]
                }
              }
            }
            process take endless {
              state {
                copy s[4] -> y[0]
              }
            }
            process process { }
          }
        }""",
    "nodes": """
        sdfg @n(x: f64[N], y: f64[N], s: stream f64) symbols(N: size) {
          data acc: f64 transient
          state {
            copy s -> acc
            toy.node (a <- x[0:N]) -> (b -> y[0:N])
            toy.node () -> () {flag = true, number = -2, factor = 1e-07, axes = (0, 1), dtype = f32, label = "a b"}
            toy.node () -> () {axes = (1,), tags = ("t",)}
            foreign (u <- x[0:N], v <- y[0]) -> (r -> acc) from openblas { r = cblas_ddot(N, &u, i32(1), v * 2.0) }
            foreign () -> () { "std::abort"() }
            map i = 0:N {
              data t: f64 transient
              state a {
                copy x[i] -> t
              }
              state b { }
            }
            map i2 = 0:N { }
            map i3 = 0:N {
              state { }
            }
          }
        }""",
    "calls": """
        sdfg @main(x: f64[N], y: f64[N]) symbols(N: size) {
          state {
            call @half (A = x[0:N // 2], out = y[0:N // 2]) with (N = N // 2)
            call @half (A = y[0:N], out = x[0:N]) with (N = N)
          }
        }

        sdfg @half(A: f64[N], out: f64[N]) symbols(N: size) {
          state {
            call @leaf ()
          }
        }

        sdfg @leaf() { }""",
    "results": """
        sdfg @r(x: f64[N]) symbols(N: size) -> (a: array, x: argument, constant = none, constant = "s", \
constant = 1.5, v: view, n: python, b: scalar) as ((0, 1), (2,), 3, (4, 5, (6, 7))) {
          data a: f64[N]
          data n: i64[]
          data b: f32[]
          view v: f64[2] of x[0:2]
        }""",
    "results of nothing": """
        sdfg @r() -> () as () { }""",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_canonical_text_is_a_fixed_point(name):
    text = textwrap.dedent(PROGRAMS[name]).strip()
    assert print_sdfg(parse_sdfg(text)) == text


def test_compact_text_is_completed():
    compact = """
        sdfg @f(A: f64[N], n){ data tmp: f64[N] transient  # a comment
          map i=0 : N {data t:f64 transient tasklet (a<-A[i])->(o->t){o=a*2}
            copy t->tmp[i],} loop k=0:T*2{copy tmp[0:n,]->A[0:n]}}
    """.replace("],}", "]}")
    assert (
        print_sdfg(parse_sdfg(compact))
        == textwrap.dedent("""
        sdfg @f(A: f64[N], n) symbols(N: size, n: i64, T: i64) {
          data tmp: f64[N] transient
          state {
            map i = 0:N {
              data t: f64 transient
              tasklet (a <- A[i]) -> (o -> t) { o = a * 2.0 }
              copy t -> tmp[i]
            }
          }
          loop k = 0:2*T {
            state {
              copy tmp[0:n] -> A[0:n]
            }
          }
        }""").strip()
    )


def test_two_callees_of_one_name_are_told_apart():
    program = "sdfg @m() {{ call @{name} () }} sdfg @{name}(x: f64) {{ }}"
    first, second = (parse_sdfg(program.format(name="g")) for _ in "ab")
    state = first.body.blocks[0]
    for node in second.body.walk_calls():
        state.add(node)
    assert "call @g ()\n    call @g_1 ()" in print_sdfg(first)
    assert print_sdfg(parse_sdfg(print_sdfg(first))) == print_sdfg(first)


def test_callees_come_as_the_text_has_them():
    sdfg = parse_sdfg("""
        sdfg @main() { call @left () call @right () call @left () }
        sdfg @leaf() { }  sdfg @other() { }  sdfg @right() { call @leaf () }
        sdfg @left() { call @other () call @leaf () }""")
    names = [each.name for each in sdfg.with_callees()]
    assert names == ["main", "left", "right", "other", "leaf"]
    assert [line.split("@")[1].split("(")[0] for line in print_sdfg(sdfg).splitlines() if "sdfg" in line] == names
