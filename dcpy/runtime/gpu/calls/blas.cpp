// Products. Sizes beyond 31 bits take the functions that count in 64, which libraries have since CUDA 12.
//
// What a handle is told, once per queue: the queue; memory to work in, which a change of the queue would take away; that
// factors are the host's; that float32 is not computed in TF32, and sums are not taken by atomic updates.

#include <climits>

#include "calls.h"

namespace dcpy {

namespace {

constexpr int ON_HOST = 0, ON_DEVICE = 1;

// Two numbers as an element of a type.
struct Factor {
    alignas(16) char bytes[16];

    Factor(int64_t type, const double *parts)
    {
        const bool single = type == 's' || type == 'c';
        for (int k = 0; k < 2; ++k) {
            if (single) ((float *)bytes)[k] = (float)parts[k];
            else ((double *)bytes)[k] = parts[k];
        }
    }
};

std::string function_name(const Calls &calls, int64_t type, const char *stem, bool is_wide)
{
    const bool has_version = !calls.words.is_hip && std::string(stem) != "gemmStridedBatched";
    return std::string(calls.words.blas) + upper(type) + stem + (has_version ? "_v2" : "") + (is_wide ? "_64" : "");
}

int32_t set_up(Calls &calls, dcpy_device *device, OnQueue &on, void *stream)
{
    const std::string prefix = calls.words.blas, version = calls.words.is_hip ? "" : "_v2";
    auto told = [&](const std::string &name, auto function, auto... args) {
        void *const entry = calls.blas.find(name);
        return entry ? calls.answer(device, calls.blas, name, as<decltype(function)>(entry)(args...)) : DCPY_DONE;
    };
    const std::string create = prefix + "Create" + version;
    void *const entry = calls.blas.find(create);
    if (!entry) return calls.lacks(device, create);
    if (const int32_t status = device->take(device, calls.blas_bytes, device->own_stream(device), &on.blas_space)) return status;
    if (const int32_t status = device->wait(device)) return status;  // it is there, whatever the stream
    int32_t status = calls.answer(device, calls.blas, create, as<int (*)(Handle *)>(entry)(&on.blas));
    using Number = int (*)(Handle, int);
    using Place = int (*)(Handle, void *);
    using Room = int (*)(Handle, void *, size_t);
    if (!status) status = told(prefix + "SetStream" + version, Place(), on.blas, stream);
    if (!status) status = told(prefix + "SetWorkspace" + version, Room(), on.blas, on.blas_space, size_t(calls.blas_bytes));
    if (!status) status = told(prefix + "SetPointerMode" + version, Number(), on.blas, ON_HOST);
    if (!status) status = told(prefix + "SetMathMode", Number(), on.blas, 0);
    if (!status) status = told(prefix + "SetAtomicsMode", Number(), on.blas, 0);
    return status;
}

template <class I>
int invoke(const Words &w, void *f, Handle h, int32_t function, const int64_t *n, const void *alpha, const void *beta,
           void *const *p)
{
    using P = const void *;
    auto op = [&](int64_t which) { return w.operations[which]; };
    switch (function) {
    case DCPY_GEMM:
        return as<int (*)(Handle, int, int, I, I, I, P, P, I, P, I, P, void *, I)>(f)(
            h, op(n[1]), op(n[2]), I(n[3]), I(n[4]), I(n[5]), alpha, p[0], I(n[6]), p[1], I(n[7]), beta, p[2], I(n[8]));
    case DCPY_GEMM_BATCHED:
        return as<int (*)(Handle, int, int, I, I, I, P, P, I, long long, P, I, long long, P, void *, I, long long, I)>(f)(
            h, op(n[1]), op(n[2]), I(n[3]), I(n[4]), I(n[5]), alpha, p[0], I(n[6]), n[9], p[1], I(n[7]), n[10], beta, p[2],
            I(n[8]), n[11], I(n[12]));
    case DCPY_SYRK:
        return as<int (*)(Handle, int, int, I, I, P, P, I, P, void *, I)>(f)(
            h, w.halves[n[1]], op(n[2]), I(n[3]), I(n[4]), alpha, p[0], I(n[5]), beta, p[1], I(n[6]));
    case DCPY_TRSM:
        return as<int (*)(Handle, int, int, int, int, I, I, P, P, I, void *, I)>(f)(
            h, w.sides[n[1]], w.halves[n[2]], op(n[3]), w.diagonals[n[4]], I(n[5]), I(n[6]), alpha, p[0], I(n[7]), p[1],
            I(n[8]));
    case DCPY_GEMV:
        return as<int (*)(Handle, int, I, I, P, P, I, P, I, P, void *, I)>(f)(
            h, op(n[1]), I(n[2]), I(n[3]), alpha, p[0], I(n[4]), p[1], I(n[5]), beta, p[2], I(n[6]));
    case DCPY_GER:
        return as<int (*)(Handle, I, I, P, P, I, P, I, void *, I)>(f)(h, I(n[1]), I(n[2]), alpha, p[0], I(n[3]), p[1],
                                                                     I(n[4]), p[2], I(n[5]));
    default:
        return as<int (*)(Handle, I, P, I, P, I, void *)>(f)(h, I(n[1]), p[0], I(n[2]), p[1], I(n[3]), p[2]);
    }
}

struct Form {
    const char *real, *complex;
    int count;  // numbers of a call
};

constexpr Form FORMS[] = {
    {"gemm", "gemm", 9}, {"gemmStridedBatched", "gemmStridedBatched", 13}, {"syrk", "syrk", 7},
    {"trsm", "trsm", 9}, {"gemv", "gemv", 7}, {"ger", "geru", 6}, {"dot", "dotu", 4},
};

}  // namespace

int32_t call_blas(Calls &calls, dcpy_device *device, int32_t function, const int64_t *numbers, const double *factors,
                  void *const *places)
{
    void *stream;
    OnQueue *on;
    if (const int32_t status = calls.queue(device, &stream, &on)) return status;
    if (!on->blas)
        if (const int32_t status = set_up(calls, device, *on, stream)) return status;
    const Form &form = FORMS[function];
    const int64_t type = numbers[0];
    bool is_wide = false;
    for (int k = 1; k < form.count; ++k) is_wide = is_wide || (numbers[k] > INT_MAX && !(k > 8 && k < 12));
    const bool is_complex = type == 'c' || type == 'z';
    const std::string name = function_name(calls, type, is_complex ? form.complex : form.real, is_wide);
    void *const entry = calls.blas.find(name);
    if (!entry) return calls.lacks(device, name);
    const double none[2] = {0, 0};
    const Factor alpha(type, factors ? factors : none);
    const Factor beta(type, factors && function != DCPY_TRSM && function != DCPY_GER ? factors + 2 : none);
    const bool answers_there = function == DCPY_DOT;  // its result is left on the device
    const std::string mode = std::string(calls.words.blas) + "SetPointerMode" + (calls.words.is_hip ? "" : "_v2");
    const auto set_mode = as<int (*)(Handle, int)>(calls.blas.find(mode));
    if (answers_there && set_mode) set_mode(on->blas, ON_DEVICE);
    const int status = is_wide ? invoke<int64_t>(calls.words, entry, on->blas, function, numbers, alpha.bytes, beta.bytes, places)
                               : invoke<int>(calls.words, entry, on->blas, function, numbers, alpha.bytes, beta.bytes, places);
    if (answers_there && set_mode) set_mode(on->blas, ON_HOST);
    return calls.answer(device, calls.blas, name, status);
}

void close_blas(Calls &calls, OnQueue &on)
{
    if (!on.blas) return;
    const std::string name = std::string(calls.words.blas) + "Destroy" + (calls.words.is_hip ? "" : "_v2");
    if (void *const entry = calls.blas.find(name)) as<int (*)(Handle)>(entry)(on.blas);
    on.blas = nullptr;
}

}  // namespace dcpy
