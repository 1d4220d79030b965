// cuBLAS: sums are taken in order, in the precision of the operands.

#include "simulated.h"

#include <vector>

using namespace simulated;

namespace {

const char *const BLAS = "cuBLAS";

// A handle that is ready: a queue, memory to work in, exact arithmetic.
Handle *ready(void *handle, int &status)
{
    Handle *const found = handle_of(BLAS, handle, status);
    if (!found) return nullptr;
    if (!found->workspace)
        status = refuse(INTERNAL_ERROR, "the queue has no workspace: the library would allocate one of its own");
    else if (found->math_mode != 0)
        status = refuse(INTERNAL_ERROR, "the mathematical mode is not that of exact products");
    return is_place("the workspace", found->workspace, int64_t(found->workspace_bytes), status) ? found : nullptr;
}

// A factor: of the host, and read now.
template <class T>
T factor(const Handle &handle, const void *place, int &status)
{
    if (status) return T(0);
    const bool is_there = services->problem(place, sizeof(T)).empty();
    if (handle.pointer_mode != 0 || is_there)
        status = refuse(INTERNAL_ERROR, "a factor is of the other side than the mode of pointers says");
    return status ? T(0) : *(const T *)place;
}

bool demand(bool holds, const char *what, int &status)
{
    if (!status && !holds) status = refuse(INVALID_VALUE, what);
    return status == 0;
}

int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

template <class T>
void multiply(int64_t m, int64_t n, int64_t k, T alpha, Matrix<T> a, Matrix<T> b, T beta, T *c, int64_t ldc, int half)
{
    for (int64_t j = 0; j < n; ++j)
        for (int64_t i = half > 0 ? j : 0; i < (half < 0 ? j + 1 : m); ++i) {
            T sum = 0;
            for (int64_t l = 0; l < k; ++l) sum += times(a(i, l), b(l, j));
            // What is scaled by 0 is not looked at.
            T &out = c[i + j * ldc];
            const T product = alpha == T(0) ? T(0) : times(alpha, sum);
            out = beta == T(0) ? product : product + times(beta, out);
        }
    for (int64_t j = 0; j < n; ++j) services->written(c + j * ldc, m * int64_t(sizeof(T)));
}

template <class T, class I>
int gemm(void *handle, int op_a, int op_b, I m, I n, I k, const void *alpha, const T *a, I lda, int64_t far_a, const T *b,
         I ldb, int64_t far_b, const void *beta, T *c, I ldc, int64_t far_c, I count)
{
    int status = 0;
    const Handle *const ours = ready(handle, status);
    if (!ours) return status;
    const T x = factor<T>(*ours, alpha, status), y = factor<T>(*ours, beta, status);
    const int64_t rows_a = op_a ? k : m, columns_a = op_a ? m : k, rows_b = op_b ? n : k, columns_b = op_b ? k : n;
    demand(m >= 0 && n >= 0 && k >= 0 && count >= 0, "a size is negative", status);
    demand(lda >= most(1, rows_a) && ldb >= most(1, rows_b) && ldc >= most(1, m), "a leading dimension is too small", status);
    demand(op_a >= 0 && op_a <= 2 && op_b >= 0 && op_b <= 2, "there is no such operation", status);
    if (status || m == 0 || n == 0 || count == 0) return status;
    const int64_t size = sizeof(T), last = count - 1;
    is_place("a", a, (last * far_a + extent(rows_a, columns_a, lda)) * size * (k > 0), status);
    is_place("b", b, (last * far_b + extent(rows_b, columns_b, ldb)) * size * (k > 0), status);
    is_place("c", c, (last * far_c + extent(m, n, ldc)) * size, status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        for (int64_t l = 0; l < count; ++l)
            multiply<T>(m, n, k, x, {a + l * far_a, lda, op_a}, {b + l * far_b, ldb, op_b}, y, c + l * far_c, ldc, 0);
    });
    return DONE;
}

template <class T, class I>
int syrk(void *handle, int upper, int op, I n, I k, const void *alpha, const T *a, I lda, const void *beta, T *c, I ldc)
{
    int status = 0;
    const Handle *const ours = ready(handle, status);
    if (!ours) return status;
    const T x = factor<T>(*ours, alpha, status), y = factor<T>(*ours, beta, status);
    const int64_t rows = op ? k : n, columns = op ? n : k;
    demand(n >= 0 && k >= 0, "a size is negative", status);
    demand(lda >= most(1, rows) && ldc >= most(1, n), "a leading dimension is too small", status);
    demand(op == 0 || op == 1, "there is no such operation", status);
    if (status || n == 0) return status;
    is_place("a", a, extent(rows, columns, lda) * int64_t(sizeof(T)), status);
    is_place("c", c, extent(n, n, ldc) * int64_t(sizeof(T)), status);
    if (status) return status;
    services->submit(ours->stream,
                     [=] { multiply<T>(n, n, k, x, {a, lda, op}, {a, lda, 1 - op}, y, c, ldc, upper ? -1 : 1); });
    return DONE;
}

