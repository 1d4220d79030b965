// Copies. Pageable host memory goes through pinned buffers, one filled while the other is on its way: the driver never
// works synchronously in parts, and host memory is free again when a call returns. Boxes with strides are packed on
// their side of the bus.

#include <algorithm>
#include <cstring>
#include <thread>

#include "driver.h"

namespace dcpy {

namespace {

constexpr int64_t AT_ONCE = 64 << 10;  // bytes that the driver takes in one go, whatever memory it is

struct Move {
    char *to;
    const char *from;
    int64_t bytes;
};

// As fast as memory is: one core alone does not fill a bus.
void copy_by_threads(char *to, const char *from, int64_t bytes)
{
    constexpr int64_t worth_a_thread = 1 << 20;
    const int64_t most = std::min<int64_t>(4, std::max(1u, std::thread::hardware_concurrency()));
    const int64_t share = bytes / std::max<int64_t>(1, std::min(most, bytes / worth_a_thread));
    std::thread others[3];
    int started = 0;
    int64_t done = 0;
    for (; bytes - done >= 2 * share && started < 3; done += share)
        others[started++] = std::thread([=] { std::memcpy(to + done, from + done, (size_t)share); });
    std::memcpy(to + done, from + done, (size_t)(bytes - done));
    for (int i = 0; i < started; ++i) others[i].join();
}

// The next buffer of a direction, when it is free.
Code next_buffer(const Driver &driver, Staging &staging, int &index)
{
    constexpr unsigned no_timing = 2, for_all_contexts = 1;
    index = staging.next;
    staging.next = 1 - staging.next;
    if (staging.buffers[index]) return driver.wait_event(staging.events[index]);
    if (!staging.events[index])
        if (const Code code = driver.make_event(&staging.events[index], no_timing)) return code;
    return driver.pin(&staging.buffers[index], Staging::BYTES, for_all_contexts);
}

// Returns when `from` has been read.
Code send(Program &program, char *to, const char *from, int64_t bytes)
{
    const Driver &driver = program.driver();
    Staging &staging = program.context->up;
    const std::lock_guard<std::mutex> guard(staging.lock);
    for (int64_t done = 0; done < bytes; done += Staging::BYTES) {
        const int64_t part = std::min<int64_t>(Staging::BYTES, bytes - done);
        int index = 0;
        if (const Code code = next_buffer(driver, staging, index)) return code;
        char *const buffer = (char *)staging.buffers[index];
        copy_by_threads(buffer, from + done, part);
        if (const Code code = driver.to_device(to + done, buffer, (size_t)part, program.stream())) return code;
        if (const Code code = driver.record_event(staging.events[index], program.stream())) return code;
    }
    return 0;
}

// Returns when `to` has been written: a part is copied out while the next one comes in.
Code fetch(Program &program, char *to, const char *from, int64_t bytes)
{
    const Driver &driver = program.driver();
    Staging &staging = program.context->down;
    const std::lock_guard<std::mutex> guard(staging.lock);
    Move arriving = {nullptr, nullptr, 0};
    int arriving_index = 0;
    for (int64_t done = 0; done < bytes || arriving.to; done += Staging::BYTES) {
        Move started = {nullptr, nullptr, 0};
        int index = 0;
        if (done < bytes) {
            if (const Code code = next_buffer(driver, staging, index)) return code;
            void *const buffer = staging.buffers[index];
            started = {to + done, (const char *)buffer, std::min<int64_t>(Staging::BYTES, bytes - done)};
            const size_t size = (size_t)started.bytes;
            if (const Code code = driver.to_host(buffer, from + done, size, program.stream())) return code;
            if (const Code code = driver.record_event(staging.events[index], program.stream())) return code;
        }
        if (arriving.to) {
            if (const Code code = driver.wait_event(staging.events[arriving_index])) return code;
            copy_by_threads(arriving.to, arriving.from, arriving.bytes);
        }
        arriving = started;
        arriving_index = index;
    }
    return 0;
}

Code move(Program &program, char *to, const char *from, int64_t bytes, int32_t way)
{
    const Driver &driver = program.driver();
    const bool small = bytes <= AT_ONCE;
    switch (way) {
    case DCPY_TO_DEVICE:
        if (small || program.context->is_pinned(from, bytes))
            return driver.to_device(to, from, (size_t)bytes, program.stream());
        return send(program, to, from, bytes);
    case DCPY_TO_HOST:
        if (small || program.context->is_pinned(to, bytes))
            return driver.to_host(to, from, (size_t)bytes, program.stream());
        return fetch(program, to, from, bytes);
    default:
        return driver.within(to, from, (size_t)bytes, program.stream());
    }
}

// --- boxes ---

struct Axis {
    int64_t count, to, from;  // strides in bytes
};

// A box as rows of `run` bytes: axes of one element are gone, neighbours that are one axis on both sides are merged.
struct Box {
    int64_t run;
    std::vector<Axis> axes;

