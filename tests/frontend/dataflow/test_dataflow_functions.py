"""Functions of explicit dataflow: in programs, and under Python. Each program runs under Python, too."""

import numpy as np
import pytest

import dcpy
from tests.support.explicit import check_pair
from tests.support.lowering import body, refusal, same
from tests.support.oracles import check_same

A = np.arange(24.0).reshape(2, 3, 4) / 7
X = np.array([3.0, -1.5, 4.0, 1.0, -5.0, 9.0])
I = np.array([3, 1, 4, 1, 5, 9])
N = dcpy.symbol("N")


# -- memory ----------------------------------------------------------------------------------------------------------


def test_local_arrays():
    def f(a):
        t = dcpy.define_local([a.shape[0], 2], dtype=a.dtype)
        u = dcpy.define_local((3,), dcpy.int32)
        v = dcpy.ndarray([a.shape[0]], dtype=np.float32)
        t[:, 0], t[:, 1], u[:], v[:] = a, a * 2, 7, a
        return t, u, v

    same(f, X)


def test_local_arrays_with_sizes_of_annotations():
    def f(a: dcpy.float64[N]):
        t = dcpy.define_local([N, 2 * N], dcpy.float64)
        t[:] = 1
        return t

    check_pair(f, lambda a: np.ones((6, 12)), X)


def test_local_numbers():
    def f(a):
        s = dcpy.define_local_scalar(dcpy.float64)
        for i in dcpy.map[0 : a.shape[0]]:
            if i == 0:
                s[...] = 0
        for i in dcpy.map[0 : a.shape[0]]:
            with dcpy.tasklet:
                x << a[i]
                o >> s(1, lambda p, q: p + q)
                o = x
        with dcpy.tasklet:
            x << s
            o >> a[0]
            o = x / 2
        if s > 1:
            a[1] = s

    def twin(a):
        s = a.sum()
        a[0] = s / 2
        if s > 1:
            a[1] = s

    check_pair(f, twin, X)


def test_undefined_contents_are_nan_in_the_interpreter():
    def f():
        return dcpy.define_local((2, 2)), dcpy.ndarray((3,), dcpy.float32)

    first, second = dcpy.program(f).to_sdfg().interpret()
    assert np.isnan(first).all()
    assert np.isnan(second).all()
    assert (first.shape, second.dtype) == ((2, 2), np.float32)


def test_storages():
    def f(a):
        t = dcpy.define_local((4,), dcpy.float64, storage=dcpy.StorageType.Register)
        u = dcpy.define_local((a.shape[0],), dcpy.float64, storage=dcpy.StorageType.CPU_Heap)
        v = dcpy.define_local_scalar(dcpy.float64, storage=dcpy.StorageType.Register)
        t[:], u[:], v[...] = 1, a, 2
        return t.sum() + u.sum() + v

    same(f, X)
    assert "data t: f64[4] transient @stack" in body(f, X)
    assert "data u: f64[N] transient @heap" in body(f, X)


@pytest.mark.cc
def test_storages_compiled():
    def f(a):
        t = dcpy.define_local((4,), dcpy.float64, storage=dcpy.StorageType.Register)
        u = dcpy.define_local((a.shape[0],), dcpy.float64, storage=dcpy.StorageType.CPU_Heap)
        t[:], u[:] = a[:4], a
        return t.sum() + u.sum()

    check_same(f, X, rtol=1e-14)


def test_storages_of_other_devices():
    def gpu(a):
        t = dcpy.define_local((4,), dcpy.float64, storage=dcpy.StorageType.GPU_Global)
        t[:] = a[:4]
        return t + 1

    def fpga(a):
        t = dcpy.define_local((4,), dcpy.float64, storage=dcpy.StorageType.FPGA_Local)
        t[:] = a[:4]
        return t + 1

    def vector(a):
        return dcpy.define_local((4,), dcpy.float64, storage=dcpy.StorageType.SVE_Register)

    def registers(a):
        return dcpy.define_local((a.shape[0],), dcpy.float64, storage=dcpy.StorageType.Register)

    sdfg = dcpy.program(gpu).to_sdfg(X, simplify=False)
    assert "f64[4] transient @global" in str(sdfg)
    assert np.array_equal(sdfg.interpret(a=X), X[:4] + 1)
    with pytest.raises(dcpy.DcpyError, match="the target 'cpu' has no memory @global"):
        sdfg.compile()
    assert "f64[4] transient @local @bram" in str(dcpy.program(fpga).to_sdfg(X, simplify=False))
    with pytest.raises(dcpy.DcpyError, match="the target 'cpu' has no memory @local"):
        dcpy.program(fpga).to_sdfg(X, simplify=False).compile()
    assert "the storage SVE_Register is on no device that dcpy prints code for" in refusal(vector, X)
    assert "an array in registers has a size that is known at compile time, not [N]" in refusal(registers, X)


