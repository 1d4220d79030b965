// A driver without a device: what runtime/gpu/drivers calls of libcuda and of libamdhip64, on the memory of the host.
//
// It is as strict as drivers are loose. Commands run when somebody waits, and not before: a missing wait shows. Places of
// the device are numbers that the host cannot read. A command that touches what is not allocated breaks the context, as a
// kernel's would, at the wait after it. Machine code is taken for one chip only. Every call is written down.
//
// Tests turn it through fake_set, and read fake_get and fake_log. Kernels of a generated program run when fake_kernels has
// been given the same unit, compiled for the simulator.

#include "fake_device.h"

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT void fake_reset()
{
    numbers = DEFAULTS;
    log.clear();
    sticky = 0;
    memory.clear();
    for (Stream *stream : streams) {
        stream->commands.clear();
        stream->captured = nullptr;
    }
}

EXPORT void fake_kernels(const dcpy_unit *of_simulator) { units.push_back(of_simulator); }

EXPORT void fake_set(const char *name, int64_t number) { numbers[name] = number; }

EXPORT int64_t fake_get(const char *name)
{
    return std::strcmp(name, "live") == 0     ? live()
           : std::strcmp(name, "pinned") == 0 ? (int64_t)pinned.size()
                                              : numbers[name];
}

EXPORT const char *fake_log() { return log.c_str(); }

// --- what both drivers have, under two names each ---

#define BOTH(cuda, hip, parameters, arguments) \
    EXPORT int cuda parameters;                \
    EXPORT int hip parameters { return cuda arguments; }

BOTH(cuInit, hipInit, (unsigned flags), (flags))
EXPORT int cuInit(unsigned)
{
    if (numbers.empty()) fake_reset();
    ready = numbers["initialize"] == 0;
    return (int)numbers["initialize"];
}

BOTH(cuDriverGetVersion, hipDriverGetVersion, (int *number), (number))
EXPORT int cuDriverGetVersion(int *number)
{
    *number = (int)numbers["version"];
    return 0;
}

BOTH(cuDeviceGetCount, hipGetDeviceCount, (int *count), (count))
EXPORT int cuDeviceGetCount(int *count)
{
    *count = (int)numbers["devices"];
    return *count ? 0 : NO_DEVICE;
}

BOTH(cuDeviceGet, hipDeviceGet, (int *device, int ordinal), (device, ordinal))
EXPORT int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return 0;
}

BOTH(cuDeviceGetName, hipDeviceGetName, (char *text, int size, int device), (text, size, device))
EXPORT int cuDeviceGetName(char *text, int size, int)
{
    std::snprintf(text, (size_t)size, "No GPU at all");
    return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int which, int)
{
    switch (which) {
    case 10: *value = 32; break;
    case 16: *value = 132; break;
    case 75: *value = (int)numbers["arch"] / 10; break;
    case 76: *value = (int)numbers["arch"] % 10; break;
    case 97: *value = 232448; break;
    case 115: *value = (int)numbers["pools"]; break;
    default: *value = 0;
    }
    return 0;
}

EXPORT int hipDeviceGetAttribute(int *value, int which, int)
{
    *value = which == 87 ? 64 : which == 63 ? 110 : which == 74 ? 65536 : which == 88 ? (int)numbers["pools"] : 0;
    return 0;
}

BOTH(cuMemGetInfo, hipMemGetInfo, (size_t *free, size_t *total), (free, total))
EXPORT int cuMemGetInfo(size_t *free, size_t *total)
{
    *total = (size_t)numbers["total"];
    *free = *total - (size_t)(live() + numbers["in_pool"] + numbers["reserved"]);
    return sticky;
}

BOTH(cuModuleLoadData, hipModuleLoadData, (void **module, const void *image), (module, image))
EXPORT int cuModuleLoadData(void **module, const void *image)
{
    if (const int code = called("load")) return code;
    const bool is_cubin = std::memcmp(image, "\x7f" "ELF", 4) == 0;
    const std::string text(is_cubin ? std::string((const char *)image, 64) : std::string());
    if (is_cubin && arch_of(text) != numbers["arch"]) return NO_BINARY;
    *module = new Module{text};
    ++numbers["modules"];
    return 0;
}

BOTH(cuModuleUnload, hipModuleUnload, (void *module), (module))
EXPORT int cuModuleUnload(void *module)
{
    delete (Module *)module;
    --numbers["modules"];
    return called("unload");
}