    int64_t rows() const
    {
        int64_t all = 1;
        for (const Axis &axis : axes) all *= axis.count;
        return all;
    }

    int64_t bytes() const { return run * rows(); }
};

Box normalized(int64_t item, int32_t rank, const int64_t *shape, const int64_t *to, const int64_t *from)
{
    Box box = {item, {}};
    for (int32_t d = 0; d < rank; ++d) {
        if (shape[d] == 1) continue;
        const Axis axis = {shape[d], to[d], from[d]};
        Axis *const outer = box.axes.empty() ? nullptr : &box.axes.back();
        if (outer && outer->to == axis.to * axis.count && outer->from == axis.from * axis.count)
            *outer = {outer->count * axis.count, axis.to, axis.from};
        else
            box.axes.push_back(axis);
    }
    if (!box.axes.empty() && box.axes.back().to == item && box.axes.back().from == item) {
        box.run *= box.axes.back().count;
        box.axes.pop_back();
    }
    return box;
}

// Calls `row(to, from)` with the offsets of each row, outermost axis first.
template <class Row>
Code each_row(const std::vector<Axis> &axes, const Row &row)
{
    std::vector<int64_t> at(axes.size());
    int64_t to = 0, from = 0;
    for (;;) {
        if (const Code code = row(to, from)) return code;
        size_t d = axes.size();
        for (; d > 0; --d) {
            const Axis &axis = axes[d - 1];
            to += axis.to;
            from += axis.from;
            if (++at[d - 1] < axis.count) break;
            at[d - 1] = 0;
            to -= axis.to * axis.count;
            from -= axis.from * axis.count;
        }
        if (d == 0) return 0;
    }
}

void copy_on_host(const Box &box, char *to, const char *from)
{
    each_row(box.axes, [&](int64_t t, int64_t f) {
        std::memcpy(to + t, from + f, (size_t)box.run);
        return 0;
    });
}

// The innermost axis in one command where the driver takes its strides.
Code copy_on_device(Program &program, const Box &box, char *to, const char *from)
{
    const Driver &driver = program.driver();
    std::vector<Axis> outer = box.axes;
    Axis inner = {1, box.run, box.run};
    if (!outer.empty() && outer.back().to >= box.run && outer.back().from >= box.run) {
        inner = outer.back();
        outer.pop_back();
    }
    return each_row(outer, [&](int64_t t, int64_t f) {
        if (inner.count == 1) return driver.within(to + t, from + f, (size_t)box.run, program.stream());
        const Code code = driver.copy_2d(driver, to + t, (size_t)inner.to, from + f, (size_t)inner.from,
                                         (size_t)box.run, (size_t)inner.count, program.stream());
        constexpr Code invalid = 1;  // a pitch beyond the driver's limit
        if (code != invalid) return code;
        for (int64_t i = 0; i < inner.count; ++i)
            if (const Code one = driver.within(to + t + i * inner.to, from + f + i * inner.from, (size_t)box.run,
                                               program.stream()))
                return one;
        return 0;
    });
}

// The same box, packed on one side: the other side keeps its strides.
Box packed(const Box &box, int64_t Axis::*side)
{
    Box result = box;
    int64_t stride = box.run;
    for (size_t d = result.axes.size(); d > 0; stride *= result.axes[--d].count) result.axes[d - 1].*side = stride;
    return result;
}

bool is_packed(const Box &box, int64_t Axis::*side)
{
    const Box other = packed(box, side);
    for (size_t d = 0; d < box.axes.size(); ++d)
        if (box.axes[d].*side != other.axes[d].*side) return false;
    return true;
}

int32_t box_to_device(Program &program, const Box &box, char *to, const char *from)
{
    std::vector<char> gathered;
    if (!is_packed(box, &Axis::from)) {
        gathered.resize((size_t)box.bytes());
        copy_on_host(packed(box, &Axis::to), gathered.data(), from);
        from = gathered.data();
    }
    if (is_packed(box, &Axis::to)) return program.answer(send(program, to, from, box.bytes()), "copy to the device");
    void *between = nullptr;
    if (const int32_t status = program.allocate(&program, box.bytes(), &between)) return status;
    Code code = send(program, (char *)between, from, box.bytes());
    if (code == 0) code = copy_on_device(program, packed(box, &Axis::from), to, (const char *)between);
    const int32_t status = program.release(&program, between);
    return code ? program.answer(code, "copy to the device") : status;
}

int32_t box_to_host(Program &program, const Box &box, char *to, const char *from)
{
    void *between = nullptr;
    const char *source = from;
    if (!is_packed(box, &Axis::from)) {
        if (const int32_t status = program.allocate(&program, box.bytes(), &between)) return status;
        if (const Code code = copy_on_device(program, packed(box, &Axis::to), (char *)between, from)) {
            program.release(&program, between);
            return program.answer(code, "copy to the host");
        }
        source = (const char *)between;
    }
    std::vector<char> arrived;
    char *target = to;
    if (!is_packed(box, &Axis::to)) {
        arrived.resize((size_t)box.bytes());
        target = arrived.data();
    }
    const Code code = fetch(program, target, source, box.bytes());
    if (code == 0 && target != to) copy_on_host(packed(box, &Axis::from), to, target);
    const int32_t status = between ? program.release(&program, between) : DCPY_DONE;
    return code ? program.answer(code, "copy to the host") : status;
}

bool is_way(int32_t way) { return way >= DCPY_TO_DEVICE && way <= DCPY_WITHIN_DEVICE; }

}  // namespace

int32_t copy(dcpy_device *device, void *to, const void *from, int64_t bytes, int32_t way)
{
    Program &program = *static_cast<Program *>(device);
    if (const int32_t status = program.ready()) return status;
    if (bytes < 0 || !is_way(way)) return program.refuse(DCPY_MISUSED, "a copy of an unknown kind");
    if (bytes == 0) return DCPY_DONE;
    static const char *const names[] = {"copy to the device", "copy to the host", "copy within the device"};
    return program.answer(move(program, (char *)to, (const char *)from, bytes, way), names[way]);
}

int32_t copy_box(dcpy_device *device, void *to, const void *from, int64_t item, int32_t rank, const int64_t *shape,
                 const int64_t *to_strides, const int64_t *from_strides, int32_t way)
{
    Program &program = *static_cast<Program *>(device);
    if (const int32_t status = program.ready()) return status;
    if (item <= 0 || rank < 0 || !is_way(way)) return program.refuse(DCPY_MISUSED, "a copy of an unknown kind");
    for (int32_t d = 0; d < rank; ++d)
        if (shape[d] <= 0) return DCPY_DONE;
    const Box box = normalized(item, rank, shape, to_strides, from_strides);
    if (box.axes.empty()) return copy(device, to, from, box.run, way);
    if (way == DCPY_TO_DEVICE) return box_to_device(program, box, (char *)to, (const char *)from);
    if (way == DCPY_TO_HOST) return box_to_host(program, box, (char *)to, (const char *)from);
    return program.answer(copy_on_device(program, box, (char *)to, (const char *)from), "copy within the device");
}

}  // namespace dcpy
