// Programs on boards with FPGAs, or on their emulator, through OpenCL: its library is opened at run time.
//
// A program is loaded once in a process. Each kernel has a queue of its own, for all of a network run at the same time;
// consumers start first. Arrays of the device stay from call to call. Kernels that do not end are an error after a time:
// the board cannot be asked who waits for whom, but which kernels have not ended.
#pragma once

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

namespace dcpy_board {

/// What is called of OpenCL 1.2: the name, the result, and the parameters. Handles are pointers, enumerations numbers.
#define DCPY_OPENCL(X)                                                                                              \
    X(clGetPlatformIDs, int32_t, (uint32_t, void **, uint32_t *))                                                   \
    X(clGetDeviceIDs, int32_t, (void *, uint64_t, uint32_t, void **, uint32_t *))                                   \
    X(clCreateContext, void *, (const intptr_t *, uint32_t, void *const *, void *, void *, int32_t *))              \
    X(clCreateCommandQueue, void *, (void *, void *, uint64_t, int32_t *))                                          \
    X(clCreateProgramWithSource, void *, (void *, uint32_t, const char **, const size_t *, int32_t *))              \
    X(clCreateProgramWithBinary, void *,                                                                            \
      (void *, uint32_t, void *const *, const size_t *, const unsigned char **, int32_t *, int32_t *))              \
    X(clBuildProgram, int32_t, (void *, uint32_t, void *const *, const char *, void *, void *))                     \
    X(clGetProgramBuildInfo, int32_t, (void *, void *, uint32_t, size_t, void *, size_t *))                         \
    X(clCreateKernel, void *, (void *, const char *, int32_t *))                                                    \
    X(clGetKernelInfo, int32_t, (void *, uint32_t, size_t, void *, size_t *))                                       \
    X(clSetKernelArg, int32_t, (void *, uint32_t, size_t, const void *))                                            \
    X(clCreateBuffer, void *, (void *, uint64_t, size_t, void *, int32_t *))                                        \
    X(clReleaseMemObject, int32_t, (void *))                                                                        \
    X(clEnqueueWriteBuffer, int32_t,                                                                                \
      (void *, void *, uint32_t, size_t, size_t, const void *, uint32_t, void *const *, void **))                   \
    X(clEnqueueReadBuffer, int32_t,                                                                                 \
      (void *, void *, uint32_t, size_t, size_t, void *, uint32_t, void *const *, void **))                         \
    X(clEnqueueTask, int32_t, (void *, void *, uint32_t, void *const *, void **))                                   \
    X(clGetEventInfo, int32_t, (void *, uint32_t, size_t, void *, size_t *))                                        \
    X(clReleaseEvent, int32_t, (void *))                                                                            \
    X(clFlush, int32_t, (void *))                                                                                   \
    X(clFinish, int32_t, (void *))

struct opencl {
#define DCPY_MEMBER(name, result, parameters) result(*name) parameters;
    DCPY_OPENCL(DCPY_MEMBER)
#undef DCPY_MEMBER
};

constexpr uint64_t ACCELERATOR = 1 << 3, READ_WRITE = 1;
constexpr uint32_t BUILD_LOG = 0x1183, NUM_ARGS = 0x1191, EXECUTION_STATUS = 0x11D3;

/// One kernel of a program. `check`: the number of the check that says that it has not ended; 0: it never ends.
struct kernel {
    const char *name;
    uint32_t arguments;
    bool starts;  // by itself, but in the emulator
    int32_t check;
    void *handle = nullptr, *queue = nullptr, *event = nullptr;
};

/// An array of the device, as large as its largest call has needed.
struct memory {
    void *handle = nullptr;
    size_t size = 0;
};

/// What a program is made of, and what has become of it.
struct program {
    const char *text;  // the source of its kernels, for an emulator
    kernel *kernels;
    int64_t count;
    memory *memories;
    int32_t refused;  // the number of the check that says that OpenCL has refused something
    bool emulated = false;
    bool hangs = false;     // kernels of an earlier call have not ended: no other can be told from them
    int64_t seconds = 60;  // that a network may run
    opencl api = {};
    void *context = nullptr, *device = nullptr, *transfers = nullptr;
    int32_t status = 0;  // of the last call: the number of a check
    int64_t values[4] = {};
};

inline int32_t say(char *message, int64_t room, const char *form, const char *first = "", const char *second = "")
{
    snprintf(message, size_t(room), form, first, second);
    return 1;
}

/// Opens the library, and looks up what is called of it.
inline int32_t open_library(program &of, const char *library, char *message, int64_t room)
{
    void *opened = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!opened) return say(message, room, "the OpenCL library cannot be opened: %s", dlerror());
#define DCPY_FIND(name, result, parameters)                                                                 \
    of.api.name = reinterpret_cast<result(*) parameters>(dlsym(opened, #name));                             \
    if (!of.api.name) return say(message, room, "the OpenCL library %s lacks %s", library, #name);
    DCPY_OPENCL(DCPY_FIND)
#undef DCPY_FIND
    return 0;
}

/// The first device that is an accelerator, of any platform.
inline int32_t find_device(program &of, const char *library, char *message, int64_t room)
{
    void *platforms[16];
    uint32_t found = 0;
    if (of.api.clGetPlatformIDs(16, platforms, &found)) found = 0;
    for (uint32_t k = 0; k < found && k < 16 && !of.device; ++k) {
        uint32_t devices = 0;
        if (of.api.clGetDeviceIDs(platforms[k], ACCELERATOR, 1, &of.device, &devices) || !devices) of.device = nullptr;
    }
    if (!of.device) return say(message, room, "no board with an FPGA is found by %s", library);
    int32_t error = 0;
    of.context = of.api.clCreateContext(nullptr, 1, &of.device, nullptr, nullptr, &error);
    if (error) return say(message, room, "the board found by %s cannot be opened", library);
    of.transfers = of.api.clCreateCommandQueue(of.context, of.device, 0, &error);
    return error ? say(message, room, "the board found by %s has no queue", library) : 0;
}

/// The contents of a file, to be freed; null where it cannot be read.
inline unsigned char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (!file) return nullptr;
    fseek(file, 0, SEEK_END);
    const long length = ftell(file);
    rewind(file);
    unsigned char *found = length < 0 ? nullptr : static_cast<unsigned char *>(malloc(size_t(length) + 1));
    *size = found ? fread(found, 1, size_t(length), file) : 0;
    fclose(file);
    return found;
}

/// Builds the text, or loads a bitstream, which must have all kernels, each with its arguments.
inline int32_t load(program &of, const char *bitstream, char *message, int64_t room)
{
    int32_t error = 0, status = 0;
    void *loaded = nullptr;
    if (*bitstream) {
        size_t size = 0;
        unsigned char *const bytes = contents(bitstream, &size);
        if (!bytes) return say(message, room, "the bitstream %s cannot be read", bitstream);
        const unsigned char *given = bytes;
        loaded = of.api.clCreateProgramWithBinary(of.context, 1, &of.device, &size, &given, &status, &error);
        free(bytes);
        if (error || status) return say(message, room, "%s is no bitstream for this board", bitstream);
    } else {
        loaded = of.api.clCreateProgramWithSource(of.context, 1, &of.text, nullptr, &error);
        if (error) return say(message, room, "the program is not taken as source");
    }
    const char *flags = of.emulated ? "-DDCPY_EMULATION -cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt" : "";
    if (of.api.clBuildProgram(loaded, 1, &of.device, flags, nullptr, nullptr)) {
        size_t length = 0;
        of.api.clGetProgramBuildInfo(loaded, of.device, BUILD_LOG, 0, nullptr, &length);
        char *const log = static_cast<char *>(calloc(length + 1, 1));
        if (log) of.api.clGetProgramBuildInfo(loaded, of.device, BUILD_LOG, length, log, nullptr);
        say(message, room, "the program cannot be built: %s", log ? log : "no memory is left for its log");
        free(log);
        return 1;
    }
    for (int64_t k = 0; k < of.count; ++k) {
        kernel &one = of.kernels[k];
        one.handle = of.api.clCreateKernel(loaded, one.name, &error);
        uint32_t arguments = 0;
        if (!error) of.api.clGetKernelInfo(one.handle, NUM_ARGS, sizeof arguments, &arguments, nullptr);
        if (error || arguments != one.arguments)
            return say(message, room, "the bitstream %s is that of another program: it has no kernel %s like ours",
                       bitstream, one.name);
        one.queue = of.api.clCreateCommandQueue(of.context, of.device, 0, &error);
        if (error) return say(message, room, "there is no queue for the kernel %s", one.name);
    }
    return 0;
}

/// Opens the board for a program; 0, or 1 and a message. An empty `bitstream`: its text is built, for an emulator.
inline int32_t open(program &of, const char *library, const char *bitstream, int64_t seconds, char *message,
                    int64_t room)
{
    if (of.context) return 0;
    of.emulated = !*bitstream;
    of.seconds = seconds;
    if (of.emulated) setenv("CL_CONFIG_CHANNEL_DEPTH_EMULATION_MODE", "strict", 0);
    if (open_library(of, library, message, room) || find_device(of, library, message, room)) return 1;
    const int32_t failed = load(of, bitstream, message, room);
    if (failed) of.context = nullptr;
    return failed;
}

/// One call of a network: its arrays go to the board, its kernels run, and what they have written comes back.
struct call {
    program &of;
    kernel *first;
    int64_t count;

    call(program &owner, int64_t first_kernel, int64_t kernels)
        : of(owner), first(owner.kernels + first_kernel), count(kernels)
    {
        if (!of.hangs) of.status = 0;
    }

    void expect(int32_t error)
    {
        if (!error || of.status) return;
        of.status = of.refused;
        of.values[0] = error;
    }

    /// The array of the device in a slot, with the host's values in it.
    void *array(int64_t slot, const void *host, size_t size)
    {
        memory &one = of.memories[slot];
        int32_t error = 0;
        if (!one.handle || one.size < size) {
            if (one.handle) of.api.clReleaseMemObject(one.handle);
            one.size = size ? size : 1;
            one.handle = of.api.clCreateBuffer(of.context, READ_WRITE, one.size, nullptr, &error);
            if (error) one.handle = nullptr;
            expect(error);
        }
        if (size && !of.status)
            expect(of.api.clEnqueueWriteBuffer(of.transfers, one.handle, 1, 0, size, host, 0, nullptr, nullptr));
        return one.handle;
    }

    void back(int64_t slot, void *host, size_t size)
    {
        if (size && !of.status)
            expect(of.api.clEnqueueReadBuffer(of.transfers, of.memories[slot].handle, 1, 0, size, host, 0, nullptr,
                                              nullptr));
    }

    template <class T> void argument(int64_t of_kernel, uint32_t position, const T &value)
    {
        if (!of.status) expect(of.api.clSetKernelArg(first[of_kernel].handle, position, sizeof value, &value));
    }

    /// Starts all kernels, consumers first, and waits for them; what has not ended in time is a failed check.
    void run()
    {
        if (!of.status) expect(of.api.clFinish(of.transfers));
        for (int64_t k = count - 1; k >= 0 && !of.status; --k) {
            kernel &one = first[k];
            if (one.starts && !of.emulated) continue;
            expect(of.api.clEnqueueTask(one.queue, one.handle, 0, nullptr, &one.event));
            if (!of.status) expect(of.api.clFlush(one.queue));
        }
        struct timespec start, now, pause = {0, 20000};
        clock_gettime(CLOCK_MONOTONIC, &start);
        for (int64_t k = 0; k < count; ++k) {
            kernel &one = first[k];
            while (one.event && !ended(one)) {
                clock_gettime(CLOCK_MONOTONIC, &now);
                if (now.tv_sec - start.tv_sec > of.seconds || of.status) {
                    if (!of.status) {
                        of.status = one.check;
                        of.values[0] = of.seconds;
                        of.hangs = true;
                    }
                    break;
                }
                nanosleep(&pause, nullptr);
                if (pause.tv_nsec < 1000000) pause.tv_nsec *= 2;
            }
            if (!one.event) continue;
            of.api.clReleaseEvent(one.event);
            one.event = nullptr;
            if (!of.status) expect(of.api.clFinish(one.queue));
        }
    }

    /// Whether a kernel has come to its end; an error of it is one of OpenCL.
    bool ended(kernel &one)
    {
        int32_t state = 0;
        expect(of.api.clGetEventInfo(one.event, EXECUTION_STATUS, sizeof state, &state, nullptr));
        if (state < 0) expect(state);
        return state <= 0;
    }
};

/// The check that the last call failed, or 0.
inline int32_t failed(program &of, int64_t *values)
{
    memcpy(values, of.values, sizeof of.values);
    return of.status;
}

}  // namespace dcpy_board
