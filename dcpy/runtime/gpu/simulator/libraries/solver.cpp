// cuSOLVER: Cholesky's factorization, LU with the largest pivot, solutions.

#include "simulated.h"

#include <algorithm>
#include <cmath>

using namespace simulated;

namespace {

template <class T>
int potrf(void *handle, bool upper, int n, T *a, int lda, void *space, int elements, int *info)
{
    int status = 0;
    const Handle *const ours = handle_of(SOLVER, handle, status);
    if (!ours) return status;
    if (n < 0 || lda < std::max(1, n)) return refuse(3, "a size is wrong");
    check_room(*ours, question("potrf", n, n, lda), space, elements, sizeof(T), status);
    is_place("a", a, extent(n, n, lda) * int64_t(sizeof(T)), status);
    is_place("info", info, sizeof(int), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        auto at = [&](int64_t i, int64_t j) -> T & { return upper ? a[j + i * lda] : a[i + j * lda]; };
        auto read = [&](int64_t i, int64_t j) { return upper ? conjugate(at(i, j)) : at(i, j); };
        *info = 0;
        for (int64_t j = 0; j < n && *info == 0; ++j) {
            typename Real<T>::type rest = std::real(at(j, j));
            for (int64_t k = 0; k < j; ++k) rest -= std::norm(at(j, k));
            if (!(rest > 0)) {
                *info = int(j + 1);
                break;
            }
            const T root = std::sqrt(rest);
            at(j, j) = root;
            for (int64_t i = j + 1; i < n; ++i) {
                T sum = read(i, j);
                for (int64_t k = 0; k < j; ++k) sum -= times(read(i, k), conjugate(read(j, k)));
                at(i, j) = upper ? conjugate(T(sum / root)) : sum / root;
            }
        }
        services->written(info, sizeof(int));
    });
    return DONE;
}

template <class T>
int getrf(void *handle, int m, int n, T *a, int lda, void *space, int *pivots, int *info)
{
    int status = 0;
    const Handle *const ours = handle_of(SOLVER, handle, status);
    if (!ours) return status;
    if (m < 0 || n < 0 || lda < std::max(1, m)) return refuse(3, "a size is wrong");
    check_room(*ours, question("getrf", m, n, lda), space, -1, sizeof(T), status);
    is_place("a", a, extent(m, n, lda) * int64_t(sizeof(T)), status);
    is_place("the pivots", pivots, std::min(m, n) * int64_t(sizeof(int)), status);
    is_place("info", info, sizeof(int), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        auto size = [](T x) { return std::abs(std::real(x)) + std::abs(std::imag(x)); };
        *info = 0;
        for (int64_t k = 0; k < std::min(m, n); ++k) {
            int64_t p = k;
            for (int64_t i = k + 1; i < m; ++i)
                if (size(a[i + k * lda]) > size(a[p + k * lda])) p = i;
            pivots[k] = int(p + 1);
            for (int64_t j = 0; j < n; ++j) std::swap(a[k + j * lda], a[p + j * lda]);
            if (a[k + k * lda] == T(0)) {
                if (*info == 0) *info = int(k + 1);
                continue;
            }
            for (int64_t i = k + 1; i < m; ++i) {
                const T l = a[i + k * lda] /= a[k + k * lda];
                for (int64_t j = k + 1; j < n; ++j) a[i + j * lda] -= times(l, a[k + j * lda]);
            }
        }
        services->written(pivots, std::min(m, n) * int64_t(sizeof(int)));
        services->written(info, sizeof(int));
    });
    return DONE;
}

template <class T>
int getrs(void *handle, int op, int n, int columns, const T *a, int lda, const int *pivots, T *b, int ldb, int *info)
{
    int status = 0;
    const Handle *const ours = handle_of(SOLVER, handle, status);
    if (!ours) return status;
    if (op != 0) return refuse(3, "the simulated library solves for matrices as they are");
    if (n < 0 || columns < 0 || lda < std::max(1, n) || ldb < std::max(1, n)) return refuse(3, "a size is wrong");
    is_place("a", a, extent(n, n, lda) * int64_t(sizeof(T)), status);
    is_place("the pivots", pivots, n * int64_t(sizeof(int)), status);
    is_place("b", b, extent(n, columns, ldb) * int64_t(sizeof(T)), status);
    is_place("info", info, sizeof(int), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        for (int64_t j = 0; j < columns; ++j) {
            T *const x = b + j * ldb;
            for (int64_t i = 0; i < n; ++i) std::swap(x[i], x[pivots[i] - 1]);
            for (int64_t i = 0; i < n; ++i)
                for (int64_t k = 0; k < i; ++k) x[i] -= times(a[i + k * lda], x[k]);
            for (int64_t i = n - 1; i >= 0; --i) {
                for (int64_t k = i + 1; k < n; ++k) x[i] -= times(a[i + k * lda], x[k]);
                x[i] /= a[i + i * lda];
            }
        }
        *info = 0;
    });
    return DONE;
}

}  // namespace

DCPY_SIMULATED int cusolverDnCreate(void **handle) { return make_handle(SOLVER, handle); }
DCPY_SIMULATED int cusolverDnDestroy(void *handle) { return drop_handle(SOLVER, handle); }
DCPY_SIMULATED int cusolverDnSetStream(void *handle, void *stream) { return set_stream(SOLVER, handle, stream); }

#define PER_TYPE(L, T)                                                                                                   \
    DCPY_SIMULATED int cusolverDn##L##potrf_bufferSize(void *h, int, int n, void *, int lda, int *elements)              \
    {                                                                                                                    \
        return ask(h, question("potrf", n, n, lda), 2 * n, elements);                                                    \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##potrf(void *h, int upper, int n, void *a, int lda, void *space, int elements,      \
                                            int *info)                                                                   \
    {                                                                                                                    \
        return potrf<T>(h, upper, n, (T *)a, lda, space, elements, info);                                                \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##getrf_bufferSize(void *h, int m, int n, void *, int lda, int *elements)            \
    {                                                                                                                    \
        return ask(h, question("getrf", m, n, lda), int64_t(m) + n, elements);                                           \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##getrf(void *h, int m, int n, void *a, int lda, void *space, int *pivots, int *info)\
    {                                                                                                                    \
        return getrf<T>(h, m, n, (T *)a, lda, space, pivots, info);                                                      \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##getrs(void *h, int op, int n, int columns, const void *a, int lda,                 \
                                            const int *pivots, void *b, int ldb, int *info)                              \
    {                                                                                                                    \
        return getrs<T>(h, op, n, columns, (const T *)a, lda, pivots, (T *)b, ldb, info);                                \
    }

PER_TYPE(S, float)
PER_TYPE(D, double)
PER_TYPE(C, std::complex<float>)
PER_TYPE(Z, std::complex<double>)
