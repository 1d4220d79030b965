// The functions of the table (dcpy_table.h), and those that Python opens and closes devices with.
//
// Every place and size is checked when a command is given: whose memory it is, and that it has not been released.

#include "commands.h"
#include "services.h"

#include <cstring>
#include <memory>
#include <mutex>

namespace simulator {

std::recursive_mutex one_at_a_time;

namespace {

int64_t launches = 0, devices = 0;

constexpr int64_t MOST_BLOCKS[3] = {0x7FFFFFFF, 65535, 65535};
constexpr int32_t MOST_THREADS[3] = {1024, 1024, 64};

std::string hexadecimal(const void *place)
{
    char text[32];
    snprintf(text, sizeof text, "%p", place);
    return text;
}

// What is wrong with `bytes` bytes from a place on the side of the device, or of the host; empty: nothing.
std::string problem_of(const void *place, int64_t before, int64_t behind, bool of_device)
{
    const char *lowest = (const char *)place - before;
    if (!of_device)
        return arena::owns(place) ? hexadecimal(place) + " is a place of the device, " + arena::describe(place) +
                                        ": one of the host is needed"
               : place            ? ""
                                  : "the place of the host is null";
    if (!arena::owns(place)) return hexadecimal(place) + " is a place of the host: one of the device is needed";
    const Allocation *a = arena::holder(place);
    if (a && !a->is_released && lowest >= a->place && (const char *)place + behind <= a->place + a->bytes) return "";
    if (a && a->is_released) return "use after release: " + hexadecimal(place) + " is " + arena::describe(place);
    const char *worst = a && lowest < a->place ? lowest : (const char *)place + (behind > 0 ? behind - 1 : 0);
    return "the access reaches from " + hexadecimal(place) + ", " + arena::describe(place) + ", to a byte " +
           arena::describe(worst);
}

int32_t give(Device &device, std::function<bool(std::string &)> run)
{
    return submit(device, Command{Command::WORK, 0, 0, std::move(run)});
}

int32_t allocate(dcpy_device *self, int64_t bytes, void **place)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    std::string problem;
    Allocation *made = arena::allocate(device.number, bytes, device.settings.memory, problem);
    if (!made) {  // what has been released, but not yet by the device
        if (int32_t status = drain(device)) return status;
        made = arena::allocate(device.number, bytes, device.settings.memory, problem);
    }
    if (!made) return refuse(device, DCPY_OUT_OF_MEMORY, problem);
    made->is_watched = device.settings.hooks != 0;
    *place = made->place;
    return DCPY_DONE;
}

int32_t release(dcpy_device *self, void *place)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    device.is_recording = false;
    if (int32_t status = enter(device)) return status;
    if (!place) return DCPY_DONE;
    Allocation *a = arena::owns(place) ? arena::holder(place) : nullptr;
    if (!a) return refuse(device, DCPY_MISUSED, hexadecimal(place) + " was not allocated: nothing to release");
    if (a->is_released || a->place != place)
        return refuse(device, DCPY_MISUSED, (a->is_released ? "released twice: " : "released in the middle: ") +
                                                arena::describe(place));
    a->is_released = true;
    return give(device, [a](std::string &) { return hooks::released(a->number), arena::release(a), true; });
}

// A place of the device whose writes are watched is no longer undefined.
void note_written(const void *to, int64_t bytes)
{
    const Allocation *a = arena::owns(to) ? arena::holder(to) : nullptr;
    if (a && a->is_watched) hooks::wrote(to, bytes);
}

std::string problem_of_way(int32_t way)
{
    return way >= DCPY_TO_DEVICE && way <= DCPY_WITHIN_DEVICE ? "" : "there is no way " + std::to_string(way) + " to copy";
}

int32_t copy(dcpy_device *self, void *to, const void *from, int64_t bytes, int32_t way)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    std::string problem = bytes < 0 ? "a copy of a negative number of bytes" : problem_of_way(way);
    if (bytes == 0 && problem.empty()) return DCPY_DONE;
    if (problem.empty()) problem = problem_of(to, 0, bytes, way != DCPY_TO_HOST);
    if (problem.empty()) problem = problem_of(from, 0, bytes, way != DCPY_TO_DEVICE);
    if (!problem.empty()) return refuse(device, DCPY_MISUSED, "copy: " + problem);
    return give(device, [=](std::string &) {
        note_written(to, bytes);
        return memmove(to, from, size_t(bytes)), true;
    });
}

struct Box {
    int64_t item;
    std::vector<int64_t> shape, to, from;
};