BOTH(cuModuleGetFunction, hipModuleGetFunction, (void **function, void *module, const char *name), (function, module, name))
EXPORT int cuModuleGetFunction(void **function, void *, const char *name)
{
    if (std::strcmp(name, "absent") == 0) return NOT_FOUND;
    *function = new Function{name};
    return 0;
}

EXPORT int cuFuncSetAttribute(void *function, int which, int bytes)
{
    if (const int code = called("allow", ((Function *)function)->name + " " + std::to_string(bytes))) return code;
    return which == 8 && bytes <= 232448 ? 0 : INVALID_VALUE;
}

#define LAUNCH_PARAMETERS                                                                                        \
    (void *function, unsigned x, unsigned y, unsigned z, unsigned a, unsigned b, unsigned c, unsigned shared, \
     void *stream, void **args, void **extra)
BOTH(cuLaunchKernel, hipModuleLaunchKernel, LAUNCH_PARAMETERS, (function, x, y, z, a, b, c, shared, stream, args, extra))
EXPORT int cuLaunchKernel LAUNCH_PARAMETERS
{
    const std::string name = ((Function *)function)->name;
    char text[128];
    std::snprintf(text, sizeof text, "%s %u,%u,%u %u,%u,%u %u", name.c_str(), x, y, z, a, b, c, shared);
    if (const int code = called("launch", text)) return code;
    if (extra || x == 0 || y == 0 || z == 0 || a * b * c == 0) return INVALID_VALUE;
    if (a * b * c > numbers["max_threads"]) return 701;
    if (Graph *const captured = stream_of(stream)->captured) captured->kernels.push_back(name);
    std::vector<std::vector<char>> values;
    const dcpy_unit *unit = nullptr;
    if (const dcpy_kernel_row *const row = generated(name, unit)) {
        for (int32_t i = 0; i < row->parameters; ++i)
            values.emplace_back((char *)args[i], (char *)args[i] + row->sizes[i]);
        return queue(stream, [=] {
            const int64_t blocks[3] = {x, y, z};
            const int32_t threads[3] = {(int32_t)a, (int32_t)b, (int32_t)c};
            return run_generated(*unit, *row, blocks, threads, (int32_t)shared, values);
        });
    }
    for (size_t i = 0; i < parameters_of(name); ++i) values.emplace_back((char *)args[i], (char *)args[i] + 8);
    return queue(stream, [=] { return run_kernel(name, x, a, values); });
}

BOTH(cuStreamCreate, hipStreamCreateWithFlags, (void **stream, unsigned flags), (stream, flags))
EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
    if (const int code = called("stream")) return code;
    streams.push_back(new Stream);
    *stream = streams.back();
    ++numbers["streams"];
    return flags == 1 ? 0 : INVALID_VALUE;
}

BOTH(cuStreamDestroy, hipStreamDestroy, (void *stream), (stream))
EXPORT int cuStreamDestroy(void *)
{
    --numbers["streams"];
    return 0;
}

BOTH(cuStreamSynchronize, hipStreamSynchronize, (void *stream), (stream))
EXPORT int cuStreamSynchronize(void *stream)
{
    if (const int code = called("wait")) return code;
    if (stream_of(stream)->captured) return NOT_WHILE_CAPTURED;
    return run_until(stream_of(stream), nullptr, 0);
}

BOTH(cuStreamWaitEvent, hipStreamWaitEvent, (void *stream, void *event, unsigned flags), (stream, event, flags))
EXPORT int cuStreamWaitEvent(void *stream, void *event, unsigned)
{
    if (const int code = called("hold")) return code;
    Event *const one = (Event *)event;
    stream_of(stream)->commands.push_back({nullptr, one, one->recorded});
    return 0;
}

BOTH(cuEventCreate, hipEventCreateWithFlags, (void **event, unsigned flags), (event, flags))
EXPORT int cuEventCreate(void **event, unsigned)
{
    *event = new Event;
    ++numbers["events"];
    return called("event");
}

BOTH(cuEventDestroy, hipEventDestroy, (void *event), (event))
EXPORT int cuEventDestroy(void *)
{
    --numbers["events"];
    return 0;
}

BOTH(cuEventRecord, hipEventRecord, (void *event, void *stream), (event, stream))
EXPORT int cuEventRecord(void *event, void *stream)
{
    if (const int code = called("record")) return code;
    Event *const one = (Event *)event;
    const int64_t number = ++one->recorded;
    one->stream = stream_of(stream);
    return queue(stream, [=] {
        one->done = number;
        one->time = ++clock_;
        return 0;
    });
}

