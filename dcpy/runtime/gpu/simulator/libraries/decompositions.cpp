// cuSOLVER: QR by reflections, eigenvalues and singular values by Jacobi's rotations. Of what has NaN they make NaN, and
// say that all is well, as the real ones may.

#include "simulated.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

using namespace simulated;

namespace {

constexpr int SWEEPS = 60;

template <class T>
using RealOf = typename Real<T>::type;

bool demand(bool holds, const char *what, int &status)
{
    if (!status && !holds) status = refuse(3, what);
    return status == 0;
}

// A handle that was asked for the workspace it is given, and places for `info`.
Handle *prepared(void *handle, const std::string &what, const void *space, int64_t elements, int64_t size, const int *info,
                 int &status)
{
    Handle *const ours = handle_of(SOLVER, handle, status);
    if (!ours) return nullptr;
    check_room(*ours, what, space, elements, size, status);
    is_place("info", info, sizeof(int), status);
    return ours;
}

// column -= tau*v*(v^H*column), for the reflection that lies in column k from row k on; its first element is 1.
template <class T>
void reflect(const T *v, int64_t k, int64_t m, T tau, T *column)
{
    T sum = column[k];
    for (int64_t i = k + 1; i < m; ++i) sum += times(conjugate(v[i]), column[i]);
    sum = times(tau, sum);
    column[k] -= sum;
    for (int64_t i = k + 1; i < m; ++i) column[i] -= times(v[i], sum);
}

template <class T>
int geqrf(void *handle, int m, int n, T *a, int lda, T *tau, void *space, int elements, int *info)
{
    int status = 0;
    const Handle *const ours = prepared(handle, question("geqrf", m, n, lda), space, elements, sizeof(T), info, status);
    demand(m >= 0 && n >= 0 && lda >= std::max(1, m), "a size is wrong", status);
    is_place("a", a, extent(m, n, lda) * int64_t(sizeof(T)), status);
    is_place("tau", tau, std::min(m, n) * int64_t(sizeof(T)), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        for (int64_t k = 0; k < std::min(m, n); ++k) {
            T *const v = a + k * lda;
            RealOf<T> below = 0;
            for (int64_t i = k + 1; i < m; ++i) below += std::norm(v[i]);
            tau[k] = 0;
            if (below == 0 && std::imag(v[k]) == 0) continue;
            const RealOf<T> length = -std::copysign(std::sqrt(std::norm(v[k]) + below), std::real(v[k]));
            tau[k] = (T(length) - v[k]) / T(length);
            const T first = v[k] - T(length);
            for (int64_t i = k + 1; i < m; ++i) v[i] /= first;
            v[k] = length;
            for (int64_t j = k + 1; j < n; ++j) reflect<T>(v, k, m, conjugate(tau[k]), a + j * lda);
        }
        *info = 0;
        services->written(tau, std::min(m, n) * int64_t(sizeof(T)));
        services->written(info, sizeof(int));
    });
    return DONE;
}

template <class T>
int orgqr(void *handle, int m, int n, int count, T *a, int lda, const T *tau, void *space, int elements, int *info)
{
    int status = 0;
    const Handle *const ours = prepared(handle, question("orgqr", m, n, lda), space, elements, sizeof(T), info, status);
    demand(n >= 0 && m >= n && count >= 0 && n >= count && lda >= std::max(1, m), "a size is wrong", status);
    is_place("a", a, extent(m, n, lda) * int64_t(sizeof(T)), status);
    is_place("tau", tau, count * int64_t(sizeof(T)), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        std::vector<T> q(size_t(m) * n, T(0));
        for (int64_t j = 0; j < n; ++j) q[j + j * m] = 1;
        for (int64_t k = count - 1; k >= 0; --k)
            for (int64_t j = k; j < n; ++j) reflect<T>(a + k * lda, k, m, tau[k], q.data() + j * m);
        for (int64_t j = 0; j < n; ++j) std::copy_n(q.data() + j * m, m, a + j * lda);
        *info = 0;
        services->written(info, sizeof(int));
    });
    return DONE;
}