# -- loops -----------------------------------------------------------------------------------------------------------


def test_unrolled_loops():
    def f(a):
        for i in dcpy.unroll(range(3)):
            a[i] = i
        for i in dcpy.nounroll(range(3, 5)):
            a[i] += i
        for name in dcpy.unroll(("x", "y")):
            a[5] += 1 if name == "x" else 10

    same(f, X)
    text = body(f, X)
    assert text.count("loop ") == 1
    assert "tasklet () -> (out -> a[2]) { out = 2.0 }" in text


def test_unrolling_needs_a_known_number():
    def f(a, n):
        for i in dcpy.unroll(range(n)):
            a[i] = 0

    assert "how often the loop is unrolled is not known at compile time" in refusal(f, X, 3)


def test_parallel_ranges():
    def f(a):
        for i in dcpy.parrange(a.shape[0]):
            a[i] *= 2
        for i in dcpy.parrange(1, 6, 2):
            a[i] += 1

    same(f, X)
    assert "map i_1 = 1:6:2" in body(f, X)


def test_schedules():
    def f(a):
        for i in dcpy.map[0 : a.shape[0]] @ dcpy.ScheduleType.Sequential:
            a[i] += 1
        for i in dcpy.map[0 : a.shape[0]] @ dcpy.ScheduleType.CPU_Multicore:
            a[i] *= 2
        for i in dcpy.map[0:4] @ dcpy.ScheduleType.Unrolled:
            a[i] -= 1
        for i in dcpy.map[0 : a.shape[0]] @ dcpy.ScheduleType.Default:
            a[i] -= 1

    same(f, X)
    text = body(f, X)
    assert "map i = 0:N @sequential" in text
    assert "map i_1 = 0:N @parallel" in text
    assert "map i_2 = 0:4 @unrolled" in text


@pytest.mark.cc
def test_schedules_compiled():
    def f(a):
        for i in dcpy.map[0 : a.shape[0]] @ dcpy.ScheduleType.Sequential:
            a[i] += 1
        for i, j in dcpy.map[0 : a.shape[0], 0:2] @ dcpy.ScheduleType.CPU_Multicore:
            a[i] += j
        for i in dcpy.map[0:4] @ dcpy.ScheduleType.Unrolled:
            a[i] -= 1

    check_same(f, X, optimized=True)


def test_unrolled_maps_have_a_known_size():
    def f(a):
        for i in dcpy.map[0 : a.shape[0]] @ dcpy.ScheduleType.Unrolled:
            a[i] = 0

    assert "how often the map is unrolled is not known at compile time" in refusal(f, X)


def test_schedules_of_other_devices():
    def gpu(a):
        for i in dcpy.map[0:4:2] @ dcpy.ScheduleType.GPU_Device:
            for j in dcpy.map[i : i + 2] @ dcpy.ScheduleType.GPU_ThreadBlock:
                a[j] = j

    def f(a):
        for i in dcpy.map[0:4] @ dcpy.ScheduleType.FPGA_Device:
            a[i] = 0

    sdfg = dcpy.program(gpu).to_sdfg(X)
    assert "@grid" in str(sdfg)
    assert "@block" in str(sdfg)
    again = X.copy()
    sdfg.interpret(a=again)
    assert np.array_equal(again[:4], np.arange(4))
    with pytest.raises(dcpy.DcpyError, match="the target 'cpu' has no schedule @grid"):
        sdfg.compile()
    found = refusal(f, X)
    assert "the schedule FPGA_Device is not for single maps" in found
    assert "compile the program for the device: device=dcpy.DeviceType.FPGA" in found

    def g(a):
        for i in dcpy.map[0:4] @ dcpy.ScheduleType.SVE_Map:
            a[i] = 0

    found = refusal(g, X)
    assert "the schedule SVE_Map is on no device that dcpy prints code for" in found
    assert "use Default, Sequential or CPU_Multicore" in found