BOTH(cuEventSynchronize, hipEventSynchronize, (void *event), (event))
EXPORT int cuEventSynchronize(void *event)
{
    Event *const one = (Event *)event;
    if (one->done < one->recorded) run_until(one->stream, one, one->recorded);
    return sticky;
}

BOTH(cuEventElapsedTime, hipEventElapsedTime, (float *milliseconds, void *from, void *to), (milliseconds, from, to))
EXPORT int cuEventElapsedTime(float *milliseconds, void *from, void *to)
{
    *milliseconds = (float)(((Event *)to)->time - ((Event *)from)->time);
    return sticky;
}

BOTH(cuMemAlloc, hipMalloc, (void **place, size_t bytes), (place, bytes))
EXPORT int cuMemAlloc(void **place, size_t bytes)
{
    if (const int code = called("allocate", std::to_string(bytes))) return code;
    return is_capturing() ? (int)NOT_WHILE_CAPTURED : allocate(place, bytes);
}

BOTH(cuMemFree, hipFree, (void *place), (place))
EXPORT int cuMemFree(void *place)
{
    if (const int code = called("release")) return code;
    for (Stream *stream : streams) run_until(stream, nullptr, 0);  // it waits for the device
    return release(place);
}

BOTH(cuMemPoolCreate, hipMemPoolCreate, (void **pool, const void *properties), (pool, properties))
EXPORT int cuMemPoolCreate(void **pool, const void *properties)
{
    const int *const words = (const int *)properties;
    static int one;
    *pool = &one;
    return words[0] == 1 && words[2] == 1 ? called("pool") : INVALID_VALUE;
}

BOTH(cuMemPoolSetAttribute, hipMemPoolSetAttribute, (void *pool, int which, void *value), (pool, which, value))
EXPORT int cuMemPoolSetAttribute(void *, int which, void *value)
{
    return which == 4 && *(uint64_t *)value == UINT64_MAX ? 0 : INVALID_VALUE;
}

BOTH(cuMemPoolTrimTo, hipMemPoolTrimTo, (void *pool, size_t keep), (pool, keep))
EXPORT int cuMemPoolTrimTo(void *, size_t)
{
    ++numbers["trims"];
    numbers["in_pool"] = 0;
    return 0;
}

// What is released stays with the pool, until that is trimmed.
#define FROM_POOL (void **place, size_t bytes, void *pool, void *stream)
BOTH(cuMemAllocFromPoolAsync, hipMallocFromPoolAsync, FROM_POOL, (place, bytes, pool, stream))
EXPORT int cuMemAllocFromPoolAsync(void **place, size_t bytes, void *, void *)
{
    if (const int code = called("allocate", std::to_string(bytes))) return code;
    return allocate(place, bytes);
}

BOTH(cuMemFreeAsync, hipFreeAsync, (void *place, void *stream), (place, stream))
EXPORT int cuMemFreeAsync(void *place, void *stream)
{
    if (const int code = called("release")) return code;
    return queue(stream, [=] {
        char *const first = on_host(place, 1);
        if (!first) return (int)ILLEGAL_ADDRESS;
        numbers["in_pool"] += (int64_t)memory[(uint64_t)place].size();
        return release(place);
    });
}

BOTH(cuMemHostAlloc, hipHostMalloc, (void **place, size_t bytes, unsigned flags), (place, bytes, flags))
EXPORT int cuMemHostAlloc(void **place, size_t bytes, unsigned)
{
    if (const int code = called("pin", std::to_string(bytes))) return code;
    *place = new char[bytes];
    pinned[(char *)*place] = bytes;
    return 0;
}

BOTH(cuMemFreeHost, hipHostFree, (void *place), (place))
EXPORT int cuMemFreeHost(void *place)
{
    if (!pinned.erase((char *)place)) return INVALID_VALUE;
    delete[] (char *)place;
    return called("unpin");
}

#define COPY (void *to, const void *from, size_t bytes, void *stream)
BOTH(cuMemcpyHtoDAsync, hipMemcpyHtoDAsync, COPY, (to, from, bytes, stream))
EXPORT int cuMemcpyHtoDAsync COPY
{
    if (const int code = called("up", std::to_string(bytes))) return code;
    return queue(stream, [=] {
        char *const target = on_host(to, bytes);
        if (!target) return (int)ILLEGAL_ADDRESS;
        std::memcpy(target, from, bytes);
        return 0;
    });
}

