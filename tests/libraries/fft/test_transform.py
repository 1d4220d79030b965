"""Fourier transforms: every expansion against the node's meaning, interpreted and as machine code."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import dcpy
from dcpy.base.errors import ExpansionError
from dcpy.base.installation import install_extra
from dcpy.ir.library.expansions import ENVIRONMENTS
from dcpy.ir.text import parse_sdfg
from dcpy.ir.verify import verify
from dcpy.libraries.fft import environments
from dcpy.libraries.fft.expand import mixed_radix_programs
from dcpy.transforms import expand
from dcpy.transforms.expand import expand_library_nodes
from tests.libraries.oracles import LOOPS, assert_expands, values_of

#: one, powers of two, the written-out radices, products, other primes, and those that Bluestein takes
SHORT = (1, 2, 3, 4, 5, 7, 8, 11, 12, 16, 20, 22, 37, 41)
LONG = (256, 1000, 1024, 2520, 899, 4096, 10007, 74, 65536)
KINDS = {"complex": ("c128", "c128"), "forward": ("f64", "c128"), "backward": ("c128", "f64")}
FFTW = ENVIRONMENTS["fftw"].missing()
EXPANSIONS = ["cpu", "maps", pytest.param("fftw", marks=pytest.mark.skipif(bool(FFTW), reason=FFTW))]


def program(kind, *, lines=0, options="axis = 0", single=False):
    """A transform of vectors or, with `lines`, of the rows (1) or columns (2) of a matrix."""
    sizes = {"complex": ("N", "N"), "forward": ("N", "H"), "backward": ("H", "N")}[kind]
    shapes = [(size, f"L, {size}", f"{size}, L")[lines] for size in sizes]
    whole = [", ".join(f"0:{size}" for size in shape.split(", ")) for shape in shapes]
    x, y = (name.replace("128", "64").replace("f64", "f32") if single else name for name in KINDS[kind])
    return f"""sdfg @f(X: {x}[{shapes[0]}], Y: {y}[{shapes[1]}]) symbols(N: size, H: size, L: size) {{
      state {{ fft.transform (x <- X[{whole[0]}]) -> (y -> Y[{whole[1]}]) {{{options}}} }}
    }}""".replace("H: size, " if kind == "complex" else "", "").replace("" if lines else ", L: size", "")


def arguments(kind, n, *, lines=0, single=False):
    def numbers(length, real):
        shape = ((length,), (3, length), (length, 3))[lines]
        values = np.random.default_rng(n).standard_normal((2, *shape))
        dtype = f"{'f' if real else 'c'}{(4 if single else 8) * (1 if real else 2)}"
        return (values[0] if real else values[0] + 1j * values[1]).astype(dtype)

    half = n // 2 + 1
    made = {
        "complex": (numbers(n, False), numbers(n, False)),
        "forward": (numbers(n, True), numbers(half, False)),
        "backward": (numbers(half, False), numbers(n, True)),
    }[kind]
    return {"X": made[0], "Y": np.zeros_like(made[1])}


CASES = [
    ("complex", 0, "axis = 0"),
    ("complex", 1, "axis = 1, backward = true"),
    ("complex", 2, 'axis = 0, norm = "ortho"'),
    ("forward", 0, "axis = 0"),
    ("forward", 1, "axis = 1"),
    ("forward", 2, 'axis = 0, norm = "forward"'),
    ("backward", 0, "axis = 0, backward = true"),
    ("backward", 2, "axis = 0, backward = true"),
]


@pytest.mark.parametrize(
    ("kind", "lines", "options"), [*CASES[:3], *(pytest.param(*c, marks=pytest.mark.heavy) for c in CASES[3:])]
)
def test_loops_compute_the_meaning(kind, lines, options):
    for n in SHORT if lines == 0 else SHORT[4:9]:
        assert_expands(program(kind, lines=lines, options=options), arguments(kind, n, lines=lines))


def test_loops_compute_in_single_precision():
    assert_expands(program("complex", single=True), arguments("complex", 20, single=True))


@pytest.fixture(params=EXPANSIONS)
def preferred(request, monkeypatch):
    """Programs are expanded when they are compiled, so that what they call stays a function."""
    monkeypatch.setattr(expand, "preference", lambda target: (request.param,))


def largest_error(got, expected):
    return np.max(np.abs(got - expected)) / np.sqrt(np.mean(np.abs(expected) ** 2))


@pytest.mark.cc
@pytest.mark.usefixtures("preferred")
@pytest.mark.parametrize(
    ("kind", "lines", "options"), [CASES[1], *(pytest.param(*CASES[i], marks=pytest.mark.heavy) for i in (2, 4, 7))]
)
def test_compiled_expansions_are_accurate(kind, lines, options):
    text = program(kind, lines=lines, options=options)
    compiled = dcpy.parse(text).compile()
    for n in (*SHORT, *LONG):
        made = arguments(kind, n, lines=lines)
        expected = values_of(parse_sdfg(text), made)["Y"]
        compiled(**made)
        assert largest_error(made["Y"], expected) < 1e-15 * (2 + np.log2(n))


@pytest.mark.cc
@pytest.mark.usefixtures("preferred")
def test_compiled_expansions_in_single_precision():
    run = dcpy.parse(program("complex", lines=1, options="axis = 1", single=True)).compile()
    for n in LONG:
        made = arguments("complex", n, lines=1, single=True)
        run(**made)
        assert largest_error(made["Y"], np.fft.fft(made["X"])) < 1e-6 * (1 + np.log2(n))


@pytest.mark.cc
def test_twiddles_are_right_to_the_last_bits():
    called = "call @fft_f64_roots (w = W[0:2, 0:N]) with (K = N, order = N, square = 0)"
    text = mixed_radix_programs.NEUTRAL.complete(mixed_radix_programs.ANY_LENGTH, "f64", 8)
    w = np.zeros((2, 10007))
    roots = text[text.index("sdfg @fft_f64_roots") :]
    dcpy.parse(f"sdfg @f(W: f64[2, N]) symbols(N: size) {{ {called} }} {roots}").compile()(W=w)
    turns = np.arange(10007, dtype=np.longdouble) / 10007 * 2 * np.arctan2(np.longdouble(0), np.longdouble(-1))
    assert np.max(np.abs(w[0] - np.cos(turns))) < 3e-16
    assert np.max(np.abs(w[1] + np.sin(turns))) < 3e-16


@pytest.mark.cc
@pytest.mark.usefixtures("preferred")
def test_threads_may_transform_at_the_same_time():
    run = dcpy.parse(program("complex")).compile()

    def differs(n):
        made = arguments("complex", n)
        run(**made)
        return largest_error(made["Y"], np.fft.fft(made["X"])) > 1e-13

    with ThreadPoolExecutor(4) as threads:  # more lengths than plans that are kept
        assert not any(threads.map(differs, [*range(1, 60)] * 4))


@pytest.mark.cc
@pytest.mark.skipif(bool(FFTW), reason=FFTW)
def test_plans_in_place_are_their_own():
    text = program("complex").replace(" symbols(N: size)", "").replace("N", "256")
    apart = dcpy.parse(text)
    expand_library_nodes(apart, "fftw")
    in_place = dcpy.parse(str(apart).replace("Y[", "X["))
    made = arguments("complex", 256)
    expected = np.fft.fft(made["X"])
    for each, name in ((apart, "Y"), (in_place, "X"), (apart, "Y")):
        found = {key: value.copy() for key, value in made.items()}
        each.compile()(**found)
        assert largest_error(found[name], expected) < 1e-13


def test_without_fftw_the_loops_compute(monkeypatch):
    monkeypatch.setattr(environments, "_places", lambda: iter(()))
    environments.find_fftw.cache_clear()
    try:
        with pytest.raises(ExpansionError, match="FFTW is not installed") as problem:
            environments.find_fftw()
        assert problem.value.help == install_extra("fft")
        choices = expand_library_nodes(parse_sdfg(program("complex")))
    finally:
        environments.find_fftw.cache_clear()
    assert [choice.expansion for choice in choices] == ["cpu"]


def test_transforms_of_one_program_share_its_loops():
    text = program("complex")
    sdfg = parse_sdfg(text.replace("} }", "} fft.transform (x <- Y[0:N]) -> (y -> X[0:N]) {axis = 0} }"))
    expand_library_nodes(sdfg, "pure")
    assert len({call.sdfg for call in sdfg.body.walk_calls()}) == 1


@pytest.mark.parametrize("way", LOOPS)
def test_transforms_of_two_precisions_have_programs_of_their_own(way):
    transforms = "".join(f" fft.transform (x <- X{k}[0:6]) -> (y -> Y{k}[0:6]) {{axis = 0}}" for k in (64, 128))
    arrays = ", ".join(f"{name}{k}: c{k}[6]" for k in (64, 128) for name in "XY")
    x = np.arange(6) + 1j
    made = {f"{name}{k}": (x if name == "X" else 0 * x).astype(f"c{k // 8}") for k in (64, 128) for name in "XY"}
    assert_expands(f"sdfg @f({arrays}) {{ state {{ {transforms} }} }}", made, way)


PROBLEMS = {
    "transforms along axis 2 of 1 dimensions": program("complex", options="axis = 2"),
    "has the norm 'unit'": program("complex", options='axis = 0, norm = "unit"'),
    "sizes do not agree: 3 and 4 along axis 0": program("complex", lines=1, options="axis = 1")
    .replace("x <- X[0:L", "x <- X[0:3")
    .replace("y -> Y[0:L", "y -> Y[0:4"),
}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_problems_of_nodes(problem):
    with pytest.raises(dcpy.DcpyError) as found:
        verify(parse_sdfg(PROBLEMS[problem]))
    assert problem in str(found.value)


def test_operands_of_different_precision_are_refused():
    with pytest.raises(ExpansionError) as refusal:
        expand_library_nodes(parse_sdfg(program("complex").replace("Y: c128", "Y: c64")))
    assert any("of one precision, not c128 and c64" in note for note in refusal.value.notes)