// One column of the left sides' solution.
template <class T>
void substitute(int64_t n, Matrix<T> a, bool lower, bool unit, T *x, int64_t step)
{
    for (int64_t row = 0; row < n; ++row) {
        const int64_t i = lower ? row : n - 1 - row;
        T rest = x[i * step];
        for (int64_t k = lower ? 0 : i + 1; k < (lower ? i : n); ++k) rest -= times(a(i, k), x[k * step]);
        x[i * step] = unit ? rest : rest / a(i, i);
    }
}

template <class T, class I>
int trsm(void *handle, int right, int upper, int op, int unit, I m, I n, const void *alpha, const T *a, I lda, T *b, I ldb)
{
    int status = 0;
    const Handle *const ours = ready(handle, status);
    if (!ours) return status;
    const T x = factor<T>(*ours, alpha, status);
    const int64_t size = right ? n : m;
    demand(m >= 0 && n >= 0, "a size is negative", status);
    demand(lda >= most(1, size) && ldb >= most(1, m), "a leading dimension is too small", status);
    if (status || m == 0 || n == 0) return status;
    is_place("a", a, extent(size, size, lda) * int64_t(sizeof(T)), status);
    is_place("b", b, extent(m, n, ldb) * int64_t(sizeof(T)), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < m; ++i) b[i + j * ldb] = times(x, b[i + j * ldb]);
        // x op(a) = b is op(a)^T x^T = b^T
        const Matrix<T> by_rows = {a, lda, right ? (op ? 0 : 1) : op};
        const bool lower = (upper == 0) != (by_rows.operation != 0);
        for (int64_t line = 0; line < (right ? m : n); ++line)
            substitute<T>(size, by_rows, lower, unit, right ? b + line : b + line * ldb, right ? ldb : 1);
    });
    return DONE;
}

template <class T, class I>
int gemv(void *handle, int op, I m, I n, const void *alpha, const T *a, I lda, const T *x, I step_x, const void *beta, T *y,
         I step_y)
{
    int status = 0;
    const Handle *const ours = ready(handle, status);
    if (!ours) return status;
    const T scale = factor<T>(*ours, alpha, status), keep = factor<T>(*ours, beta, status);
    const int64_t rows = op ? n : m, columns = op ? m : n;
    demand(m >= 0 && n >= 0, "a size is negative", status);
    demand(lda >= most(1, m), "a leading dimension is too small", status);
    demand(step_x != 0 && step_y != 0, "a distance is 0", status);
    if (status || m == 0 || n == 0) return status;
    is_place("a", a, extent(m, n, lda) * int64_t(sizeof(T)), status);
    is_place("x", x, extent(columns, step_x) * int64_t(sizeof(T)), status);
    is_place("y", y, extent(rows, step_y) * int64_t(sizeof(T)), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        const Matrix<T> matrix = {a, lda, op};
        for (int64_t i = 0; i < rows; ++i) {
            T sum = 0;
            for (int64_t k = 0; k < columns; ++k) sum += times(matrix(i, k), x[k * step_x]);
            T &out = y[i * step_y];
            out = keep == T(0) ? times(scale, sum) : times(scale, sum) + times(keep, out);
            services->written(&out, sizeof(T));
        }
    });
    return DONE;
}

template <class T, class I>
int ger(void *handle, I m, I n, const void *alpha, const T *x, I step_x, const T *y, I step_y, T *a, I lda)
{
    int status = 0;
    const Handle *const ours = ready(handle, status);
    if (!ours) return status;
    const T scale = factor<T>(*ours, alpha, status);
    demand(m >= 0 && n >= 0, "a size is negative", status);
    demand(lda >= most(1, m), "a leading dimension is too small", status);
    demand(step_x != 0 && step_y != 0, "a distance is 0", status);
    if (status || m == 0 || n == 0) return status;
    is_place("x", x, extent(m, step_x) * int64_t(sizeof(T)), status);
    is_place("y", y, extent(n, step_y) * int64_t(sizeof(T)), status);
    is_place("a", a, extent(m, n, lda) * int64_t(sizeof(T)), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < m; ++i) a[i + j * lda] += times(scale, times(x[i * step_x], y[j * step_y]));
    });
    return DONE;
}

template <class T, class I>
int dot(void *handle, I n, const T *x, I step_x, const T *y, I step_y, T *result)
{
    int status = 0;
    const Handle *const ours = ready(handle, status);
    if (!ours) return status;
    demand(ours->pointer_mode == 1, "the result is the device's, the mode of pointers says the host's", status);
    is_place("x", x, extent(n, step_x) * int64_t(sizeof(T)), status);
    is_place("y", y, extent(n, step_y) * int64_t(sizeof(T)), status);
    is_place("the result", result, sizeof(T), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        T sum = 0;
        for (int64_t k = 0; k < n; ++k) sum += times(x[k * step_x], y[k * step_y]);
        *result = sum;
        services->written(result, sizeof(T));
    });
    return DONE;
}

}  // namespace

