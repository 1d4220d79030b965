// Factorizations and solutions, in place. How much memory a call needs is asked of the library each time.

#include <climits>

#include "calls.h"

namespace dcpy {

namespace {

int32_t set_up(Calls &calls, dcpy_device *device, OnQueue &on, void *stream)
{
    const std::string create = std::string(calls.words.solver) + "Create";
    const std::string set_stream = std::string(calls.words.solver) + "SetStream";
    void *const make = calls.solver.find(create), *const tell = calls.solver.find(set_stream);
    if (!make || !tell) return calls.lacks(device, make ? set_stream : create);
    if (const int32_t status = calls.answer(device, calls.solver, create, as<int (*)(Handle *)>(make)(&on.solver)))
        return status;
    return calls.answer(device, calls.solver, set_stream, as<int (*)(Handle, void *)>(tell)(on.solver, stream));
}

}  // namespace

int32_t solver_of(Calls &calls, dcpy_device *device, OnQueue **on)
{
    void *stream;
    if (const int32_t status = calls.queue(device, &stream, on)) return status;
    return (*on)->solver ? DCPY_DONE : set_up(calls, device, **on, stream);
}

int32_t call_solver(Calls &calls, dcpy_device *device, int32_t function, const int64_t *n, void *const *p)
{
    static const char *const stems[] = {"potrf", "getrf", "getrs"};
    const char *const stem = stems[function - DCPY_POTRF];
    OnQueue *on;
    if (const int32_t status = solver_of(calls, device, &on)) return status;
    const int64_t type = n[0];
    for (int k = 1; k < 6 && (k < 4 || function == DCPY_GETRS); ++k)
        if (n[k] > INT_MAX)
            return device->library_failed(device, DCPY_MISUSED, "matrices of solvers have less than 2**31 rows and columns");
    const bool is_empty = n[1] == 0 || n[2] == 0;  // not a case that all libraries know
    if (function == DCPY_GETRF && is_empty) return device->fill(device, p[2], 0, sizeof(int));
    if (function == DCPY_POTRF && n[2] == 0) return device->fill(device, p[1], 0, sizeof(int));
    if (function == DCPY_GETRS && (n[2] == 0 || n[3] == 0)) return DCPY_DONE;
    const std::string name = solver_name(calls, type, stem), asked = name + "_bufferSize";
    void *const entry = calls.solver.find(name), *const size = calls.solver.find(asked);
    if (!entry || (!size && function != DCPY_GETRS)) return calls.lacks(device, entry ? asked : name);
    int elements = 0, status = 0;
    if (function == DCPY_POTRF)
        status = as<int (*)(Handle, int, int, void *, int, int *)>(size)(on->solver, calls.words.halves[n[1]], int(n[2]),
                                                                        p[0], int(n[3]), &elements);
    else if (function == DCPY_GETRF)
        status = as<int (*)(Handle, int, int, void *, int, int *)>(size)(on->solver, int(n[1]), int(n[2]), p[0],
                                                                        int(n[3]), &elements);
    if (const int32_t failed = calls.answer(device, calls.solver, asked, status)) return failed;
    if (const int32_t failed = calls.room(device, *on, int64_t(elements) * item_size(type))) return failed;
    if (function == DCPY_POTRF)
        status = as<int (*)(Handle, int, int, void *, int, void *, int, void *)>(entry)(
            on->solver, calls.words.halves[n[1]], int(n[2]), p[0], int(n[3]), on->space, elements, p[1]);
    else if (function == DCPY_GETRF)
        status = as<int (*)(Handle, int, int, void *, int, void *, void *, void *)>(entry)(
            on->solver, int(n[1]), int(n[2]), p[0], int(n[3]), on->space, p[1], p[2]);
    else {
        // It may only say that its parameters are wrong, which ours are not; it needs a place to say so.
        if (const int32_t failed = calls.room(device, *on, sizeof(int))) return failed;
        status = as<int (*)(Handle, int, int, int, const void *, int, const void *, void *, int, void *)>(entry)(
            on->solver, calls.words.operations[n[1]], int(n[2]), int(n[3]), p[0], int(n[4]), p[1], p[2], int(n[5]),
            on->space);
    }
    return calls.answer(device, calls.solver, name, status);
}

void close_solver(Calls &calls, OnQueue &on)
{
    if (!on.solver) return;
    void *const entry = calls.solver.find(std::string(calls.words.solver) + "Destroy");
    if (entry) as<int (*)(Handle)>(entry)(on.solver);
    on.solver = nullptr;
}

}  // namespace dcpy