void copy_items(const Box &box, size_t axis, char *to, const char *from)
{
    if (axis == box.shape.size()) {
        note_written(to, box.item);
        memmove(to, from, size_t(box.item));
        return;
    }
    for (int64_t k = 0; k < box.shape[axis]; ++k)
        copy_items(box, axis + 1, to + k * box.to[axis], from + k * box.from[axis]);
}

// The bytes of a box in front of its first element, and from there to its end.
void reach(const std::vector<int64_t> &shape, const std::vector<int64_t> &strides, int64_t item, int64_t *before,
           int64_t *behind)
{
    *before = 0;
    *behind = item;
    for (size_t k = 0; k < shape.size(); ++k) {
        const int64_t span = (shape[k] - 1) * strides[k];
        (span < 0 ? *before : *behind) += span < 0 ? -span : span;
    }
}

int32_t copy_box(dcpy_device *self, void *to, const void *from, int64_t item, int32_t rank, const int64_t *shape,
                 const int64_t *to_strides, const int64_t *from_strides, int32_t way)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    std::string problem = rank < 0 || item <= 0 ? "a box of a negative size" : problem_of_way(way);
    for (int32_t k = 0; k < rank; ++k) {
        if (shape[k] < 0) problem = "a box of a negative size";
        if (shape[k] == 0 && problem.empty()) return DCPY_DONE;
    }
    if (!problem.empty()) return refuse(device, DCPY_MISUSED, "copy: " + problem);
    const Box box{item, {shape, shape + rank}, {to_strides, to_strides + rank}, {from_strides, from_strides + rank}};
    int64_t before, behind;
    reach(box.shape, box.to, item, &before, &behind);
    problem = problem_of(to, before, behind, way != DCPY_TO_HOST);
    reach(box.shape, box.from, item, &before, &behind);
    if (problem.empty()) problem = problem_of(from, before, behind, way != DCPY_TO_DEVICE);
    if (!problem.empty()) return refuse(device, DCPY_MISUSED, "copy: " + problem);
    return give(device, [=](std::string &) { return copy_items(box, 0, (char *)to, (const char *)from), true; });
}

int32_t fill(dcpy_device *self, void *to, int32_t byte, int64_t bytes)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    if (bytes == 0) return DCPY_DONE;
    const std::string problem = bytes < 0 ? "a negative number of bytes" : problem_of(to, 0, bytes, true);
    if (!problem.empty()) return refuse(device, DCPY_MISUSED, "fill: " + problem);
    return give(device, [=](std::string &) {
        note_written(to, bytes);
        return memset(to, byte, size_t(bytes)), true;
    });
}

std::string problem_of_geometry(const Launch &launch, const dcpy_kernel_row &row)
{
    static const char axes[] = "xyz";
    for (int k = 0; k < 3; ++k) {
        if (launch.blocks[k] < 1 || launch.blocks[k] > MOST_BLOCKS[k])
            return std::to_string(launch.blocks[k]) + " blocks in " + axes[k] + ": from 1 to " +
                   std::to_string(MOST_BLOCKS[k]) + " are possible";
        if (launch.threads[k] < 1 || launch.threads[k] > MOST_THREADS[k])
            return std::to_string(launch.threads[k]) + " threads in " + axes[k] + ": from 1 to " +
                   std::to_string(MOST_THREADS[k]) + " are possible";
    }
    const int64_t threads = int64_t(launch.threads[0]) * launch.threads[1] * launch.threads[2];
    if (threads > row.threads)
        return std::to_string(threads) + " threads in a block, " + std::to_string(row.threads) + " are declared";
    if (launch.shared < 0 || int64_t(launch.shared) + row.shared > SHARED_LIMIT)
        return std::to_string(int64_t(launch.shared) + row.shared) + " bytes of shared memory: " +
               std::to_string(SHARED_LIMIT) + " are possible";
    return "";
}

std::string problem_of_argument(const void *place)
{
    if (!place || arena::is_pinned(place)) return "";
    return problem_of(place, 0, 0, true);
}

Arguments keep(const dcpy_kernel_row &row, void **args)
{
    int64_t room = 0;
    for (int32_t k = 0; k < row.parameters; ++k) room += (row.sizes[k] + 15) / 16 * 16;
    Arguments kept{std::vector<char>(size_t(room + 16)), {}};
    char *at = (char *)(((uintptr_t)kept.bytes.data() + 15) / 16 * 16);
    for (int32_t k = 0; k < row.parameters; ++k) {
        memcpy(at, args[k], size_t(row.sizes[k]));
        kept.places.push_back(at);
        at += (row.sizes[k] + 15) / 16 * 16;
    }
    return kept;
}