def test_a_schedule_in_a_decorator():
    def f(a):
        @dcpy.map(_[0:4], dcpy.ScheduleType.Sequential)
        def first(i):
            o >> a[i]
            o = i

        @dcpy.map(_[0:4], schedule=dcpy.ScheduleType.Sequential)
        def second(i):
            x << a[i]
            o >> a[i]
            o = x + 1

    assert body(f, X).count("@sequential") == 2


# -- hints -----------------------------------------------------------------------------------------------------------


def test_named_parts():
    def f(a):
        with dcpy.named("scaling"):
            b = a * 2
            if b[0] > 1:
                return b
        return b + 1

    same(f, X)
    same(f, -X)


def test_inline_and_in_program():
    def f(a):
        k = dcpy.inline(2 + 3)
        return a * k

    def g(a):
        return a * 2 if dcpy.in_program() else a

    same(f, X)
    assert not dcpy.in_program()
    check_pair(g, lambda a: a * 2, X)
    assert "what dcpy.inline takes must be known at compile time" in refusal(lambda a: dcpy.inline(a[0]), X)


# -- reductions ------------------------------------------------------------------------------------------------------


def test_reductions_as_expressions():
    def f(a):
        s = dcpy.reduce(lambda p, q: p + q, a, axis=(0, 2), identity=0)
        m = dcpy.reduce(lambda p, q: max(p, q), a, axis=1)
        k = dcpy.reduce(lambda p, q: p * q, a, identity=2)
        n = dcpy.reduce(lambda p, q: min(p, q), a, axis=-1, identity=1)
        return s, m, k, n

    same(f, A, rtol=1e-14)


def test_reductions_of_integers_keep_their_dtype():
    def f(a):
        t = dcpy.reduce(lambda p, q: p + q, a)
        u = dcpy.reduce(lambda p, q: p | q, a)
        v = dcpy.reduce(lambda p, q: p ^ q, a, identity=1)
        return t, u, v

    same(f, I.astype(np.int32))


def test_reductions_into_arrays():
    def f(a, s, t, u):
        dcpy.reduce(lambda p, q: p + q, a, s, axis=(0, 1), identity=0)
        dcpy.reduce(lambda p, q: p + q, a, t, axis=(0, 1))
        dcpy.reduce(lambda p, q: p + q, a, u, identity=1)

    same(f, A, np.ones(4), np.ones(4), np.ones(1), rtol=1e-14)


def test_reductions_with_other_functions_are_refused():
    def f(a):
        return dcpy.reduce(lambda p, q: p - q, a)

    assert "this function is no reduction that dcpy knows" in refusal(f, X)


@pytest.mark.cc
def test_reductions_compiled():
    def f(a, s):
        dcpy.reduce(lambda p, q: p + q, a, s, axis=(0, 1), identity=0)
        return dcpy.reduce(lambda p, q: max(p, q), a, axis=2), dcpy.reduce(np.minimum, a)

    check_same(f, A, np.ones(4), rtol=1e-14, optimized=True)


def test_functions_of_elements():
    def f(a):
        b = dcpy.elementwise(lambda x: x if x > 1 else 0.5, a)
        c = np.empty_like(a)
        dcpy.elementwise(lambda x: np.sqrt(x) + 1, a, c)
        return b, c

    same(f, A)
    assert body(f, A).count("map i = 0:N, i_1 = 0:M, i_2 = 0:K") == 1


def test_functions_of_elements_keep_the_dtype():
    def f(a):
        return dcpy.elementwise(lambda x: x * 2.6, a)

    same(f, I.astype(np.int32))


def test_functions_of_elements_give_numbers():
    def f(a):
        return dcpy.elementwise(lambda x: np.zeros(2), a)

    assert "the function gives an array float64[2] for an element" in refusal(f, X)
