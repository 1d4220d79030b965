// The drivers of devices, CUDA's and HIP's, behind the table of codegen/include/dcpy_table.h. What the parts are:
//
//     driver.h              the entries of a driver that are used, by meaning; contexts; programs
//     cuda.cpp  hip.cpp     open libcuda.so.1 and libamdhip64.so, and find the entries by their names there
//     context.cpp           a device in this process: memory, pinned buffers, what is wrong with it
//     program.cpp           the table of one program: launches, queues, events, its error block
//     workspace.cpp         the memory that its calls take: a slab that stays between them
//     graphs.cpp            graphs of launches
//     streams.cpp           streams of the process, their order, and memory that outlives calls
//     copies.cpp            copies: through pinned buffers where host memory is pageable, and boxes with strides
//     profile.cpp           how long the kernels of a program take
//     measure.cpp           how long things take here, for `dcpy doctor --gpu`
//
// Both drivers have the same functions with the same arguments, but for names, a few numbers, and what `Driver` lists
// as functions of ours. Handles are pointers in both, and places of the device are numbers as wide as pointers.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "dcpy_table.h"

namespace dcpy {

using Code = int;  // what entries return: 0, or the number of an error (the same ones in CUDA and HIP)

constexpr Code OUT_OF_MEMORY = 2, NO_DEVICE = 100, INVALID_DEVICE = 101;

// meaning, type of its arguments, name in libcuda, name in libamdhip64. The first list must be there.
#define DCPY_NEEDED(ENTRY)                                                                                             \
    ENTRY(initialize, (unsigned flags), "cuInit", "hipInit")                                                           \
    ENTRY(version, (int *number), "cuDriverGetVersion", "hipDriverGetVersion")                                         \
    ENTRY(count, (int *devices), "cuDeviceGetCount", "hipGetDeviceCount")                                              \
    ENTRY(device, (int *device, int ordinal), "cuDeviceGet", "hipDeviceGet")                                           \
    ENTRY(name, (char *text, int size, int device), "cuDeviceGetName", "hipDeviceGetName")                             \
    ENTRY(attribute, (int *value, int which, int device), "cuDeviceGetAttribute", "hipDeviceGetAttribute")             \
    ENTRY(memory, (size_t *free, size_t *total), "cuMemGetInfo", "hipMemGetInfo")                                      \
    ENTRY(load, (void **module, const void *image), "cuModuleLoadData", "hipModuleLoadData")                           \
    ENTRY(unload, (void *module), "cuModuleUnload", "hipModuleUnload")                                                 \
    ENTRY(function, (void **function, void *module, const char *name), "cuModuleGetFunction", "hipModuleGetFunction")  \
    ENTRY(launch,                                                                                                      \
          (void *function, unsigned x, unsigned y, unsigned z, unsigned threads_x, unsigned threads_y,                 \
           unsigned threads_z, unsigned shared, void *stream, void **args, void **extra),                              \
          "cuLaunchKernel", "hipModuleLaunchKernel")                                                                   \
    ENTRY(make_stream, (void **stream, unsigned flags), "cuStreamCreate", "hipStreamCreateWithFlags")                  \
    ENTRY(drop_stream, (void *stream), "cuStreamDestroy", "hipStreamDestroy")                                          \
    ENTRY(wait_stream, (void *stream), "cuStreamSynchronize", "hipStreamSynchronize")                                  \
    ENTRY(hold_stream, (void *stream, void *event, unsigned flags), "cuStreamWaitEvent", "hipStreamWaitEvent")         \
    ENTRY(make_event, (void **event, unsigned flags), "cuEventCreate", "hipEventCreateWithFlags")                      \
    ENTRY(drop_event, (void *event), "cuEventDestroy", "hipEventDestroy")                                              \
    ENTRY(record_event, (void *event, void *stream), "cuEventRecord", "hipEventRecord")                                \
    ENTRY(wait_event, (void *event), "cuEventSynchronize", "hipEventSynchronize")                                      \
    ENTRY(elapsed, (float *milliseconds, void *from, void *to), "cuEventElapsedTime", "hipEventElapsedTime")           \
    ENTRY(allocate, (void **place, size_t bytes), "cuMemAlloc", "hipMalloc")                                           \
    ENTRY(release, (void *place), "cuMemFree", "hipFree")                                                              \
    ENTRY(pin, (void **place, size_t bytes, unsigned flags), "cuMemHostAlloc", "hipHostMalloc")                        \
    ENTRY(unpin, (void *place), "cuMemFreeHost", "hipHostFree")                                                        \
    ENTRY(to_device, (void *to, const void *from, size_t bytes, void *stream), "cuMemcpyHtoDAsync",                    \
          "hipMemcpyHtoDAsync")                                                                                        \
    ENTRY(to_host, (void *to, const void *from, size_t bytes, void *stream), "cuMemcpyDtoHAsync",                      \
          "hipMemcpyDtoHAsync")                                                                                        \
    ENTRY(within, (void *to, const void *from, size_t bytes, void *stream), "cuMemcpyDtoDAsync", "hipMemcpyDtoDAsync") \
    ENTRY(fill, (void *to, unsigned char byte, size_t bytes, void *stream), "cuMemsetD8Async", "hipMemsetD8Async")

// Memory in the order of a stream; where a driver or a device has none of it, memory is allocated at once.
#define DCPY_POOLS(ENTRY)                                                                                          \
    ENTRY(make_pool, (void **pool, const void *properties), "cuMemPoolCreate", "hipMemPoolCreate")                 \
    ENTRY(tune_pool, (void *pool, int which, void *value), "cuMemPoolSetAttribute", "hipMemPoolSetAttribute")      \
    ENTRY(trim_pool, (void *pool, size_t keep), "cuMemPoolTrimTo", "hipMemPoolTrimTo")                             \
    ENTRY(allocate_in, (void **place, size_t bytes, void *pool, void *stream), "cuMemAllocFromPoolAsync",          \
          "hipMallocFromPoolAsync")                                                                                \
    ENTRY(release_in, (void *place, void *stream), "cuMemFreeAsync", "hipFreeAsync")

// Graphs of launches; where a driver has none of it, there are no graphs.
#define DCPY_GRAPHS(ENTRY)                                                                                             \
    ENTRY(begin_capture, (void *stream, int mode), "cuStreamBeginCapture", "hipStreamBeginCapture")                    \
    ENTRY(end_capture, (void *stream, void **graph), "cuStreamEndCapture", "hipStreamEndCapture")                      \
    ENTRY(instantiate, (void **exec, void *graph, void **node, char *text, size_t size), "cuGraphInstantiate",         \
          "hipGraphInstantiate")                                                                                       \
    ENTRY(change_exec, (void *exec, void *graph, void **node, int *result), "cuGraphExecUpdate", "hipGraphExecUpdate") \
    ENTRY(launch_graph, (void *exec, void *stream), "cuGraphLaunch", "hipGraphLaunch")                                 \
    ENTRY(drop_graph, (void *graph), "cuGraphDestroy", "hipGraphDestroy")                                              \
    ENTRY(drop_exec, (void *exec), "cuGraphExecDestroy", "hipGraphExecDestroy")

#define DCPY_POINTERS(ENTRY) \
    ENTRY(about_pointer, (void *answer, int what, const void *place), "cuPointerGetAttribute", "hipPointerGetAttribute")

// Attributes of a device, by their numbers in each driver.
struct Attributes {
    int warp, processors, shared_per_block, l2, pools, threads_per_processor;
};

struct Driver {
    const char *api;  // "CUDA", "HIP": in messages
    Attributes numbers;
#define DCPY_POINTER(meaning, arguments, cuda, hip) Code (*meaning) arguments = nullptr;
    DCPY_NEEDED(DCPY_POINTER)
    DCPY_POOLS(DCPY_POINTER)
    DCPY_GRAPHS(DCPY_POINTER)
    DCPY_POINTERS(DCPY_POINTER)
#undef DCPY_POINTER
    Code (*make_current)(const Driver &, int device, void **context) = nullptr;  // retains it, where that is null
    Code (*architecture)(const Driver &, int device, char *text, size_t size) = nullptr;  // "sm_90", "gfx90a"
    Code (*allow_shared)(const Driver &, void *function, int bytes) = nullptr;            // more than is free to all
    Code (*copy_2d)(const Driver &, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                    size_t height, void *stream) = nullptr;  // within the device
    const char *(*text)(const Driver &, Code) = nullptr;
    void *entries[8] = {};  // of the library, for these functions
};

// Fill in a driver from its library; what went wrong, or "". They know nothing of devices yet.
std::string open_cuda(const char *library, Driver &driver);
std::string open_hip(const char *library, Driver &driver);

// Two buffers of pinned memory for one direction: one is filled while the other is on its way.
struct Staging {
    static constexpr size_t BYTES = 8 << 20;
    std::mutex lock;
    void *buffers[2] = {};
    void *events[2] = {};  // recorded behind the last use of a buffer
    int next = 0;
};

// How a process is counted: a fork makes another one.
int generation_of_process();

struct Program;

// A device in this process. Programs share it; it lives as long as the process, as the driver's own context does.
struct Context {
    Driver driver;
    int ordinal = 0, device = 0;
    void *handle = nullptr;
    void *pool = nullptr;      // null: memory is not allocated in the order of streams
    int generation = 0;        // of processes: a forked child has another one
    Staging up, down;
    std::mutex lock;                    // of what follows
    std::map<char *, size_t> pinned;    // host memory that `pin` has given
    std::string broken;                 // why nothing works any more; empty while it does