// How two columns are rotated so that nothing of `both`, their product, is left: the second one is turned by the
// phase first.
template <class T>
struct Rotation {
    T turn = T(1);
    RealOf<T> c = 1, s = 0;

    Rotation(T both, RealOf<T> first, RealOf<T> second)
    {
        const RealOf<T> size = std::abs(both);
        if (size == 0) return;
        turn = conjugate(both) / T(size);
        const RealOf<T> zeta = (second - first) / (2 * size);
        const RealOf<T> t = std::copysign(1 / (std::abs(zeta) + std::sqrt(1 + zeta * zeta)), zeta);
        c = 1 / std::sqrt(1 + t * t);
        s = c * t;
    }

    void operator()(T &p, T &q) const
    {
        const T turned = times(q, turn), before = p;
        p = T(c) * before - T(s) * turned;
        q = T(s) * before + T(c) * turned;
    }
};

// The places of numbers in rising order.
template <class R>
std::vector<int64_t> order_of(const std::vector<R> &numbers)
{
    std::vector<int64_t> order(numbers.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t i, int64_t j) { return numbers[i] < numbers[j]; });
    return order;
}

template <class T>
int syevd(void *handle, int vectors, int upper, int n, T *a, int lda, RealOf<T> *w, void *space, int elements, int *info)
{
    using R = RealOf<T>;
    int status = 0;
    const Handle *const ours = prepared(handle, question("syevd", vectors, n, lda), space, elements, sizeof(T), info, status);
    demand(n >= 0 && lda >= std::max(1, n), "a size is wrong", status);
    demand((vectors | 1) == 1 && (upper | 1) == 1, "there is no such option", status);
    is_place("a", a, extent(n, n, lda) * int64_t(sizeof(T)), status);
    is_place("w", w, n * int64_t(sizeof(R)), status);
    if (status) return status;
    services->submit(ours->stream, [=] {
        std::vector<T> x(size_t(n) * n), v(size_t(n) * n, T(0));
        R total = 0;
        for (int64_t j = 0; j < n; ++j)
            for (int64_t i = 0; i < n; ++i) {
                const bool is_there = upper ? i <= j : i >= j;
                x[i + j * n] = is_there ? a[i + j * lda] : conjugate(a[j + i * lda]);
                if (i == j) x[i + j * n] = std::real(x[i + j * n]), v[i + j * n] = 1;
                total += std::norm(x[i + j * n]);
            }
        for (int sweep = 0; sweep < SWEEPS && total == total; ++sweep)
            for (int64_t q = 1; q < n; ++q)
                for (int64_t p = 0; p < q; ++p) {
                    const Rotation<T> rotated(x[p + q * n], std::real(x[p + p * n]), std::real(x[q + q * n]));
                    for (int64_t i = 0; i < n; ++i) rotated(x[i + p * n], x[i + q * n]), rotated(v[i + p * n], v[i + q * n]);
                    for (int64_t j = 0; j < n; ++j) {  // and rows, by the conjugate
                        T &one = x[p + j * n], &other = x[q + j * n];
                        const T turned = times(other, conjugate(rotated.turn)), before = one;
                        one = T(rotated.c) * before - T(rotated.s) * turned;
                        other = T(rotated.s) * before + T(rotated.c) * turned;
                    }
                }
        std::vector<R> found(n);
        for (int64_t j = 0; j < n; ++j) found[j] = total == total ? std::real(x[j + j * n]) : total;
        const std::vector<int64_t> order = order_of(found);
        for (int64_t j = 0; j < n; ++j) {
            w[j] = found[order[j]];
            if (vectors) std::copy_n(v.data() + order[j] * n, n, a + j * lda);
        }
        *info = 0;
        services->written(w, n * int64_t(sizeof(R)));
        services->written(info, sizeof(int));
    });
    return DONE;
}

