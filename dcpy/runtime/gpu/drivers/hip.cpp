// HIP's run-time library, libamdhip64.so, in the same way: where its functions differ from CUDA's driver is here.

#include <dlfcn.h>

#include <cstring>

#include "driver.h"

namespace dcpy {

namespace {

enum Own { SET_DEVICE, PROPERTIES, COPY_2D, ERROR_TEXT };

template <class Function>
Function own(const Driver &driver, Own which)
{
    return (Function)driver.entries[which];
}

// HIP keeps a device for each thread, and its context itself.
Code make_current(const Driver &driver, int device, void **context)
{
    *context = driver.entries[SET_DEVICE];
    return own<Code (*)(int)>(driver, SET_DEVICE)(device);
}

// The struct of properties has grown with versions, in front of the name of the chip, too: that is looked for.
Code architecture(const Driver &driver, int device, char *text, size_t size)
{
    constexpr size_t more_than_any_version = 16384;
    std::vector<char> properties(more_than_any_version);
    if (const Code code = own<Code (*)(void *, int)>(driver, PROPERTIES)(properties.data(), device)) return code;
    for (size_t i = 0; i + 3 < properties.size(); ++i) {
        if (std::memcmp(&properties[i], "gfx", 3) != 0) continue;
        const size_t length = std::strcspn(&properties[i], ":");  // gfx90a:sramecc+:xnack-
        const size_t kept = length < size ? length : size - 1;
        std::memcpy(text, &properties[i], kept);
        text[kept] = 0;
        return 0;
    }
    return INVALID_DEVICE;
}

Code allow_shared(const Driver &, void *, int) { return 0; }  // all of it is free to all

Code copy_2d(const Driver &driver, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
             size_t height, void *stream)
{
    constexpr int within_device = 3;
    using Copy = Code (*)(void *, size_t, const void *, size_t, size_t, size_t, int, void *);
    return own<Copy>(driver, COPY_2D)(to, to_pitch, from, from_pitch, width, height, within_device, stream);
}

const char *text(const Driver &driver, Code code)
{
    const char *const found = own<const char *(*)(Code)>(driver, ERROR_TEXT)(code);
    return found ? found : "unknown error";
}

void *open_library(const char *path)
{
    if (*path) return dlopen(path, RTLD_NOW | RTLD_LOCAL);
    for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so"})
        if (void *const library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    return nullptr;
}

}  // namespace

std::string open_hip(const char *path, Driver &driver)
{
    void *const library = open_library(path);
    if (!library) return dlerror();
    driver.api = "HIP";
    driver.numbers = {87, 63, 74, 19, 88, 57};
    std::string missing;
    auto need = [&](const char *name) {
        void *const found = dlsym(library, name);
        if (!found && missing.empty()) missing = std::string("the driver is too old: it has no ") + name;
        return found;
    };
#define DCPY_FIND(meaning, arguments, cuda, hip) driver.meaning = (Code(*) arguments)need(hip);
#define DCPY_TRY(meaning, arguments, cuda, hip) driver.meaning = (Code(*) arguments)dlsym(library, hip);
    DCPY_NEEDED(DCPY_FIND)
    DCPY_POOLS(DCPY_TRY)
    DCPY_GRAPHS(DCPY_TRY)
    DCPY_POINTERS(DCPY_TRY)
    void *const newer = dlsym(library, "hipGetDevicePropertiesR0600");
    driver.entries[SET_DEVICE] = need("hipSetDevice");
    driver.entries[PROPERTIES] = newer ? newer : need("hipGetDeviceProperties");
    driver.entries[COPY_2D] = need("hipMemcpy2DAsync");
    driver.entries[ERROR_TEXT] = need("hipGetErrorString");
    driver.make_current = make_current;
    driver.architecture = architecture;
    driver.allow_shared = allow_shared;
    driver.copy_2d = copy_2d;
    driver.text = text;
    return missing;
}

}  // namespace dcpy
