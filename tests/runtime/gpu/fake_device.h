// The device of a driver without a device: its memory, its streams and what waits in them, and the kernels that it runs.
//
// For fake_driver.cpp alone, whose entries change what stands here.
#pragma once

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "fake_kernels.h"

namespace {

enum { INVALID_VALUE = 1, OUT_OF_MEMORY = 2, NOT_INITIALIZED = 3, NO_DEVICE = 100, NO_BINARY = 209, NOT_FOUND = 500,
       ILLEGAL_ADDRESS = 700, LAUNCH_FAILED = 719, NOT_WHILE_CAPTURED = 900, NO_CAPTURE = 901, CANNOT_CHANGE = 910 };

constexpr uint64_t BASE = uint64_t(1) << 62;  // no address of the host

struct Event {
    int64_t recorded = 0, done = 0;
    struct Stream *stream = nullptr;
    double time = 0;
};

struct Command {
    std::function<int()> run;
    Event *waits = nullptr;  // for its record of this number
    int64_t number = 0;
};

// Launches that were captured: what runs, and which kernels these are.
struct Graph {
    std::vector<std::function<int()>> runs;
    std::vector<std::string> kernels;
};

struct Stream {
    std::deque<Command> commands;
    Graph *captured = nullptr;  // while what it is given is not run
};

struct Module {
    std::string image;
};

struct Function {
    std::string name;
};

std::map<std::string, int64_t> numbers;
std::string log;
std::map<uint64_t, std::vector<char>> memory;
std::map<char *, size_t> pinned;
std::vector<Stream *> streams;
std::vector<const dcpy_unit *> units;  // kernels of generated programs
int sticky = 0;                        // an error that stays
double clock_ = 0;
bool ready = false;

const std::map<std::string, int64_t> DEFAULTS = {
    {"devices", 1}, {"warp", 32}, {"arch", 90}, {"version", 13000}, {"total", int64_t(1) << 30}, {"pools", 1}, {"initialize", 0},
    {"max_threads", 1024}, {"pitch_limit", int64_t(1) << 31}, {"reserved", 0}, {"in_pool", 0}, {"trims", 0},
    {"events", 0}, {"streams", 0}, {"modules", 0}, {"hidden", 0}, {"graphs", 0},
};

int64_t live()
{
    int64_t all = 0;
    for (const auto &one : memory) all += (int64_t)one.second.size();
    return all;
}

// Whether something is being captured: then this thread may neither allocate nor wait.
bool is_capturing()
{
    for (const Stream *stream : streams)
        if (stream->captured) return true;
    return false;
}

int called(const char *name, const std::string &more = "")
{
    log += name + (more.empty() ? "" : " " + more) + "\n";
    if (!ready) return NOT_INITIALIZED;
    return sticky;
}

// The host's address of some bytes of the device; null where they are not allocated.
char *on_host(const void *place, size_t bytes)
{
    const uint64_t first = (uint64_t)place;
    auto next = memory.upper_bound(first);
    if (next == memory.begin()) return nullptr;
    --next;
    const uint64_t offset = first - next->first;
    return offset + bytes <= next->second.size() ? next->second.data() + offset : nullptr;
}

// By its handle: 1 and 2 are default streams.
Stream *stream_of(void *handle)
{
    static Stream defaults[2];
    const auto number = (uint64_t)handle;
    return number == 1 || number == 2 ? &defaults[number - 1] : (Stream *)handle;
}

int run_until(Stream *stream, const Event *event, int64_t number)
{
    while (!stream->commands.empty() && !sticky) {
        if (event && event->done >= number) return 0;
        const Command command = stream->commands.front();
        stream->commands.pop_front();
        if (command.waits) {
            if (command.waits->done < command.number && run_until(command.waits->stream, command.waits, command.number))
                return sticky;
        } else if (const int code = command.run()) {
            sticky = code;
        }
    }
    return sticky;
}

int queue(void *stream, std::function<int()> run)
{
    if (Graph *const captured = stream_of(stream)->captured) {
        captured->runs.push_back(std::move(run));
        return 0;
    }
    stream_of(stream)->commands.push_back({std::move(run), nullptr, 0});
    return 0;
}

int allocate(void **place, size_t bytes)
{
    if (bytes == 0) return INVALID_VALUE;
    const int64_t kept = numbers["in_pool"] + numbers["reserved"];
    if (live() + kept + (int64_t)bytes > numbers["total"]) return OUT_OF_MEMORY;
    static uint64_t next = BASE;
    *place = (void *)next;
    memory[next].assign(bytes, (char)0xff);  // NaN, as doubles
    next += (bytes + 1023) / 256 * 256;      // with a gap behind
    return 0;
}

int release(void *place)
{
    return memory.erase((uint64_t)place) ? 0 : INVALID_VALUE;
}

template <class T>
T value(void **args, int i)
{
    return *(T *)args[i];
}

// A kernel of the unit that tests have named, on the host's addresses of what its pointers point to.
int run_generated(const dcpy_unit &unit, const dcpy_kernel_row &row, const int64_t blocks[3], const int32_t threads[3], int32_t shared,
                  std::vector<std::vector<char>> values)
{
    if (numbers["astray"]) return ILLEGAL_ADDRESS;
    std::vector<void *> args;
    for (size_t i = 0; i < values.size(); ++i) {
        void *place = nullptr;
        if (row.places[i]) {
            std::memcpy(&place, values[i].data(), sizeof place);
            char *const here = on_host(place, 1);
            if (place && !here) return ILLEGAL_ADDRESS;
            std::memcpy(values[i].data(), &here, sizeof here);
        }
        args.push_back(values[i].data());
    }
    fake_run(unit, row, blocks, threads, shared, (int32_t)numbers["warp"], args.data());
    return 0;
}

// The last unit that has a kernel of this name.
const dcpy_kernel_row *generated(const std::string &name, const dcpy_unit *&unit)
{
    for (size_t u = units.size(); u-- > 0;)
        for (int32_t i = 0; i < units[u]->count; ++i)
            if (name == units[u]->rows[i].name) {
                unit = units[u];
                return &unit->rows[i];
            }
    return nullptr;
}

// The kernels that can run here; others do nothing.
int run_kernel(const std::string &name, int64_t blocks, int64_t threads, const std::vector<std::vector<char>> &args)
{
    auto number = [&](int i) { return *(const int64_t *)args[(size_t)i].data(); };
    auto real = [&](int i) { return *(const double *)args[(size_t)i].data(); };
    auto array = [&](int i, int64_t count) { return (double *)on_host((void *)number(i), (size_t)count * 8); };
    if (name == "axpy") {
        double *const x = array(1, number(3)), *const y = array(2, number(3));
        if (!x || !y) return ILLEGAL_ADDRESS;
        for (int64_t i = 0; i < std::min(number(3), blocks * threads); ++i) y[i] = real(0) * x[i] + y[i];
    } else if (name == "check") {
        int64_t *const errors = (int64_t *)array(0, 5);
        if (!errors) return ILLEGAL_ADDRESS;
        if (errors[0] == 0)
            for (int i = 0; i < 5; ++i) errors[i] = 7 + i;
    } else if (name == "astray") {
        return ILLEGAL_ADDRESS;
    }
    return 0;
}

// How many parameters the kernels above have, all of 8 bytes.
size_t parameters_of(const std::string &name)
{
    return name == "axpy" ? 4 : name == "check" ? 1 : 0;
}

int arch_of(const std::string &image)
{
    uint32_t flags = 0;
    std::memcpy(&flags, image.data() + 48, sizeof flags);
    return (int)(flags >> 8 & 0xff);
}

}  // namespace
