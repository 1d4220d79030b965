// Streams of the process: those of programs and of other libraries, their order, and memory that outlives a call.

#include <algorithm>

#include "driver.h"

namespace dcpy {

namespace {

Program &of(dcpy_device *device) { return *static_cast<Program *>(device); }

constexpr unsigned NO_TIMING = 2;
constexpr int ORDINAL_OF_POINTER = 9;

Code order_streams(Program &program, void *first, void *then)
{
    const Driver &driver = program.driver();
    Code code = program.ordering ? 0 : driver.make_event(&program.ordering, NO_TIMING);
    if (code == 0) code = driver.record_event(program.ordering, first);
    return code ? code : driver.hold_stream(then, program.ordering, 0);
}

}  // namespace

void *own_stream(dcpy_device *device) { return of(device).own; }

int32_t use_stream(dcpy_device *device, void *stream)
{
    Program &program = of(device);
    void *const next = stream ? stream : program.own;
    void *const before = program.streams[0];
    if (next == before) return DCPY_DONE;
    if (const int32_t status = program.ready()) return status;
    program.streams[0] = next;
    return program.answer(order_streams(program, before, next), "a stream");
}

int32_t order(dcpy_device *device, void *first, void *then)
{
    Program &program = of(device);
    if (first == then) return DCPY_DONE;
    if (const int32_t status = program.ready()) return status;
    return program.answer(order_streams(program, first, then), "a stream");
}

int32_t take(dcpy_device *device, int64_t bytes, void *stream, void **place)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    if (bytes < 0) return program.refuse(DCPY_MISUSED, "memory of " + std::to_string(bytes) + " bytes is asked for");
    const Context &context = *program.context;
    const Driver &driver = program.driver();
    const size_t size = (size_t)std::max<int64_t>(bytes, 1);
    auto allocate = [&] {
        return context.pool ? driver.allocate_in(place, size, context.pool, stream) : driver.allocate(place, size);
    };
    Code code = allocate();
    if (code == OUT_OF_MEMORY && context.pool) {  // what was given back lies in the pool until it is asked to let go
        driver.wait_stream(stream);
        driver.trim_pool(context.pool, 0);
        code = allocate();
    }
    if (code != OUT_OF_MEMORY) return program.answer(code, "allocation of an array");
    size_t free = 0, total = 0;
    driver.memory(&free, &total);
    return program.refuse(DCPY_OUT_OF_MEMORY, "an array of " + std::to_string(bytes) + " bytes is asked for, and "
                                                  + std::to_string(free) + " of " + std::to_string(total)
                                                  + " bytes of the device are free");
}

int32_t give(dcpy_device *device, void *place, void *stream)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    const Driver &driver = program.driver();
    return program.answer(program.context->pool ? driver.release_in(place, stream) : driver.release(place), "an array");
}

int32_t holds(dcpy_device *device, const void *place)
{
    Program &program = of(device);
    if (const int32_t status = program.ready()) return status;
    const Driver &driver = program.driver();
    int ordinal = -1;
    if (!driver.about_pointer) return DCPY_DONE;
    if (driver.about_pointer(&ordinal, ORDINAL_OF_POINTER, place) != 0)
        return program.refuse(DCPY_MISUSED, "it is not in the memory of any device of the driver");
    if (ordinal == program.context->device) return DCPY_DONE;
    return program.refuse(DCPY_MISUSED, "it is in the memory of device " + std::to_string(ordinal) + ", programs run on device "
                                            + std::to_string(program.context->device));
}

}  // namespace dcpy