DCPY_SIMULATED int cublasCreate_v2(void **handle) { return make_handle(BLAS, handle); }
DCPY_SIMULATED int cublasDestroy_v2(void *handle) { return drop_handle(BLAS, handle); }
DCPY_SIMULATED int cublasSetStream_v2(void *handle, void *stream) { return set_stream(BLAS, handle, stream); }

DCPY_SIMULATED int cublasSetWorkspace_v2(void *handle, void *place, size_t bytes)
{
    int status = 0;
    Handle *const found = handle_of(BLAS, handle, status);
    if (!found || !is_place("the workspace", place, int64_t(bytes), status)) return status;
    found->workspace = place;
    found->workspace_bytes = bytes;
    return DONE;
}

DCPY_SIMULATED int cublasSetPointerMode_v2(void *handle, int mode)
{
    int status = 0;
    Handle *const found = handle_of(BLAS, handle, status);
    if (found) found->pointer_mode = mode;
    return status;
}

DCPY_SIMULATED int cublasSetMathMode(void *handle, int mode)
{
    int status = 0;
    Handle *const found = handle_of(BLAS, handle, status);
    if (found) found->math_mode = mode;
    return status;
}

#define PER_TYPE(L, T, U, SUFFIX, I)                                                                                       \
    DCPY_SIMULATED int cublas##L##gemm_v2##SUFFIX(void *h, int p, int q, I m, I n, I k, const void *alpha, const void *a,  \
                                                  I lda, const void *b, I ldb, const void *beta, void *c, I ldc)           \
    {                                                                                                                      \
        return gemm<T, I>(h, p, q, m, n, k, alpha, (const T *)a, lda, 0, (const T *)b, ldb, 0, beta, (T *)c, ldc, 0, 1);   \
    }                                                                                                                      \
    DCPY_SIMULATED int cublas##L##gemmStridedBatched##SUFFIX(                                                              \
        void *h, int p, int q, I m, I n, I k, const void *alpha, const void *a, I lda, long long far_a, const void *b,     \
        I ldb, long long far_b, const void *beta, void *c, I ldc, long long far_c, I count)                                \
    {                                                                                                                      \
        return gemm<T, I>(h, p, q, m, n, k, alpha, (const T *)a, lda, far_a, (const T *)b, ldb, far_b, beta, (T *)c, ldc,  \
                          far_c, count);                                                                                   \
    }                                                                                                                      \
    DCPY_SIMULATED int cublas##L##syrk_v2##SUFFIX(void *h, int upper, int op, I n, I k, const void *alpha, const void *a,  \
                                                  I lda, const void *beta, void *c, I ldc)                                 \
    {                                                                                                                      \
        return syrk<T, I>(h, upper, op, n, k, alpha, (const T *)a, lda, beta, (T *)c, ldc);                                \
    }                                                                                                                      \
    DCPY_SIMULATED int cublas##L##trsm_v2##SUFFIX(void *h, int side, int upper, int op, int unit, I m, I n,                \
                                                  const void *alpha, const void *a, I lda, void *b, I ldb)                 \
    {                                                                                                                      \
        return trsm<T, I>(h, side, upper, op, unit, m, n, alpha, (const T *)a, lda, (T *)b, ldb);                          \
    }                                                                                                                      \
    DCPY_SIMULATED int cublas##L##gemv_v2##SUFFIX(void *h, int op, I m, I n, const void *alpha, const void *a, I lda,      \
                                                  const void *x, I sx, const void *beta, void *y, I sy)                    \
    {                                                                                                                      \
        return gemv<T, I>(h, op, m, n, alpha, (const T *)a, lda, (const T *)x, sx, beta, (T *)y, sy);                      \
    }                                                                                                                      \
    DCPY_SIMULATED int cublas##L##ger##U##_v2##SUFFIX(void *h, I m, I n, const void *alpha, const void *x, I sx,           \
                                                      const void *y, I sy, void *a, I lda)                                 \
    {                                                                                                                      \
        return ger<T, I>(h, m, n, alpha, (const T *)x, sx, (const T *)y, sy, (T *)a, lda);                                 \
    }                                                                                                                      \
    DCPY_SIMULATED int cublas##L##dot##U##_v2##SUFFIX(void *h, I n, const void *x, I sx, const void *y, I sy, void *out)   \
    {                                                                                                                      \
        return dot<T, I>(h, n, (const T *)x, sx, (const T *)y, sy, (T *)out);                                              \
    }

PER_TYPE(S, float, , , int)
PER_TYPE(D, double, , , int)
PER_TYPE(C, std::complex<float>, u, , int)
PER_TYPE(Z, std::complex<double>, u, , int)
