// What Python calls of the drivers, through ctypes (drivers.py has the same structs).
#pragma once

#include "driver.h"

#define DCPY_EXPORT extern "C" __attribute__((visibility("default")))

typedef dcpy::Context dcpy_context;

enum dcpy_failure_kind {
    DCPY_NO_DRIVER = 1,    // its library is not there, or lacks entries
    DCPY_OLD_DRIVER = 2,
    DCPY_NO_DEVICE = 3,
    DCPY_WRONG_BINARY = 4,  // the device does not take the machine code
    DCPY_REFUSED = 5,       // anything else
};

struct dcpy_failure {
    int32_t kind, code;
    char text[1024];
};

struct dcpy_facts {
    char name[256], arch[64];
    int64_t free, total;  // bytes
    int32_t version, warp, processors, shared_per_block, l2, threads_per_processor, has_pool;
};

// Both return null, and say why, where they cannot.
DCPY_EXPORT dcpy_context *dcpy_open_context(const char *backend, const char *library, int32_t ordinal,
                                            dcpy_failure *failure);
DCPY_EXPORT dcpy_device *dcpy_open_program(dcpy_context *context, const void *image, int32_t count,
                                           const char *const *names, dcpy_failure *failure);

DCPY_EXPORT void dcpy_close_program(dcpy_device *device);
DCPY_EXPORT void dcpy_facts_of(dcpy_context *context, dcpy_facts *facts);

// Bytes that a program holds on its device.
DCPY_EXPORT int64_t dcpy_held(dcpy_device *device);

// Bytes of the slabs that it keeps from call to call, of which buffers are parts; and how many they may be on a stream
// (below 0: any number).
DCPY_EXPORT int64_t dcpy_kept(dcpy_device *device);
DCPY_EXPORT void dcpy_limit_workspace(dcpy_device *device, int64_t bytes);

// From now on the launches of kernels are timed; how many there were of one, and the seconds that they took together.
DCPY_EXPORT void dcpy_profile(dcpy_device *device);
DCPY_EXPORT int32_t dcpy_time_of(dcpy_device *device, int32_t kernel, int64_t *launches, double *seconds);

// Why the context cannot be used; how long that is (0: it can).
DCPY_EXPORT int32_t dcpy_why_unusable(dcpy_context *context, char *text, int32_t size);

// Seconds that the device needs for one of `times` copies, or launches of a kernel without parameters, in a row; below
// 0 where it fails. `dcpy_measure_wait` is for one launch and the wait for it, by the clock of the host.
DCPY_EXPORT double dcpy_measure_copy(dcpy_device *device, void *to, const void *from, int64_t bytes, int32_t way,
                                     int32_t times);
DCPY_EXPORT double dcpy_measure_launch(dcpy_device *device, int32_t kernel, int32_t blocks, int32_t threads,
                                       int32_t times);
DCPY_EXPORT double dcpy_measure_wait(dcpy_device *device, int32_t kernel, int32_t times);
