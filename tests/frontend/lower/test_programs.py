"""Whole programs as written: the paper's gemm and jacobi_2d as text, and kernels against NumPy."""
# ruff: noqa: E501  (texts are compared as they are printed)

import numpy as np

import dcpy
from dcpy.frontend.annotations import types_from_annotations
from dcpy.frontend.lower.function_to_sdfg import lower_function
from dcpy.ir.text import print_sdfg
from tests.support.lowering import same

N, M, K = dcpy.symbols("N M K")


def gemm(
    alpha: dcpy.float64,
    beta: dcpy.float64,
    C: dcpy.float64[N, M],
    A: dcpy.float64[N, K],
    B: dcpy.float64[K, M],
):
    C[:] = alpha * A @ B + beta * C


def test_gemm_as_written():
    """One map or library node per NumPy operation, into a fresh container (the paper, section 2.3)."""
    dcpy.plugins.load()
    printed = print_sdfg(lower_function(gemm, types_from_annotations(gemm)).sdfg)
    assert (
        printed.strip()
        == """
sdfg @gemm(alpha: f64, beta: f64, C: f64[N, M], A: f64[N, K], B: f64[K, M]) symbols(N: size, M: size, K: size) {
  data tmp: f64[N, K] transient
  data tmp_1: f64[N, M] transient
  data tmp_2: f64[N, M] transient
  data tmp_3: f64[N, M] transient
  state {
    map i0 = 0:N, i1 = 0:K {
      tasklet (alpha_in <- alpha, A_in <- A[i0, i1]) -> (out -> tmp[i0, i1]) { out = alpha_in * A_in }
    }
    blas.matmul (a <- tmp[0:N, 0:K], b <- B[0:K, 0:M]) -> (c -> tmp_1[0:N, 0:M])
    map i0_1 = 0:N, i1_1 = 0:M {
      tasklet (beta_in <- beta, C_in <- C[i0_1, i1_1]) -> (out -> tmp_2[i0_1, i1_1]) { out = beta_in * C_in }
    }
    map i0_2 = 0:N, i1_2 = 0:M {
      tasklet (tmp_1_in <- tmp_1[i0_2, i1_2], tmp_2_in <- tmp_2[i0_2, i1_2]) -> (out -> tmp_3[i0_2, i1_2]) { out = tmp_1_in + tmp_2_in }
    }
    copy tmp_3[0:N, 0:M] -> C[0:N, 0:M]
  }
}""".strip()
    )


def test_lowering_is_deterministic():
    texts = {print_sdfg(lower_function(gemm, types_from_annotations(gemm)).sdfg) for _ in range(3)}
    assert len(texts) == 1


def test_seidel():
    def seidel_2d(steps, A):
        N = A.shape[0]
        for _ in range(steps - 1):
            for i in range(1, N - 1):
                for j in range(1, N - 1):
                    A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j] + A[i, j + 1] + A[i + 1, j]) / 5.0

    same(seidel_2d, 4, np.arange(25.0).reshape(5, 5) ** 2)


def test_crc16():
    def crc16(data, poly):
        crc = 0xFFFF
        for i in range(data.shape[0]):
            current = 0xFF & data[i]
            for _ in range(0, 8):
                if (crc & 0x0001) ^ (current & 0x0001):
                    crc = (crc >> 1) ^ poly
                else:
                    crc >>= 1
                current >>= 1
        crc = ~crc & 0xFFFF
        return ((crc << 8) | ((crc >> 8) & 0xFF)) & 0xFFFF

    same(crc16, np.arange(20, dtype=np.uint8), 0x8408)


def test_softmax():
    def softmax(x):
        high = np.max(x, axis=-1, keepdims=True)
        out = np.exp(x - high)
        return out / np.sum(out, axis=-1, keepdims=True)

    same(softmax, np.arange(24.0).reshape(2, 3, 4) ** 0.5, rtol=1e-15)


def test_a_loop_that_looks_parallel():
    def f(a, b):
        for i in range(len(a) - 1):
            b[i] = a[i]
            a[i] = b[i + 1]

    same(f, np.arange(8.0), np.ones(8))


def test_overlapping_arguments():
    def f(a, b):
        a[:] = b * 2
        b[:] = a + 1

    x = np.arange(9.0)
    same(f, x[1:], x[:-1])
