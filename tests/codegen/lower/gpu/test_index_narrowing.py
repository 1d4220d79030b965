"""Small indices: what all threads compute stays within the limit wherever the host's guard holds; texts, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dcpy
from dcpy.base.option_groups.gpu import GpuOptions
from dcpy.base.options import resolve_options
from dcpy.codegen.gpu.program import generate_gpu
from dcpy.codegen.lir import tree
from dcpy.codegen.lir.expr import Cast, Conditional, Infix, Intrinsic, Item, Literal, Name, Operation, Prefix
from dcpy.codegen.lir.text import expr_text
from dcpy.codegen.lir.types import SMALL_INDEX
from dcpy.codegen.lower.gpu import kernel_versioning
from dcpy.codegen.lower.gpu.gpu_lowering import GpuLowering
from dcpy.codegen.lower.program.translation_unit import lower_program
from dcpy.codegen.signature import default_signature
from dcpy.ir.text import parse_sdfg
from dcpy.runtime.gpu.sass import instructions
from dcpy.runtime.gpu.simulator.memory_checks import watching
from tests.codegen.test_kernels import AXPY, MANY, SMOOTH
from tests.runtime.gpu import chips

OPTIONS = resolve_options({"device": "gpu", "gpu.backend": "simulator"}, environ={})
TRIANGLE = """
    sdfg @triangle(A: f64[N, M] @global, s: i64[N] @global) symbols(N: size, M: size, S: size) {
      state { map b = 0:N:4 @grid { state { map i = b:min(b + 4, N) @block {
        loop j = i:M:2 { state { tasklet (p <- A[N - 1 - i, j]) -> (o -> A[i, j]) { o = p * f64(i * i * i) } } }
        loop k = M - 1:-1:-1 { state { tasklet (p <- A[i, k]) -> (o -> A[i, k]) { o = p + 1.0 } } }
        state { tasklet () -> (o -> s[i]) { o = i * M } }
      } } } }
    }"""
ROWS = """
    sdfg @rows(A: f64[N, M] @global) symbols(N: size{bound}, M: size{bound}) {{
      state {{ map b = 0:N:4 @grid {{ state {{ map i = b:min(b + 4, N) @block {{ state {{
        tasklet () -> (o -> A[{row}, 0]) {{ o = 1.0 }} }} }} }} }} }}
    }}"""


def lowered(program):
    """The kernels of a program, and its launches."""
    sdfg = parse_sdfg(program)
    module = lower_program(sdfg, default_signature(sdfg), OPTIONS.cpu, {}, device=GpuLowering(OPTIONS.gpu))
    found = tree.Compound(module.functions[0].body)
    return {kernel.name: kernel for kernel in module.kernels}, [s for s in walked(found) if isinstance(s, tree.Launch)]


def walked(statement):
    yield statement
    for inner in getattr(statement, "body", ()):
        yield from walked(inner)


class Thread:
    """Runs the body of a kernel on numbers alone; keeps the largest absolute value of a small index."""

    def __init__(self, values):
        self.values = dict(values)
        self.largest = 0

    def run(self, body):
        for s in body:
            match s:
                case tree.Declare(name=name, value=value) if value is not None:
                    self.values[name] = self.of(value)
                case tree.Loop(var=var):
                    start, stop, step = map(self.of, (s.start, s.stop, s.step))
                    for self.values[var] in range(start, stop, step):
                        self.run(s.body)
                    if s.index == SMALL_INDEX and start < stop:
                        self.note(self.values[var] + step)
                case tree.If(cases=((condition, inner),)):
                    if self.of(condition):
                        self.run(inner)
                case tree.Compound(body=inner):
                    self.run(inner)
                case tree.Assign(target=target, value=value):
                    self.of(target)
                    self.of(value)

    def note(self, value):
        self.largest = max(self.largest, abs(value))

    def of(self, e):
        value = self.value(e)
        if e.type == SMALL_INDEX:
            self.note(value)
        return value

    def value(self, e):
        match e:
            case Literal(value=value):
                return value
            case Name(name=name) | Intrinsic(name=name, args=()):
                return self.values.get(name, 1)  # data: any
            case Item(index=index):
                self.of(index)
                return 1
            case Cast(arg=arg):
                return self.of(arg)
            case Prefix(op="-", arg=arg):
                return -self.of(arg)
            case Conditional():
                return self.of(e.yes if self.of(e.condition) else e.no)
            case Intrinsic(name="counted_size", args=(size,)):
                return self.of(size)
            case Intrinsic(name="product_of_sizes", args=(a, b)) | Infix(op="*", left=a, right=b):
                return self.of(a) * self.of(b)
        a, b = (e.left, e.right) if isinstance(e, Infix) else e.args if isinstance(e, Operation) else (None, None)
        a, b, name = self.of(a), self.of(b), e.op if isinstance(e, Infix) else e.name
        return OF_TWO[name](a, b) if name in OF_TWO else 1


OF_TWO = {
    "+": lambda a, b: a + b, "-": lambda a, b: a - b, "/": lambda a, b: int(a / b),
    "%": lambda a, b: a - int(a / b) * b, "floordiv": lambda a, b: a // b, "mod": lambda a, b: a % b, "min": min,
    "max": max, "<": lambda a, b: a < b, "<=": lambda a, b: a <= b, "&&": lambda a, b: a and b,
}  # fmt: skip


def largest(kernel, launch, sizes):
    """The largest small index of all threads."""
    z, y, x = (range(max(Thread(sizes).of(count), 0)) for count in launch.blocks)
    found = 0
    for block in itertools.product(z, y, x):
        for thread in itertools.product(*map(range, kernel.threads)):
            numbers = {f"block_{axis}": at for axis, at in zip("zyx", block, strict=True)}
            numbers |= {f"thread_{axis}": at for axis, at in zip("zyx", thread, strict=True)}
            numbers |= {f"blocks_{axis}": max(len(c), 1) for axis, c in zip("zyx", (z, y, x), strict=True)}
            one = Thread({**sizes, **numbers})
            one.run(kernel.body)
            found = max(found, one.largest)
    return found


@pytest.mark.parametrize(
    ("program", "sizes", "limit"),
    [
        (SMOOTH, {"N": (3, 5, 9, 12), "M": (3, 6, 35)}, 800),
        (TRIANGLE, {"N": (1, 5, 9, 11), "M": (1, 17, 30, 33)}, 300),
        (MANY, {"A": (1, 2), "B": (1, 3), "C": (1, 3), "D": (1, 9, 17)}, 260),
    ],
    ids=["smooth", "triangle", "many"],
)
def test_every_small_index_is_within_the_limit_where_the_guard_holds(program, sizes, limit, monkeypatch):
    monkeypatch.setattr(kernel_versioning, "LARGEST", limit)
    monkeypatch.setattr(kernel_versioning, "LARGEST_GRID", 8)
    kernels, (launch,) = lowered(program)
    assert kernels[launch.small].small_of == launch.kernel
    seen = {True: 0, False: 0}
    for values in itertools.product(*sizes.values()):
        known = dict(zip(sizes, values, strict=True))
        fits = bool(Thread(known).of(launch.fits))
        seen[fits] += 1
        if fits:
            assert largest(kernels[launch.small], launch, known) <= limit, known
    assert seen[True] > 1
    assert seen[False] > 1


def test_the_guard_asks_for_what_is_largest():
    _, (smooth,) = lowered(SMOOTH)
    _, (triangle,) = lowered(TRIANGLE)
    assert expr_text(smooth.fits) == "@counted_size(@product_of_sizes(M, N)) <= 2146959367"
    assert expr_text(triangle.fits) == "(N <= 2147483644) && (@counted_size(@product_of_sizes(M, N)) <= 2147483643)"


def test_data_stay_as_wide_as_they_are():
    unit = generate_gpu(parse_sdfg(TRIANGLE), None, None, OPTIONS).units[1].text
    small = unit[unit.index("triangle_b_small") :]
    assert "(double)((int64_t)i*(int64_t)i*(int64_t)i)" in small
    assert "s[i] = M*(int64_t)i;" in small
    assert "for (int64_t k = M - 1; k > -1; k--)" in small  # loops that go down stay


@pytest.mark.parametrize(
    ("row", "bound", "width"),
    [
        ("i", "", "32 bits where N <= 2147483644 and M*N <= 2147483643"),
        ("i", "{least = 1, most = 10000}", "32 bits"),
    ],
)
def test_what_is_said_of_indices(row, bound, width):
    artifact = generate_gpu(parse_sdfg(ROWS.format(row=row, bound=bound)), None, None, OPTIONS)
    assert artifact.kernels[0].indices == width


def test_sums_alone_have_one_text():
    (kernel,) = generate_gpu(parse_sdfg(AXPY), None, None, OPTIONS).kernels
    assert kernel.indices == "64 bits: sums alone gain little from fewer"


@pytest.mark.cc
def test_fewer_instructions_and_registers():
    chips.needs("nvdisasm")
    artifact = generate_gpu(parse_sdfg(SMOOTH), None, None, OPTIONS)
    binary = chips.nvrtc().compile(artifact.units[1], chips.HEADERS, "sm_90", GpuOptions())
    wide, small = (len(words) for _, words in sorted(instructions(binary.code).items()))
    assert 2 * small < wide
    registers = [one.registers for one in binary.resources]
    assert registers[1] < registers[0]


def shift(A, B):
    B[1:, :-1] = A[:-1, 1:] + 1.0


@pytest.mark.cc
@pytest.mark.parametrize("warp", [32, 64])
def test_the_host_chooses(warp, monkeypatch):
    monkeypatch.setattr(kernel_versioning, "LARGEST", 600_000)
    options = {"device": "gpu", "gpu.backend": "simulator", "gpu.hooks": True, "gpu.warp": warp}
    sizes = np.zeros((3, 3)), np.zeros((3, 3))
    program = dcpy.program(shift).to_sdfg(*sizes).compile(**options)
    for rows, small in ((3, True), (2000, False)):
        A, B = np.random.default_rng(1).random((rows, 40)), np.zeros((rows, 40))
        with watching() as seen:
            program(A, B)
        assert (B[1:, :-1] == A[:-1, 1:] + 1.0).all()
        assert [one.name.endswith("_small") for one in seen.report.kernels] == [small]