BOTH(cuMemcpyDtoHAsync, hipMemcpyDtoHAsync, COPY, (to, from, bytes, stream))
EXPORT int cuMemcpyDtoHAsync COPY
{
    if (const int code = called("down", std::to_string(bytes))) return code;
    return queue(stream, [=] {
        const char *const source = on_host(from, bytes);
        if (!source) return (int)ILLEGAL_ADDRESS;
        std::memcpy(to, source, bytes);
        return 0;
    });
}

int copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, void *stream)
{
    char text[64];
    std::snprintf(text, sizeof text, "%zux%zu", width, height);
    if (const int code = called("rows", text)) return code;
    if (to_pitch < width || from_pitch < width) return INVALID_VALUE;
    if (height > 1 && std::max(to_pitch, from_pitch) > (size_t)numbers["pitch_limit"]) return INVALID_VALUE;
    return queue(stream, [=] {
        for (size_t i = 0; i < height; ++i) {
            char *const target = on_host((char *)to + i * to_pitch, width);
            const char *const source = on_host((const char *)from + i * from_pitch, width);
            if (!target || !source) return (int)ILLEGAL_ADDRESS;
            std::memmove(target, source, width);
        }
        return 0;
    });
}

BOTH(cuMemcpyDtoDAsync, hipMemcpyDtoDAsync, COPY, (to, from, bytes, stream))
EXPORT int cuMemcpyDtoDAsync COPY { return copy_rows(to, bytes, from, bytes, bytes, 1, stream); }

#define FILL (void *to, unsigned char byte, size_t bytes, void *stream)
BOTH(cuMemsetD8Async, hipMemsetD8Async, FILL, (to, byte, bytes, stream))
EXPORT int cuMemsetD8Async FILL
{
    if (const int code = called("fill", std::to_string(bytes))) return code;
    return queue(stream, [=] {
        char *const target = on_host(to, bytes);
        if (!target) return (int)ILLEGAL_ADDRESS;
        std::memset(target, byte, bytes);
        return 0;
    });
}

#include "fake_graphs.h"  // with the macros above

// --- what is CUDA's or HIP's alone ---

struct Side {
    size_t x, y;
    int kind;
    const void *host, *device;
    void *array;
    size_t pitch;
};

struct Rows {
    Side from, to;
    size_t width, height;
};

EXPORT int cuMemcpy2DAsync(const Rows *rows, void *stream)
{
    const Side &from = rows->from, &to = rows->to;
    if (from.kind != 2 || to.kind != 2 || from.x + from.y + to.x + to.y != 0) return INVALID_VALUE;
    return copy_rows((void *)to.device, to.pitch, from.device, from.pitch, rows->width, rows->height, stream);
}

EXPORT int hipMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                            int kind, void *stream)
{
    return kind == 3 ? copy_rows(to, to_pitch, from, from_pitch, width, height, stream) : (int)INVALID_VALUE;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    *context = (void *)(intptr_t)(device + 1);
    return called("retain");
}

EXPORT int cuCtxSetCurrent(void *context) { return context ? 0 : INVALID_VALUE; }

EXPORT int hipSetDevice(int) { return 0; }

EXPORT int hipGetDeviceProperties(void *properties, int)
{
    std::snprintf((char *)properties + 396, 64, "gfx90a:sramecc+:xnack-");
    return 0;
}

const char *words(int code)
{
    switch (code) {
    case INVALID_VALUE: return "invalid argument";
    case OUT_OF_MEMORY: return "out of memory";
    case NOT_INITIALIZED: return "initialization error";
    case NO_DEVICE: return "no device is detected";
    case NO_BINARY: return "no kernel image is available for execution on the device";
    case NOT_FOUND: return "named symbol not found";
    case ILLEGAL_ADDRESS: return "an illegal memory access was encountered";
    default: return "unspecified failure";
    }
}

EXPORT int cuGetErrorString(int code, const char **text)
{
    *text = words(code);
    return 0;
}

EXPORT const char *hipGetErrorString(int code) { return words(code); }

#ifndef WITHOUT_FINDER
EXPORT int cuGetProcAddress_v2(const char *name, void **found, int version, uint64_t flags, int *status)
{
    if (numbers.empty()) fake_reset();
    Dl_info here;
    dladdr((void *)&cuGetProcAddress_v2, &here);
    const bool hidden = numbers["hidden"] && std::strcmp(name, "cuMemcpy2DAsync") == 0;
    *found = hidden ? nullptr : dlsym(dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD), name);
    *status = *found ? 0 : 1;
    return *found && version == 11030 && flags == 0 ? 0 : NOT_FOUND;
}
#endif
