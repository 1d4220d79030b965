// CUDA's driver: libcuda.so.1, opened when it is needed; nothing of CUDA is there when dcpy is built.

#include <dlfcn.h>

#include <cstdio>

#include "driver.h"

namespace dcpy {

namespace {

enum Own { RETAIN, SET_CURRENT, SET_ATTRIBUTE, COPY_2D, ERROR_TEXT };

constexpr int API = 11030;  // the version whose functions are asked for: the first with cuGetProcAddress

template <class Function>
Function own(const Driver &driver, Own which)
{
    return (Function)driver.entries[which];
}

// An own table of kernels and pointers would not mix with other libraries': the primary context is everybody's.
Code make_current(const Driver &driver, int device, void **context)
{
    if (!*context)
        if (const Code code = own<Code (*)(void **, int)>(driver, RETAIN)(context, device)) return code;
    return own<Code (*)(void *)>(driver, SET_CURRENT)(*context);
}

Code architecture(const Driver &driver, int device, char *text, size_t size)
{
    constexpr int major_number = 75, minor_number = 76;
    int major = 0, minor = 0;
    if (const Code code = driver.attribute(&major, major_number, device)) return code;
    if (const Code code = driver.attribute(&minor, minor_number, device)) return code;
    std::snprintf(text, size, "sm_%d%d", major, minor);
    return 0;
}

Code allow_shared(const Driver &driver, void *function, int bytes)
{
    constexpr int max_dynamic_shared = 8;
    return own<Code (*)(void *, int, int)>(driver, SET_ATTRIBUTE)(function, max_dynamic_shared, bytes);
}

// One side of the driver's description of a copy of rows.
struct Side {
    size_t x, y;
    int kind;
    const void *host;
    const void *device;
    void *array;
    size_t pitch;
};

struct Rows {
    Side from, to;
    size_t width, height;
};

Code copy_2d(const Driver &driver, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
             size_t height, void *stream)
{
    constexpr int on_device = 2;
    const Rows rows = {{0, 0, on_device, nullptr, from, nullptr, from_pitch},
                       {0, 0, on_device, nullptr, to, nullptr, to_pitch},
                       width,
                       height};
    return own<Code (*)(const Rows *, void *)>(driver, COPY_2D)(&rows, stream);
}

const char *text(const Driver &driver, Code code)
{
    const char *found = nullptr;
    own<Code (*)(Code, const char **)>(driver, ERROR_TEXT)(code, &found);
    return found ? found : "unknown error";
}

// cuGetProcAddress: a name without suffix is the function of a given version, whatever the library calls it.
class Finder {
  public:
    explicit Finder(void *library)
    {
        find_ = (Find)dlsym(library, "cuGetProcAddress");
        find_and_tell_ = (FindAndTell)dlsym(library, "cuGetProcAddress_v2");
    }

    bool exists() const { return find_ || find_and_tell_; }

    void *operator()(const char *name) const
    {
        void *found = nullptr;
        int status = 0;
        const Code code = find_and_tell_ ? find_and_tell_(name, &found, API, 0, &status) : find_(name, &found, API, 0);
        return code == 0 ? found : nullptr;
    }

  private:
    using Find = Code (*)(const char *, void **, int, uint64_t);
    using FindAndTell = Code (*)(const char *, void **, int, uint64_t, int *);
    Find find_;
    FindAndTell find_and_tell_;
};

}  // namespace

std::string open_cuda(const char *path, Driver &driver)
{
    void *const library = dlopen(*path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return dlerror();
    const Finder find(library);
    if (!find.exists()) return "the driver is too old: CUDA 11.3 or later is needed";
    driver.api = "CUDA";
    driver.numbers = {10, 16, 97, 38, 115, 39};
    std::string missing;
    auto need = [&](const char *name) {
        void *const found = find(name);
        if (!found && missing.empty()) missing = std::string("the driver is too old: it has no ") + name;
        return found;
    };
#define DCPY_FIND(meaning, arguments, cuda, hip) driver.meaning = (Code(*) arguments)need(cuda);
#define DCPY_TRY(meaning, arguments, cuda, hip) driver.meaning = (Code(*) arguments)find(cuda);
    DCPY_NEEDED(DCPY_FIND)
    DCPY_POOLS(DCPY_TRY)
    DCPY_GRAPHS(DCPY_TRY)
    DCPY_POINTERS(DCPY_TRY)
    driver.entries[RETAIN] = need("cuDevicePrimaryCtxRetain");
    driver.entries[SET_CURRENT] = need("cuCtxSetCurrent");
    driver.entries[SET_ATTRIBUTE] = need("cuFuncSetAttribute");
    driver.entries[COPY_2D] = need("cuMemcpy2DAsync");
    driver.entries[ERROR_TEXT] = need("cuGetErrorString");
    driver.make_current = make_current;
    driver.architecture = architecture;
    driver.allow_shared = allow_shared;
    driver.copy_2d = copy_2d;
    driver.text = text;
    return missing;
}

}  // namespace dcpy