int32_t launch(dcpy_device *self, int32_t kernel, const int64_t *grid, const int32_t *threads, int32_t shared, void **args)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device, true)) return status;
    if (!device.unit || kernel < 0 || kernel >= device.unit->count)
        return refuse(device, DCPY_MISUSED, "launch: there is no kernel " + std::to_string(kernel));
    const dcpy_kernel_row &row = device.unit->rows[kernel];
    Launch wanted{device.unit, kernel, {grid[0], grid[1], grid[2]}, {threads[0], threads[1], threads[2]},
                  shared, nullptr, 0, device.number};
    const std::string problem = problem_of_geometry(wanted, row);
    if (!problem.empty()) return refuse(device, DCPY_MISUSED, std::string("launch of kernel ") + row.name + ": " + problem);
    const Recorded one{wanted, std::make_shared<Arguments>(keep(row, args))};
    if (!device.is_recording) return run_launch(device, one);
    device.recording.push_back(one);
    return DCPY_DONE;
}

int32_t wait(dcpy_device *self)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    device.is_recording = false;
    if (int32_t status = enter(device)) return status;
    return drain_stream(device);
}

constexpr int64_t ERROR_BYTES = 10 * sizeof(int64_t);

int32_t failed(dcpy_device *self, int64_t *numbers)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    if (!is_idle(device)) return refuse(device, DCPY_MISUSED, "failed: there was no wait before");
    const Allocation *a = arena::holder(device.errors);
    arena::open_one(a, true);
    memcpy(numbers, device.errors, 5 * sizeof(int64_t));
    numbers[0] = (int32_t)numbers[0];  // without the kernel
    memset(device.errors, 0, ERROR_BYTES);
    arena::open_one(a, false);
    return DCPY_DONE;
}

const char *message(dcpy_device *self) { return ((Device *)self)->text.c_str(); }

int32_t use_queue(dcpy_device *self, int32_t queue)
{
    std::lock_guard guard(one_at_a_time);
    ((Device *)self)->queue = queue;
    return enter(*(Device *)self);
}

int32_t record(dcpy_device *self, int32_t event)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    return submit(device, Command{Command::RECORD, event, ++device.issued[event], {}});
}

int32_t wait_event(dcpy_device *self, int32_t event)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    auto found = device.issued.find(event);
    if (found == device.issued.end())
        return refuse(device, DCPY_MISUSED, "wait_event: event " + std::to_string(event) + " has not been recorded");
    return submit(device, Command{Command::WAIT_EVENT, event, found->second, {}});
}

int32_t pin(dcpy_device *self, int64_t bytes, void **place)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    *place = bytes < 0 ? nullptr : arena::pin(bytes);
    return *place ? DCPY_DONE : refuse(device, DCPY_OUT_OF_MEMORY, "the host has no " + std::to_string(bytes) + " bytes");
}

int32_t unpin(dcpy_device *self, void *place)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = drain(device)) return status;  // as the drivers' own: all that might use it is done first
    if (!place || arena::unpin(place)) return DCPY_DONE;
    return refuse(device, DCPY_MISUSED, hexadecimal(place) + " is not pinned");
}

void *own_stream(dcpy_device *self) { return ((Device *)self)->own; }

// What is in one stream behind what is in another one so far: an event that is used once.
int32_t order_streams(Device &device, void *first, void *then)
{
    const int32_t event = -int32_t(++device.issued[ORDERS]);
    if (int32_t status = submit_to(device, first, Command{Command::RECORD, event, 1, {}})) return status;
    return submit_to(device, then, Command{Command::WAIT_EVENT, event, 1, {}});
}

int32_t use_stream(dcpy_device *self, void *stream)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    void *const before = device.stream;
    device.stream = stream ? stream : device.own;
    const bool is_busy = before != device.stream && device.waiting.count(before);
    return is_busy ? order_streams(device, before, device.stream) : DCPY_DONE;
}

int32_t order(dcpy_device *self, void *first, void *then)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    return first == then ? DCPY_DONE : order_streams(device, first, then);
}

int32_t take(dcpy_device *self, int64_t bytes, void *, void **place) { return allocate(self, bytes, place); }

int32_t give(dcpy_device *self, void *place, void *stream)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    Allocation *a = arena::owns(place) ? arena::holder(place) : nullptr;
    if (!a || a->is_released) return refuse(device, DCPY_MISUSED, "memory is given back that was not taken");
    a->is_released = true;
    auto run = [a](std::string &) { return hooks::released(a->number), arena::release(a), true; };
    return submit_to(device, stream ? stream : device.own, Command{Command::WORK, 0, 0, run});
}

int32_t holds(dcpy_device *self, const void *place)
{
    std::lock_guard guard(one_at_a_time);
    const Allocation *a = arena::owns(place) ? arena::holder(place) : nullptr;
    if (a && !a->is_released) return DCPY_DONE;
    return refuse(*(Device *)self, DCPY_MISUSED,
                  hexadecimal(place) + (a ? " has been released" : " is not in the memory of the simulated device"));
}

