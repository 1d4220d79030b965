"""Kernels compiled with hooks: races within and between blocks, sectors a warp moves, conflicts of banks."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

from dcpy.base.errors import DeviceError
from dcpy.base.source import SrcSpan
from dcpy.runtime.gpu.simulator.memory_checks import Report, observed
from tests.runtime.gpu.kernels import AXPY, GOOD, ROWS, Call, compiled, device_of, hooks, number, place

pytestmark = pytest.mark.cc

OTHERS = {
    "no_barrier": """(double *out) {
    DCPY_SHARED(double, t, 64);
    t[DCPY_THREAD_X] = DCPY_THREAD_X;
    out[DCPY_BLOCK_X * 64 + DCPY_THREAD_X] = t[63 - DCPY_THREAD_X];
}""",
    "warp_barrier": """(double *out) {
    DCPY_SHARED(double, t, 64);
    t[DCPY_THREAD_X] = DCPY_THREAD_X;
    DCPY_WARP_BARRIER();
    out[DCPY_BLOCK_X * 64 + DCPY_THREAD_X] = t[DCPY_THREAD_X ^ 1];
    DCPY_WARP_BARRIER();
    t[DCPY_THREAD_X ^ 3] = 1;
}""",
    "warp_barrier_for_a_block": """(double *out) {
    DCPY_SHARED(double, t, 64);
    t[DCPY_THREAD_X] = DCPY_THREAD_X;
    DCPY_WARP_BARRIER();
    out[DCPY_BLOCK_X * 64 + DCPY_THREAD_X] = t[DCPY_THREAD_X ^ 32];
}""",
    "shuffle_orders_nothing": """(double *out) {
    DCPY_SHARED(double, t, 64);
    t[DCPY_THREAD_X] = DCPY_THREAD_X;
    const double x = dcpy_shuffle_down((double)DCPY_THREAD_X, 1);
    out[DCPY_BLOCK_X * 64 + DCPY_THREAD_X] = t[DCPY_THREAD_X ^ 1] + x;
}""",
    "neighbours": """(double *out) {
    const int64_t i = DCPY_BLOCK_X * 64 + DCPY_THREAD_X;
    const double left = i > 0 ? out[i - 1] : 0;
    DCPY_BARRIER();
    out[i] = left + 1;
}""",
    "same_place": "(double *out) { if (DCPY_THREAD_X == 0) out[0] = DCPY_BLOCK_X; }",
    "atomic": "(double *out) { dcpy_atomic_add(out, 1.0); }",
    "atomic_and_read": """(double *out) {
    if (DCPY_THREAD_X == 5) out[1 + DCPY_BLOCK_X] = out[0]; else dcpy_atomic_add(out, 1.0);
}""",
    "bytes": "(uint8_t *out) { out[DCPY_BLOCK_X * 64 + DCPY_THREAD_X] = 1; }",
    "bytes_and_words": """(uint8_t *out) {
    if (DCPY_THREAD_X < 32) out[DCPY_THREAD_X] = 1;
    if (DCPY_THREAD_X == 40) *(int32_t *)(out + 28) = 7;
}""",
    "reads_shared": "(double *out) { DCPY_SHARED(double, t, 64); out[DCPY_THREAD_X] = t[DCPY_THREAD_X]; }",
    "reads": "(const double *x, double *out) { out[DCPY_THREAD_X] = x[DCPY_THREAD_X]; }",
    "host": "(double *const *where) { **where = 1; }",
    "beyond": "(double *out) { out[DCPY_THREAD_X + 1] = 1; }",
    "late_partials": """(double *partials, int32_t *ticket, double *result) {
    if (dcpy_last_block(ticket)) {
        if (DCPY_THREAD_X == 0) *result = partials[0] + partials[1];
    }
    partials[DCPY_BLOCK_X] = 1;
}""",
    "strided": "(double *out) { out[(DCPY_BLOCK_X * 64 + DCPY_THREAD_X) * 16] = 1; }",
    "vectors": """(const double *x, double *out) {
    dcpy_store128(out + 2 * DCPY_THREAD_X, dcpy_load128(x + 2 * DCPY_THREAD_X));
}""",
    "columns": """(double *out) {
    DCPY_SHARED(double, t, 32 * 32);
    for (int k = 0; k < 16; ++k) t[DCPY_THREAD_X * 16 + k] = 1;
    DCPY_BARRIER();
    out[DCPY_THREAD_X] = t[DCPY_THREAD_X];
}""",
    "local": """(double *out) {
    double some[8];
    for (int k = 0; k < 8; ++k) some[k] = DCPY_THREAD_X + k;
    double *volatile there = some;
    out[DCPY_THREAD_X] = there[3];
}""",
}
NAMES = [*ROWS, *OTHERS]
TEXT = GOOD + "\n".join(f"DCPY_KERNEL({name}, 64){body}" for name, body in OTHERS.items())
SHARED = {"columns": 8192}


@pytest.fixture(scope="module")
def library():
    rows = [f"DCPY_ROW({name}, 64, {SHARED.get(name, 512)})" for name in OTHERS]
    return compiled(TEXT, *ROWS.values(), *rows, flags=("-O1", *hooks()))


@pytest.fixture(name="call", params=[(32, 0), (32, 1), (64, 2)], ids="warp{0[0]}-seed{0[1]}".format)
def calls(request, library):
    warp, seed = request.param
    found = Call(device_of(library, warp=warp, seed=seed, hooks=True))
    yield found
    found.device.close()


def run(call: Call, name: str, args, blocks=(2,), threads=(64,)) -> Report:
    call.device.launch(NAMES.index(name), blocks, threads, args)
    call.device.wait()
    return observed(call.device)


def line_of(piece: str) -> str:
    text = f'#include "dcpy_device.h"\n{TEXT}'
    return f"kernels.cpp:{text[: text.index(piece)].count(chr(10)) + 1}"


def good_runs(call: Call) -> Report:
    a, x = np.ones((20, 70)), np.ones(600)
    run(call, "axpy", (number(2.0), call.put(x), call.put(x), number(600)), [3], [256])
    partials = call.put(np.zeros(3))
    ticket = call.put(np.zeros(1, np.int32))
    for _ in range(2):
        run(call, "sum", (call.put(x), partials, ticket, call.put(np.zeros(1)), number(600)), [3], [256])
    run(call, "stencil", (call.put(a), call.put(a), number(20), number(70)), [3, 3], [32, 8])
    b = np.ones((64, 64), np.float32)
    sizes = ctypes.c_int32(64), ctypes.c_int32(64)
    return run(call, "transpose", (call.put(b), call.put(b), *sizes), [2, 2], [32, 8])


def test_correct_programs_are_clean(call):
    report = good_runs(call)
    assert report.races == ()
    assert [found for found in report.unwritten if found.kernel != "stencil"] == []
    assert len(report.kernels) == 4


def test_hooks_change_no_value(call):
    x, y = np.arange(600.0), np.ones(600)
    there = call.put(y)
    run(call, "axpy", (number(2.0), call.put(x), there, number(600)), [3], [256])
    assert np.array_equal(call.get(there, y), 2.0 * x + y)


@pytest.mark.parametrize("name", ["no_barrier", "warp_barrier_for_a_block", "shuffle_orders_nothing"])
def test_a_missing_barrier(call, name):
    if name == "warp_barrier_for_a_block" and call.device.settings.warp == 64:
        pytest.skip("a block is one warp, so no barrier is missing")
    (race,) = run(call, name, (call.put(np.zeros(128)),)).races
    body = OTHERS[name]
    first, second = ("t[DCPY_THREAD_X] = DCPY_THREAD_X;", body[body.index("out[DCPY_B") :])
    start = TEXT.index(f"DCPY_KERNEL({name},")
    lines = [TEXT[: TEXT.index(piece, start)].count("\n") + 2 for piece in (first, second)]
    assert sorted(found.line for found in race.places) == sorted(f"kernels.cpp:{line}" for line in lines)
    assert not race.between_blocks
    assert race.space == "shared"
    assert race.count >= 32
    assert "of the shared array t of 512 bytes" in race.example
    assert "two threads of a block race in shared memory" in str(race)


def test_a_barrier_of_the_warp_orders_its_lanes(call):
    assert run(call, "warp_barrier", (call.put(np.zeros(128)),)).races == ()


def test_blocks_that_read_their_neighbours(call):
    """Threads of one block are in order: only the seams race, and the values of this run may well be right."""
    (race,) = run(call, "neighbours", (call.put(np.zeros(256)),), [4]).races
    assert race.between_blocks
    assert set(race.ways) == {"read", "write"}
    assert race.count == 3
    assert "block (" in race.example


def test_blocks_that_write_one_place(call):
    (race,) = run(call, "same_place", (call.put(np.zeros(1)),), [3]).races
    assert race.between_blocks
    assert race.ways == ("write", "write")
    assert race.places[0].line == line_of("out[0] = DCPY_BLOCK_X")


def test_atomics_do_not_race(call):
    out = call.put(np.zeros(3))
    assert run(call, "atomic", (out,)).races == ()
    races = run(call, "atomic_and_read", (out,)).races
    assert races
    assert all("atomic update" in race.ways for race in races)


def test_bytes_side_by_side(call):
    out = call.put(np.zeros(128, np.uint8))
    assert run(call, "bytes", (out,)).races == ()
    (race,) = run(call, "bytes_and_words", (out,), [1]).races
    assert 1 <= race.count <= 4  # the word, if a byte was before it; and each byte that comes after the word


def test_launches_are_in_order(call):
    out = call.put(np.zeros(1))
    for _ in range(3):
        report = run(call, "same_place", (out,), [1])
    assert report.races == ()


def test_partials_behind_the_ticket(call):
    args = call.put(np.zeros(4)), call.put(np.zeros(1, np.int32)), call.put(np.zeros(1))
    races = run(call, "late_partials", args, [4]).races
    assert any(race.between_blocks and set(race.ways) == {"read", "write"} for race in races)


def test_memory_that_nobody_wrote(call):
    out, fresh = call.put(np.zeros(64)), place(call.device.allocate(512))
    run(call, "reads_shared", (out,), [1])
    report = run(call, "reads", (fresh, out), [1])
    assert [(found.kernel, found.space, found.count) for found in report.unwritten] == [
        ("reads", "global", 64),
        ("reads_shared", "shared", 64),
    ]
    call.device.forget()
    call.device.fill(fresh.value or 0, 0, 512)
    assert run(call, "reads", (fresh, out), [1]).unwritten == ()
    call.device.copy(fresh.value or 0, out.value or 0, 512, 2)
    assert run(call, "reads", (fresh, out), [1]).unwritten == ()


def test_memory_of_the_host(call):
    x = np.zeros(1)
    where = call.put(np.array([x.ctypes.data]))
    with pytest.raises(DeviceError, match=f"touches memory of the host at {line_of('**where = 1')}"):
        run(call, "host", (where,))


def test_an_access_beyond_an_array(call):
    out = call.put(np.zeros(64))
    with pytest.raises(DeviceError) as caught:
        run(call, "beyond", (out,), [1])
    line = line_of("out[DCPY_THREAD_X + 1] = 1")
    assert f"thread (63, 0, 0) of block (0, 0, 0) writes 8 bytes at {line}, 0 bytes" in caught.value.message


def sites(report: Report, kernel: str, space: str = "global", way: str = "") -> list:
    return [s for s in report.kernel(kernel).sites if s.space == space and way in s.way]


def test_sectors_of_a_warp(call):
    """Doubles side by side: 8 sectors for 32 lanes; each in a sector of its own: 32."""
    lanes = call.device.settings.warp
    x = np.ones(1024)
    report = run(call, "axpy", (number(2.0), call.put(x), call.put(x), number(1024)), [4], [256])
    axpy = report.kernel("axpy")
    assert [site.units_per_request for site in axpy.sites] == [lanes / 4] * 3
    assert [(site.accesses, site.requests) for site in axpy.sites] == [(1024, 1024 // lanes)] * 3
    assert (axpy.read_bytes, axpy.written_bytes, axpy.moved_bytes) == (16384, 8192, 24576)
    (strided,) = sites(run(call, "strided", (call.put(np.zeros(2048)),)), "strided")
    assert (strided.units_per_request, strided.least / strided.requests) == (lanes, lanes / 4)
    assert f"{lanes:.2f} sectors a warp, {lanes / 4:.2f} at best" in str(strided)


def test_a_tail_counts_what_it_moves(call):
    x = np.ones(1000)
    axpy = run(call, "axpy", (number(2.0), call.put(x), call.put(x), number(1000)), [4], [256]).kernel("axpy")
    assert (axpy.read_bytes, axpy.written_bytes, axpy.moved_bytes) == (16000, 8000, 24000)


def test_vectors_are_16_bytes_at_once(call):
    report = run(call, "vectors", (call.put(np.ones(128)), call.put(np.zeros(128))), [1])
    lanes = call.device.settings.warp
    assert [(s.size, s.units_per_request) for s in sites(report, "vectors")] == [(16, lanes / 2)] * 2


def test_a_transpose_through_a_tile_is_coalesced(call):
    report = good_runs(call)
    found = sites(report, "transpose")
    assert len(found) == 2
    assert all(site.units == site.least for site in found)
    assert report.kernel("transpose").conflicts == 0
    assert report.kernel("transpose").moved_bytes == 2 * 64 * 64 * 4


def test_conflicts_of_banks(call):
    """16 doubles from one lane to the next: all 16 lanes of a turn want one pair of banks."""
    report = run(call, "columns", (call.put(np.zeros(64)),), [1])
    written = sites(report, "columns", "shared", "write")  # one or, where the compiler has unrolled the loop, several
    (read,) = sites(report, "columns", "shared", "read")
    assert {site.units_per_request / (site.least / site.requests) for site in written} == {16}
    assert read.units == read.least
    assert report.kernel("columns").conflicts == sum(site.units - site.least for site in written)


def test_locals_are_nobody_elses_business(call):
    report = run(call, "local", (call.put(np.zeros(64)),), [1])
    assert [(s.space, s.way) for s in report.kernel("local").sites] == [("global", "write")]


def test_lines_of_python(call):
    run(call, "same_place", (call.put(np.zeros(1)),), [3])
    span = SrcSpan("model.py", 4, 5, 4, 20)
    call.device.kernel_places = {"kernels.cpp": ((1, span),)}
    (race,) = observed(call.device).races
    assert race.places[0].span == span
    assert f"write at {line_of('out[0] = DCPY_BLOCK_X')} (model.py:4)" in str(race)


def test_pinned_memory_is_no_stranger(call):
    there = place(call.device.pin(512))
    report = run(call, "strided", (call.put(np.zeros(2048)),))
    report = run(call, "reads", (call.put(np.zeros(64)), there), [1])
    assert {s.space for s in report.kernel("reads").sites} == {"global", "pinned"}


def test_without_hooks_nothing_is_seen():
    call = Call(device_of(compiled(AXPY, ROWS["axpy"]), hooks=True))
    report = run(call, "axpy", (number(2.0), call.put(np.ones(8)), call.put(np.ones(8)), number(8)), [1])
    assert report.kernels[0].sites == ()