    std::atomic<bool> is_broken{false};
    std::mutex programs_lock;           // of what follows; who holds it waits for no program's memory
    std::vector<Program *> programs;    // those that are open

    Code make_current() { return driver.make_current(driver, device, &handle); }
    bool is_usable() const { return !is_broken && generation == generation_of_process(); }
    std::string unusable();  // why it is not; "" where it is
    void break_down(const std::string &why);
    bool is_pinned(const void *place, int64_t bytes);
};

bool is_fatal(Code code);  // whether the context is lost with it

std::string described(const Driver &driver, Code code);  // in words, and by its number

// Bytes of a slab that a buffer has, until those above are given back, too.
struct Part {
    int64_t start, end;
    bool is_taken;
};

// The memory for calls on one stream. `top` is where the next part begins.
struct Workspace {
    char *slab = nullptr;
    int64_t size = 0;   // of the slab
    int64_t apart = 0;  // bytes in use that have no room in it
    int64_t most = 0;   // bytes that were in use at a time
    std::vector<Part> parts;

    int64_t top() const;
    bool is_idle() const;
    bool has(const void *place) const;
};

// A buffer: the bytes that were asked for, those it takes, and the stream that it was taken for.
struct Held {
    int64_t bytes, needed;
    void *stream;
};

// Launches between two events; and what they took, by kernel, as far as it has been read.
struct TimedLaunch {
    int32_t kernel;
    void *start, *stop;
};

struct KernelTime {
    int64_t launches = 0;
    double seconds = 0;
};

struct Profile {
    bool is_on = false;
    std::vector<TimedLaunch> launches;
    std::vector<KernelTime> times;
    std::vector<void *> spare;  // events
};

// The table of one program, and what it holds.
struct Program : dcpy_device {
    Context *context = nullptr;
    void *module = nullptr;
    std::vector<std::string> names;
    std::vector<void *> functions;
    std::vector<int32_t> allowed;       // dynamic shared bytes that each kernel may ask for
    std::vector<void *> streams;        // by queue; made when they are used. The first one is not always its own
    void *own = nullptr;                // queue 0, unless another stream is used
    void *ordering = nullptr;           // an event, for the order of two streams
    std::vector<void *> events;         // by number
    std::mutex memory_lock;             // of what follows: a program without memory looks at others' slabs
    std::unordered_map<void *, Held> held;   // by place
    std::map<void *, Workspace> workspaces;  // by stream
    int64_t held_bytes = 0;
    int64_t max_workspace = -1;         // bytes of a slab; below 0: as large as calls need
    int64_t *fetched = nullptr;         // pinned: where the error block comes back
    std::vector<int32_t> running;       // kernels since the last wait, each once
    int32_t queue = 0;
    int32_t recorded = -1;              // the graph that is recorded; -1: none
    void *recording = nullptr;          // the stream that it is recorded in, made when it is used
    std::map<int32_t, void *> graphs;   // ready to run, by number
    Profile profile;
    std::string said;

