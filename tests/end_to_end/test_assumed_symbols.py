"""What users assume of symbols: programs rely on it, and calls that break it are refused, by name and place."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dcpy
from dcpy.base.errors import ArgumentShapeError, FrontendError

N = dcpy.symbol("N", range=(1, 4096), multiple_of=8, typical=1000)
M = dcpy.symbol("M", range=(2, None))
K = dcpy.symbol("K", positive=True)
STEPS = dcpy.symbol("STEPS", range=(0, 5))


@dcpy.program
def blocks(A: dcpy.float64[N], B: "dcpy.float64[N]"):
    for i in range(N // 8):
        for j in range(8):
            B[8 * i + j] = 2 * A[8 * i + j]


def test_the_sdfg_carries_it_and_needs_no_check():
    text = str(blocks.to_sdfg())
    assert "symbols(N: size{least = 1, most = 4096, multiple_of = 8, typical = 1000})" in text
    assert "check" not in text


@pytest.mark.cc
def test_what_keeps_it_runs():
    for size in (8, 16, 4096, 8):
        B = np.zeros(size)
        blocks(np.ones(size), B)
        assert B.sum() == 2 * size


@pytest.mark.cc
@pytest.mark.parametrize(
    ("size", "reason"),
    [(0, "0 is less than 1"), (1, "1 is not a multiple of 8"), (12, "12 is not a"), (4104, "4104 is more than 4096")],
)
@pytest.mark.parametrize("warm", [False, True])
def test_what_breaks_it_is_refused(size, reason, warm):
    """By the first call, and by a call that compiled code exists for."""
    program = dcpy.program(blocks.function)
    if warm:
        program(np.ones(8), np.ones(8))
    with pytest.raises(ArgumentShapeError) as error:
        program(np.ones(size), np.ones(size))
    said = f"argument 'A' has the size {size} along axis 0, but N is assumed to be from 1 to 4096 and a multiple of 8"
    assert error.value.message == f"{said}: {reason}" or reason in error.value.message
    assert said in error.value.message
    assert error.value.span is not None
    assert "A: dcpy.float64[N]" in error.value.span.render()


@pytest.mark.cc
def test_all_ways_to_call_refuse():
    sdfg = blocks.to_sdfg()
    bad = np.ones(9), np.ones(9)
    for call in (sdfg.compile(), blocks.compile(), sdfg):
        with pytest.raises(ArgumentShapeError, match="9 is not a multiple of 8"):
            call(*bad)
    with pytest.raises(ArgumentShapeError, match="9 is not a multiple of 8"):
        blocks.to_sdfg(*bad)
    with pytest.raises(ArgumentShapeError, match="9 is not a multiple of 8"):
        sdfg.interpret(*bad)


@pytest.mark.cc
def test_a_loaded_sdfg_still_assumes_it(tmp_path):
    blocks.to_sdfg().save(tmp_path / "blocks.sdfg")
    loaded = dcpy.load(tmp_path / "blocks.sdfg").compile()
    B = np.zeros(8)
    loaded(np.ones(8), B)
    assert B.sum() == 16
    with pytest.raises(ArgumentShapeError, match="12 is not a multiple of 8"):
        loaded(np.ones(12), np.ones(12))


@dcpy.program
def inside(A: dcpy.float64[M + 1]):
    return A[1] + M


@pytest.mark.cc
def test_sizes_that_are_a_symbol_and_a_number():
    assert inside(np.ones(3)) == 3
    with pytest.raises(ArgumentShapeError, match=r"size 2 along axis 0, which is M \+ 1 with M = 1, but M is"):
        inside(np.ones(2))


@dcpy.program
def half(A: dcpy.float64[2 * K]):
    return A[:K].sum() + K


@pytest.mark.cc
def test_sizes_that_the_program_finds_out_are_checked_by_it():
    assert half(np.ones(4)) == 4
    with pytest.raises(ValueError, match="the symbol K is 0, but is assumed to be at least 1"):
        half(np.ones(0))


@dcpy.program
def stepping(A):
    for i in range(STEPS):
        A[i] += i


@pytest.mark.cc
def test_symbols_that_a_function_reads():
    """A global symbol, which the call gives by keyword."""
    A = np.zeros(5)
    stepping(A, STEPS=5)
    assert A.tolist() == [0, 1, 2, 3, 4]
    with pytest.raises(ArgumentShapeError, match="argument 'STEPS' is 6, but STEPS is assumed to be from 0 to 5"):
        stepping(A, STEPS=6)


def test_a_range_makes_indices_sure():
    """Of five elements, those before the fifth step are all there."""
    assert "check" in str(stepping.to_sdfg(A=np.zeros(5), STEPS=3))

    @dcpy.program
    def certain(A: dcpy.float64[5]):
        for i in range(STEPS):
            A[i] += i

    assert "check" not in str(certain.to_sdfg())


@pytest.mark.cc
def test_closures():
    def made(limit):
        L = dcpy.symbol("L", range=(1, limit))

        @dcpy.program
        def total(A: dcpy.float64[L]):
            s = 0.0
            for i in range(L):
                s += A[i]
            return s

        return total

    few, many = made(3), made(30)
    assert (few(np.ones(3)), many(np.ones(20))) == (3, 20)
    with pytest.raises(ArgumentShapeError, match="20 is more than 3"):
        few(np.ones(20))


@pytest.mark.cc
def test_what_a_program_passes_on_is_checked_where_it_is_not_known():
    @dcpy.program
    def outer(A):
        blocks(A, A.copy())
        return A.sum()

    assert outer(np.ones(16)) == 16
    with pytest.raises(ValueError, match=r"the symbol N of blocks\(\) is 12, but is assumed to be from 1 to 4096"):
        outer(np.ones(12))

    @dcpy.program
    def sure(A: dcpy.float64[N]):
        blocks(A, A.copy())

    assert "check" not in str(sure.to_sdfg())


def test_python_integers_of_bounded_size_need_no_check_for_overflow():
    @dcpy.program
    def cube(A: dcpy.float64[N]):
        A[0] = N * N * N * N

    @dcpy.program
    def big(A: dcpy.float64[M]):
        A[0] = M * M * M * M

    assert "OverflowError" not in str(cube.to_sdfg())
    assert "OverflowError" in str(big.to_sdfg())


@pytest.mark.cc
def test_two_symbols_of_one_name_are_one_size():
    other = dcpy.symbol("N", range=(16, None))

    @dcpy.program
    def both(A: dcpy.float64[N], B: dcpy.float64[other]):
        return A[0] + B[0]

    assert both(np.ones(16), np.ones(16)) == 2
    with pytest.raises(ArgumentShapeError, match="from 16 to 4096 and a multiple of 8: 8 is less than 16"):
        both(np.ones(8), np.ones(8))
    never = dcpy.symbol("N", range=(5000, None))

    @dcpy.program
    def none(A: dcpy.float64[N], B: dcpy.float64[never]):
        return A[0] + B[0]

    with pytest.raises(FrontendError, match="'N' cannot hold: no value is at least 5000 and at most 4096"):
        none.to_sdfg()


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"range": (4, 1)}, "no value is at least 4 and at most 1"),
        ({"range": (1, 7), "multiple_of": 8}, "no multiple of 8 is at least 1 and at most 7"),
        ({"positive": True, "negative": True}, "no value is at least 1 and at most -1"),
        ({"multiple_of": 0}, "cannot be multiples of 0"),
        ({"range": (1, 9), "typical": 10}, "the typical value 10 is more than 9"),
        ({"range": 9}, "the range of a symbol is 9, which are no two ends"),
        ({"range": (1, 2.5)}, "are integers, not 2.5"),
        ({"typical": True}, "are integers, not True"),
        ({"prime": True}, "symbols take no prime="),
    ],
)
def test_what_makes_no_sense_is_refused(keywords, message):
    with pytest.raises(FrontendError, match=message):
        dcpy.symbol("N", **keywords)


def test_sizes_are_never_negative():
    P = dcpy.symbol("P", negative=True)

    @dcpy.program
    def f(A: dcpy.float64[P]):
        A[0] = 1

    with pytest.raises(FrontendError, match="the size 'P' cannot hold: no value is at least 0 and at most -1"):
        f.to_sdfg()


def test_arithmetic_and_annotations_keep_it():
    for size in (N + 1, 1 + N, 2 * N, N // 2, N % 3, N**2, 5 - N):
        assert dict(size.assumed)["N"].multiple_of == 8
    assert dict((N * M).assumed).keys() == {"N", "M"}
    assert [dict(size.assumed).keys() for size in dcpy.float64[N, M + 1].shape] == [{"N"}, {"M"}]
    first, second = dcpy.symbols("P Q", range=(1, 5))
    assert dict(first.assumed)["P"] == dict(second.assumed)["Q"]


def test_a_typical_value_is_only_a_hint():
    hinted = dcpy.symbol("N", typical=7)

    @dcpy.program
    def f(A: dcpy.float64[hinted]):
        return 2 * A

    sdfg = f.to_sdfg()
    assert sdfg.interpret(np.ones(1000)).sum() == 2000
    assert "units of work where N = 7, which is typical, do not pay for a team" in sdfg.explain()


@st.composite
def assumptions(draw):
    """Keywords of a symbol that some sizes from 2 on keep."""
    least = draw(st.none() | st.integers(0, 40))
    most = draw(st.none() | st.integers((least or 0) + 16, 80))
    multiple = draw(st.sampled_from([1, 2, 3, 4, 7, 8, 16]))
    return {"range": (least, most), "multiple_of": multiple}


def keeps(size, keywords):
    least, most = keywords["range"]
    in_range = (least is None or size >= least) and (most is None or size <= most)
    return in_range and size % keywords["multiple_of"] == 0


def stencil_of(keywords):
    size = dcpy.symbol("n", **keywords)

    @dcpy.program
    def stencil(A: dcpy.float64[size], B: dcpy.float64[size]):
        half = size // 2
        B[:half] = A[half : 2 * half] + 1
        for i in range(0, size, 4):
            B[min(i + 3, size - 1)] = A[i] * size
        if size % 8 == 0:
            B[0] = 7
        return B[1:].sum()

    return stencil


def like_numpy(A, B):
    n = len(A)
    half = n // 2
    B[:half] = A[half : 2 * half] + 1
    for i in range(0, n, 4):
        B[min(i + 3, n - 1)] = A[i] * n
    if n % 8 == 0:
        B[0] = 7
    return B[1:].sum()


def same_or_refused(run, size, keywords):
    A, B, wanted = np.arange(size, dtype=float), np.zeros(size), np.zeros(size)
    if not keeps(size, keywords):
        with pytest.raises(ArgumentShapeError, match=f"{size} is "):
            run(A, B)
        return
    assert run(A, B) == like_numpy(A, wanted)
    assert B.tolist() == wanted.tolist()


@settings(max_examples=30, deadline=None)
@given(assumptions(), st.lists(st.integers(2, 90), min_size=4, max_size=8))
def test_random_assumptions_interpreted(keywords, sizes):
    """As written, simplified, and transformed: NumPy's result where the assumption holds, else a refusal."""
    program = stencil_of(keywords)
    written, simple = program.to_sdfg(simplify=False), program.to_sdfg()
    best = program.to_sdfg()
    best.auto_optimize()
    for size in (*sizes, 8, 16, 48):
        for sdfg in (written, simple, best):
            same_or_refused(sdfg.interpret, size, keywords)


@pytest.mark.cc
@settings(max_examples=4, deadline=None)
@given(assumptions(), st.lists(st.integers(2, 90), min_size=4, max_size=8))
def test_random_assumptions_compiled(keywords, sizes):
    program = stencil_of(keywords)
    for size in (*sizes, 8, 16, 48, 8):
        same_or_refused(program, size, keywords)
