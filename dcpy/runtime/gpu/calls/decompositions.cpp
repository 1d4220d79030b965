// QR, eigenvalues of Hermitian matrices, singular values. Each function's workspace is asked of the library each time.

#include <algorithm>
#include <climits>

#include "calls.h"

namespace dcpy {

namespace {

struct Decomposition {
    const char *real, *complex;
    int count;  // numbers of a call
    int info;   // the place of what it says of itself
};

constexpr Decomposition DECOMPOSITIONS[] = {
    {"geqrf", "geqrf", 4, 2}, {"orgqr", "ungqr", 5, 2}, {"syevd", "heevd", 5, 2}, {"gesvd", "gesvd", 7, 4}};

}  // namespace

int32_t call_decomposition(Calls &calls, dcpy_device *device, int32_t function, const int64_t *n, void *const *p)
{
    const Decomposition &form = DECOMPOSITIONS[function - DCPY_GEQRF];
    OnQueue *on;
    if (const int32_t status = solver_of(calls, device, &on)) return status;
    const int64_t type = n[0];
    for (int k = 1; k < form.count; ++k)
        if (n[k] > INT_MAX)
            return device->library_failed(device, DCPY_MISUSED, "matrices of solvers have less than 2**31 rows and columns");
    // What is empty is not a case that all libraries know.
    const int64_t rows = function == DCPY_SYEVD || function == DCPY_GESVD ? n[3] : n[1], columns = function == DCPY_SYEVD ? n[3] : n[2];
    if (rows == 0 || columns == 0) return device->fill(device, p[form.info], 0, sizeof(int));
    const bool is_complex = type == 'c' || type == 'z';
    const std::string name = solver_name(calls, type, is_complex ? form.complex : form.real), asked = name + "_bufferSize";
    void *const entry = calls.solver.find(name), *const size = calls.solver.find(asked);
    if (!entry || !size) return calls.lacks(device, entry ? asked : name);
    const Words &w = calls.words;
    const Handle h = on->solver;
    auto number = [&](int k) { return int(n[k]); };
    int elements = 0, status = 0;
    switch (function) {
    case DCPY_GEQRF:
        status = as<int (*)(Handle, int, int, void *, int, int *)>(size)(h, number(1), number(2), p[0], number(3), &elements);
        break;
    case DCPY_ORGQR:
        status = as<int (*)(Handle, int, int, int, const void *, int, const void *, int *)>(size)(
            h, number(1), number(2), number(3), p[0], number(4), p[1], &elements);
        break;
    case DCPY_SYEVD:
        status = as<int (*)(Handle, int, int, int, const void *, int, const void *, int *)>(size)(
            h, w.vectors[n[1]], w.halves[n[2]], number(3), p[0], number(4), p[1], &elements);
        break;
    default: status = as<int (*)(Handle, int, int, int *)>(size)(h, number(2), number(3), &elements);
    }
    if (const int32_t failed = calls.answer(device, calls.solver, asked, status)) return failed;
    // Behind the workspace: what gesvd leaves where it does not converge, a real number per column.
    const int64_t bytes = (int64_t(elements) * item_size(type) + 255) / 256 * 256;
    if (const int32_t failed = calls.room(device, *on, bytes + (function == DCPY_GESVD ? n[3] * 8 : 0))) return failed;
    switch (function) {
    case DCPY_GEQRF:
        status = as<int (*)(Handle, int, int, void *, int, void *, void *, int, void *)>(entry)(
            h, number(1), number(2), p[0], number(3), p[1], on->space, elements, p[2]);
        break;
    case DCPY_ORGQR:
        status = as<int (*)(Handle, int, int, int, void *, int, const void *, void *, int, void *)>(entry)(
            h, number(1), number(2), number(3), p[0], number(4), p[1], on->space, elements, p[2]);
        break;
    case DCPY_SYEVD:
        status = as<int (*)(Handle, int, int, int, void *, int, void *, void *, int, void *)>(entry)(
            h, w.vectors[n[1]], w.halves[n[2]], number(3), p[0], number(4), p[1], on->space, elements, p[2]);
        break;
    default: {
        const signed char job = "NSA"[n[1]];
        status = as<int (*)(Handle, signed char, signed char, int, int, void *, int, void *, void *, int, void *, int, void *,
                            int, void *, void *)>(entry)(h, job, job, number(2), number(3), p[0], number(4), p[1], p[2],
                                                         number(5), p[3], number(6), on->space, elements,
                                                         (char *)on->space + bytes, p[4]);
    }
    }
    return calls.answer(device, calls.solver, name, status);
}

}  // namespace dcpy