// Unit vectors, each without its parts along those in front of it: columns that are too short, or not there, are made.
template <class T>
void complete(T *u, int64_t m, int64_t columns, int64_t ld, const std::vector<bool> &is_there)
{
    for (int64_t j = 0, next = 0; j < columns; ++j) {
        if (j < int64_t(is_there.size()) && is_there[j]) continue;
        for (; next < m; ++next) {
            std::vector<T> fresh(m, T(0));
            fresh[next] = 1;
            for (int twice = 0; twice < 2; ++twice)
                for (int64_t k = 0; k < columns; ++k) {
                    if (k >= j && !(k < int64_t(is_there.size()) && is_there[k])) continue;
                    T along = 0;
                    for (int64_t i = 0; i < m; ++i) along += times(conjugate(u[i + k * ld]), fresh[i]);
                    for (int64_t i = 0; i < m; ++i) fresh[i] -= times(along, u[i + k * ld]);
                }
            RealOf<T> length = 0;
            for (const T &x : fresh) length += std::norm(x);
            if (!(length > RealOf<T>(0.25) / m)) continue;
            for (int64_t i = 0; i < m; ++i) u[i + j * ld] = fresh[i] / T(std::sqrt(length));
            break;
        }
    }
}

template <class T>
int gesvd(void *handle, char job, char job_v, int m, int n, T *a, int lda, RealOf<T> *s, T *u, int ldu, T *vt, int ldvt,
          void *space, int elements, RealOf<T> *rest, int *info)
{
    using R = RealOf<T>;
    int status = 0;
    const Handle *const ours = prepared(handle, question("gesvd", m, n, 0), space, elements, sizeof(T), info, status);
    demand(n >= 0 && m >= n, "it takes no matrix with more columns than rows", status);
    demand(lda >= std::max(1, m), "a leading dimension is too small", status);
    demand(job == job_v && (job == 'N' || job == 'S' || job == 'A'), "the simulated library has no such job", status);
    const int64_t columns = job == 'N' ? 0 : job == 'S' ? n : m;
    if (job != 'N') demand(ldu >= std::max(1, m) && ldvt >= std::max(1, n), "a leading dimension is too small", status);
    is_place("a", a, extent(m, n, lda) * int64_t(sizeof(T)), status);
    is_place("s", s, n * int64_t(sizeof(R)), status);
    is_place("rwork", rest, std::max(0, n - 1) * int64_t(sizeof(R)), status);
    if (job != 'N') {
        is_place("u", u, extent(m, columns, ldu) * int64_t(sizeof(T)), status);
        is_place("vt", vt, extent(n, n, ldvt) * int64_t(sizeof(T)), status);
    }
    if (status) return status;
    services->submit(ours->stream, [=] {
        std::vector<T> x(size_t(m) * n), v(size_t(n) * n, T(0));
        R total = 0;
        for (int64_t j = 0; j < n; ++j) {
            v[j + j * n] = 1;
            for (int64_t i = 0; i < m; ++i) total += std::norm(x[i + j * m] = a[i + j * lda]);
        }
        std::vector<R> size(n, total);
        for (int sweep = 0; sweep < SWEEPS && total == total; ++sweep)
            for (int64_t q = 1; q < n; ++q)
                for (int64_t p = 0; p < q; ++p) {
                    R first = 0, second = 0;
                    T both = 0;
                    for (int64_t i = 0; i < m; ++i) {
                        first += std::norm(x[i + p * m]), second += std::norm(x[i + q * m]);
                        both += times(conjugate(x[i + p * m]), x[i + q * m]);
                    }
                    if (std::abs(both) <= std::numeric_limits<R>::epsilon() * std::sqrt(first * second)) continue;
                    const Rotation<T> rotated(both, first, second);
                    for (int64_t i = 0; i < m; ++i) rotated(x[i + p * m], x[i + q * m]);
                    for (int64_t i = 0; i < n; ++i) rotated(v[i + p * n], v[i + q * n]);
                }
        for (int64_t j = 0; j < n && total == total; ++j) {
            size[j] = 0;
            for (int64_t i = 0; i < m; ++i) size[j] += std::norm(x[i + j * m]);
            size[j] = std::sqrt(size[j]);
        }
        std::vector<int64_t> order = order_of(size);
        std::reverse(order.begin(), order.end());
        std::vector<bool> is_there(n);
        for (int64_t j = 0; j < n; ++j) {
            const int64_t from = order[j];
            s[j] = size[from];
            is_there[j] = size[from] > 64 * std::numeric_limits<R>::epsilon() * size[order[0]];
            for (int64_t i = 0; i < n && job != 'N'; ++i) vt[j + i * ldvt] = conjugate(v[i + from * n]);
            for (int64_t i = 0; i < m && j < columns; ++i) u[i + j * ldu] = x[i + from * m] / T(size[from]);
        }
        complete<T>(u, m, columns, ldu, is_there);
        *info = 0;
        for (int64_t j = 0; j < columns; ++j) services->written(u + j * ldu, m * int64_t(sizeof(T)));
        for (int64_t j = 0; j < n && job != 'N'; ++j) services->written(vt + j * ldvt, n * int64_t(sizeof(T)));
        services->written(s, n * int64_t(sizeof(R)));
        services->written(info, sizeof(int));
    });
    return DONE;
}

}  // namespace