int32_t library_stream(dcpy_device *self, void **place)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    void *const handle = device.queue == 0 ? device.stream : nullptr;
    *place = &device.streams.try_emplace({device.queue, handle}, Stream{&device, device.queue, handle}).first->second;
    return DCPY_DONE;
}

int32_t library_failed(dcpy_device *self, int32_t status, const char *why)
{
    std::lock_guard guard(one_at_a_time);
    return refuse(*(Device *)self, status, why);
}

// What simulated libraries need of the simulator.
Services services = {
    [](void *place, std::function<void()> work) {
        std::lock_guard guard(one_at_a_time);
        const Stream &stream = *(const Stream *)place;
        Device &device = *stream.device;
        const Command command{Command::WORK, 0, 0, [work](std::string &) { return work(), true; }};
        if (stream.queue == 0) return submit_to(device, stream.handle, command) == DCPY_DONE;
        const int32_t before = device.queue;
        device.queue = stream.queue;
        const int32_t status = submit(device, command);
        device.queue = before;
        return status == DCPY_DONE;
    },
    [](const void *place, int64_t bytes) { return problem_of(place, 0, bytes, true); },
    [](const void *stream) -> int64_t { return ((const Stream *)stream)->device->number; },
    note_written,
};

}  // namespace

int32_t run_launch(Device &device, const Recorded &one)
{
    const dcpy_kernel_row &row = one.launch.unit->rows[one.launch.kernel];
    for (int32_t k = 0; k < row.parameters; ++k) {
        const std::string problem = row.places[k] ? problem_of_argument(*(void **)one.args->places[size_t(k)]) : "";
        if (!problem.empty())
            return refuse(device, DCPY_MISUSED, std::string("launch of kernel ") + row.name + ": argument " +
                                                    std::to_string(k) + ": " + problem);
    }
    Launch wanted = one.launch;
    wanted.number = ++launches;
    return give(device, [wanted, args = one.args, &device](std::string &text) mutable {
        wanted.args = args->places.data();
        return blocks::run(wanted, device.settings, text);
    });
}

}  // namespace simulator

// ---- For Python (library.py) ----

using namespace simulator;

#pragma GCC visibility push(default)

extern "C" {

// A device for the program whose kernels `unit` are (null: for memory only); null where the host has no addresses left.
dcpy_device *dcpy_simulator_open(const dcpy_unit *unit, const Settings *settings)
{
    std::lock_guard guard(one_at_a_time);
    std::string problem;
    if (!arena::prepare()) return nullptr;
    faults::watch();
    Device *device = new Device;
    (dcpy_device &)*device = {DCPY_TABLE_VERSION, nullptr, allocate, release, copy, copy_box, fill, launch, wait, failed,
                              message, use_queue, record, wait_event, pin, unpin, graph_begin, graph_end, graph_replay,
                              own_stream, use_stream, order, take, give, holds, nullptr, library_stream, library_failed};
    device->number = ++devices;
    device->unit = unit;
    device->settings = *settings;
    device->random = {settings->seed};
    device->queue = 0;
    device->is_lost = device->is_recording = false;
    device->own = device->stream = new_stream();
    const Allocation *block = arena::allocate(0, ERROR_BYTES, INT64_MAX, problem);
    if (!block) return delete device, nullptr;
    device->errors = (int64_t *)block->place;
    int64_t none[5];
    return failed(device, none), device;  // which sets it to 0
}

void dcpy_simulator_close(dcpy_device *self)
{
    std::lock_guard guard(one_at_a_time);
    Device *device = (Device *)self;
    if (device->libraries) device->libraries->close(device->libraries, device);
    drain(*device);
    forget(*device);
    if (Allocation *block = arena::holder(device->errors)) arena::release(block);
    delete device;
}

#ifdef DCPY_TEXT
extern const char *const dcpy_simulator_text;
const char *const dcpy_simulator_text = DCPY_TEXT;
#endif

const void *dcpy_simulator_services() { return &services; }

int64_t dcpy_simulator_number(const dcpy_device *self) { return ((const Device *)self)->number; }

// What host code has done since the last command; 0: nothing wrong.
int32_t dcpy_simulator_check(dcpy_device *self)
{
    std::lock_guard guard(one_at_a_time);
    return enter(*(Device *)self);
}

int64_t dcpy_simulator_in_use()
{
    std::lock_guard guard(one_at_a_time);
    return arena::in_use();
}

int64_t dcpy_simulator_launches()
{
    std::lock_guard guard(one_at_a_time);
    return launches;
}

}  // extern "C"

#pragma GCC visibility pop