    const Driver &driver() const { return context->driver; }
    void *stream() { return recorded >= 0 ? recording : streams[(size_t)queue]; }

    // 0, or a status, with a message about what was tried.
    int32_t answer(Code code, const char *what);
    int32_t refuse(int32_t status, std::string message);
    int32_t ready();  // before any command
    int32_t has_queue(int32_t number);
    void give_up_recording();

};

// Memory for a call: `is_held` of what is given back. `close_memory` gives back all, and the slabs.
Code take(Program &program, int64_t bytes, void **place);
bool is_held(Program &program, void *place);
Code give_back(Program &program, void *place);
int64_t kept_bytes(Program &program);  // in slabs
void close_memory(Program &program);
void offer_graphs(Program &program);  // its functions of the table, where the driver has graphs
void drop_graphs(Program &program);

void *own_stream(dcpy_device *);
int32_t use_stream(dcpy_device *, void *stream);
int32_t order(dcpy_device *, void *first, void *then);
int32_t take(dcpy_device *, int64_t bytes, void *stream, void **place);
int32_t give(dcpy_device *, void *place, void *stream);
int32_t holds(dcpy_device *, const void *place);
// Around a launch, where times are asked for; `read_times` waits for those launches.
Code before_launch(Program &program, int32_t kernel);
Code after_launch(Program &program);
void forget_launch(Program &program);  // which has failed
Code read_times(Program &program);
void close_profile(Program &program);

int32_t copy(dcpy_device *, void *to, const void *from, int64_t bytes, int32_t way);
int32_t copy_box(dcpy_device *, void *to, const void *from, int64_t item, int32_t rank, const int64_t *shape,
                 const int64_t *to_strides, const int64_t *from_strides, int32_t way);

}  // namespace dcpy