#define PER_TYPE(L, T, R, QR, EV)                                                                                        \
    DCPY_SIMULATED int cusolverDn##L##geqrf_bufferSize(void *h, int m, int n, void *, int lda, int *elements)            \
    {                                                                                                                    \
        return ask(h, question("geqrf", m, n, lda), int64_t(n) + 3, elements);                                           \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##geqrf(void *h, int m, int n, void *a, int lda, void *tau, void *space,             \
                                            int elements, int *info)                                                     \
    {                                                                                                                    \
        return geqrf<T>(h, m, n, (T *)a, lda, (T *)tau, space, elements, info);                                          \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##QR##_bufferSize(void *h, int m, int n, int, const void *, int lda, const void *,   \
                                                      int *elements)                                                     \
    {                                                                                                                    \
        return ask(h, question("orgqr", m, n, lda), int64_t(n) + 5, elements);                                           \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##QR(void *h, int m, int n, int count, void *a, int lda, const void *tau,            \
                                         void *space, int elements, int *info)                                           \
    {                                                                                                                    \
        return orgqr<T>(h, m, n, count, (T *)a, lda, (const T *)tau, space, elements, info);                             \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##EV##_bufferSize(void *h, int vectors, int, int n, const void *, int lda,           \
                                                      const void *, int *elements)                                       \
    {                                                                                                                    \
        return ask(h, question("syevd", vectors, n, lda), 2 * int64_t(n) + 1, elements);                                 \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##EV(void *h, int vectors, int upper, int n, void *a, int lda, void *w, void *space, \
                                         int elements, int *info)                                                        \
    {                                                                                                                    \
        return syevd<T>(h, vectors, upper, n, (T *)a, lda, (R *)w, space, elements, info);                               \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##gesvd_bufferSize(void *h, int m, int n, int *elements)                             \
    {                                                                                                                    \
        return ask(h, question("gesvd", m, n, 0), int64_t(m) + n, elements);                                             \
    }                                                                                                                    \
    DCPY_SIMULATED int cusolverDn##L##gesvd(void *h, signed char job_u, signed char job_v, int m, int n, void *a,        \
                                            int lda, void *s, void *u, int ldu, void *vt, int ldvt, void *space,         \
                                            int elements, void *rest, int *info)                                         \
    {                                                                                                                    \
        return gesvd<T>(h, job_u, job_v, m, n, (T *)a, lda, (R *)s, (T *)u, ldu, (T *)vt, ldvt, space, elements,         \
                        (R *)rest, info);                                                                                \
    }

PER_TYPE(S, float, float, orgqr, syevd)
PER_TYPE(D, double, double, orgqr, syevd)
PER_TYPE(C, std::complex<float>, float, ungqr, heevd)
PER_TYPE(Z, std::complex<double>, double, ungqr, heevd)
