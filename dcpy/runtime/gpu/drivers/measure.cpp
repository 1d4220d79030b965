// How long things take on this device. Commands are timed in rows, by events of the device: a single one is too short.

#include <chrono>

#include "exports.h"

namespace dcpy {

namespace {

double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Seconds of one of `times` commands; the first one, before the clock starts, is not counted.
template <class Command>
double timed(Program &program, int32_t times, const Command &command)
{
    const Driver &driver = program.driver();
    void *start = nullptr, *stop = nullptr;
    float milliseconds = -1;
    bool good = program.ready() == 0 && driver.make_event(&start, 0) == 0 && driver.make_event(&stop, 0) == 0;
    good = good && command() == 0 && driver.record_event(start, program.stream()) == 0;
    for (int32_t i = 0; good && i < times; ++i) good = command() == 0;
    good = good && driver.record_event(stop, program.stream()) == 0 && driver.wait_event(stop) == 0;
    good = good && driver.elapsed(&milliseconds, start, stop) == 0;
    if (start) driver.drop_event(start);
    if (stop) driver.drop_event(stop);
    return good ? milliseconds / 1000.0 / times : -1.0;
}

}  // namespace

}  // namespace dcpy

using namespace dcpy;

extern "C" double dcpy_measure_copy(dcpy_device *device, void *to, const void *from, int64_t bytes, int32_t way,
                                    int32_t times)
{
    return timed(*static_cast<Program *>(device), times, [&] { return device->copy(device, to, from, bytes, way); });
}

extern "C" double dcpy_measure_launch(dcpy_device *device, int32_t kernel, int32_t blocks, int32_t threads,
                                      int32_t times)
{
    const int64_t grid[3] = {blocks, 1, 1};
    const int32_t block[3] = {threads, 1, 1};
    void *args[1] = {};
    return timed(*static_cast<Program *>(device), times,
                 [&] { return device->launch(device, kernel, grid, block, 0, args); });
}

extern "C" double dcpy_measure_wait(dcpy_device *device, int32_t kernel, int32_t times)
{
    const int64_t grid[3] = {1, 1, 1};
    const int32_t block[3] = {32, 1, 1};
    void *args[1] = {};
    double start = now();
    for (int32_t i = -1; i < times; ++i) {  // the first one is not counted
        if (i == 0) start = now();
        if (device->launch(device, kernel, grid, block, 0, args) != 0 || device->wait(device) != 0) return -1;
    }
    return (now() - start) / times;
}
