// Opens libraries, sends each call to its part, and says what did not work.

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "calls.h"

namespace dcpy {

bool Library::open(const char *path, std::string &problem)
{
    handle_ = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle_) problem = dlerror();
    return handle_ != nullptr;
}

void *Library::find(const std::string &name)
{
    const auto known = found_.find(name);
    if (known != found_.end()) return known->second;
    return found_[name] = handle_ ? dlsym(handle_, name.c_str()) : nullptr;
}

std::string Library::why()
{
    void *const entry = find("dcpy_why");
    return entry ? std::string(": ") + as<const char *(*)()>(entry)() : "";
}

int32_t Calls::queue(dcpy_device *device, void **stream, OnQueue **found)
{
    if (const int32_t status = device->library_stream(device, stream)) return status;
    *found = &queues[*stream];
    return DCPY_DONE;
}

int32_t Calls::room(dcpy_device *device, OnQueue &on, int64_t bytes)
{
    if (bytes <= on.space_bytes) return DCPY_DONE;
    if (on.space) {
        if (const int32_t status = device->wait(device)) return status;  // for the calls that use it
        if (const int32_t status = device->give(device, on.space, device->own_stream(device))) return status;
    }
    on.space = nullptr;
    on.space_bytes = 0;
    if (const int32_t status = device->take(device, bytes, device->own_stream(device), &on.space)) return status;
    if (const int32_t status = device->wait(device)) return status;  // it is there, whatever the stream
    on.space_bytes = bytes;
    return DCPY_DONE;
}

int32_t Calls::answer(dcpy_device *device, Library &library, const std::string &function, int status)
{
    if (status == 0) return DCPY_DONE;
    const std::string text = function + " answers with status " + std::to_string(status) + library.why();
    const bool is_memory = status == (words.is_hip || &library != &blas ? 2 : 3);
    return device->library_failed(device, is_memory ? DCPY_OUT_OF_MEMORY : DCPY_MISUSED, text.c_str());
}

int32_t Calls::lacks(dcpy_device *device, const std::string &function)
{
    const std::string text = "the installed library is too old: it has no " + function;
    return device->library_failed(device, DCPY_MISUSED, text.c_str());
}

namespace {

int32_t call(dcpy_libraries *self, dcpy_device *device, int32_t function, const int64_t *numbers, const double *factors,
             void *const *places)
{
    Calls &calls = *static_cast<Calls *>(self);
    switch (function) {
    case DCPY_POTRF:
    case DCPY_GETRF:
    case DCPY_GETRS: return call_solver(calls, device, function, numbers, places);
    case DCPY_GEQRF:
    case DCPY_ORGQR:
    case DCPY_SYEVD:
    case DCPY_GESVD: return call_decomposition(calls, device, function, numbers, places);
    case DCPY_FFT: return call_fft(calls, device, numbers, places);
    default: return call_blas(calls, device, function, numbers, factors, places);
    }
}

void close(dcpy_libraries *self, dcpy_device *device)
{
    Calls *const calls = static_cast<Calls *>(self);
    device->wait(device);
    for (auto &[stream, on] : calls->queues) {
        close_fft(*calls, on);
        close_solver(*calls, on);
        close_blas(*calls, on);
        for (void *space : {on.blas_space, on.space})
            if (space) device->give(device, space, device->own_stream(device));
    }
    device->libraries = nullptr;
    delete calls;
}

}  // namespace
}  // namespace dcpy

using namespace dcpy;

// Gives a device libraries, whose files these are (empty: not needed); whether they could be opened. `services` are
// for simulated ones.
extern "C" __attribute__((visibility("default"))) int32_t dcpy_open_libraries(
    dcpy_device *device, const char *backend, const char *blas, const char *solver, const char *fft, int64_t blas_bytes,
    const void *services, char *failure, int32_t size)
{
    Calls *const calls = new Calls{};
    calls->words = std::strcmp(backend, "hip") == 0 ? HIP : CUDA;
    calls->blas_bytes = blas_bytes;
    calls->call = call;
    calls->close = close;
    std::string problem;
    const std::pair<Library *, const char *> wanted[] = {
        {&calls->blas, blas}, {&calls->solver, solver}, {&calls->fft, fft}};
    for (const auto &[library, path] : wanted) {
        if (!*path) continue;
        if (!library->open(path, problem)) {
            std::snprintf(failure, (size_t)size, "%s", problem.c_str());
            delete calls;
            return 0;
        }
        if (services) as<void (*)(const void *)>(library->find("dcpy_simulate"))(services);
    }
    device->libraries = calls;
    return 1;
}
