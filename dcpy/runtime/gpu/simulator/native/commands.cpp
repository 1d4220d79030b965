// Queues: commands are run as late as they may be, and in any order that queues and events allow, as the seed decides.

#include "commands.h"

#include <dlfcn.h>

#include <algorithm>

namespace simulator {

namespace {

constexpr size_t LONGEST = 1024;   // queue, as those of devices: who submits more waits
std::map<void *, Queue> streams;   // of the process, by their handles
std::vector<Device *> opened;      // devices that have submitted something

bool may_run(const Command &command)
{
    if (command.kind != Command::WAIT_EVENT) return true;
    auto found = command.device->happened.find(command.event);
    return found != command.device->happened.end() && found->second >= command.ticket;
}

// The queues that a device's commands are in.
std::vector<Queue *> queues_of(Device &device)
{
    std::vector<Queue *> found;
    for (auto &[handle, count] : device.waiting) found.push_back(&streams[handle]);
    for (auto &[number, queue] : device.queues)
        if (!queue.empty()) found.push_back(&queue);
    return found;
}

// A queue whose first command may run; null: there is none. Those of others come when a device's own wait for them, and
// not before: who forgets to wait finds nothing done.
Queue *pick(Device &device)
{
    std::vector<Queue *> found;
    for (Queue *queue : queues_of(device))
        if (may_run(queue->front())) found.push_back(queue);
    if (found.empty()) {
        for (auto &[handle, queue] : streams)
            if (!queue.empty() && may_run(queue.front())) found.push_back(&queue);
        for (Device *other : opened)
            for (auto &[number, queue] : other->queues)
                if (!queue.empty() && may_run(queue.front())) found.push_back(&queue);
    }
    if (found.empty()) return nullptr;
    return found[device.settings.seed == 0 ? 0 : size_t(device.random.below(int64_t(found.size())))];
}

Command take_first(Queue &queue)
{
    Command command = std::move(queue.front());
    queue.pop_front();
    auto &waiting = command.device->waiting;
    const auto found = waiting.find(command.stream);
    if (found != waiting.end() && --found->second == 0) waiting.erase(found);
    if (command.stream && queue.empty()) streams.erase(command.stream);
    return command;
}

// At most `most` commands; fewer where those that are left wait for events.
int32_t run_some(Device &device, int64_t most)
{
    std::string problem;
    arena::open();
    for (; most > 0 && !is_idle(device); --most) {
        Queue *queue = pick(device);
        if (!queue) break;
        const Command command = take_first(*queue);
        if (command.kind == Command::RECORD) command.device->happened[command.event] = command.ticket;
        if (command.kind == Command::WAIT_EVENT && command.event < 0) command.device->happened.erase(command.event);
        if (command.kind != Command::WORK || command.run(problem)) continue;
        command.device->is_lost = true;
        forget(*command.device);
        refuse(*command.device, DCPY_DEVICE_LOST, problem);
    }
    arena::close();
    if (faults::stray.happened) {
        faults::stray.happened = false;
        arena::seal();
    }
    return device.is_lost ? DCPY_DEVICE_LOST : DCPY_DONE;
}

std::string code_name(const void *code)
{
    Dl_info found;
    if (!code || !dladdr(code, &found) || !found.dli_fname) return "code of unknown origin";
    const char *start = found.dli_saddr ? (const char *)found.dli_saddr : (const char *)found.dli_fbase;
    const std::string name = found.dli_saddr && found.dli_sname ? std::string(found.dli_sname) + " in " : "";
    return name + found.dli_fname + ", " + std::to_string((const char *)code - start) + " bytes behind its start";
}

}  // namespace

int32_t refuse(Device &device, int32_t status, const std::string &message)
{
    device.text = message;
    return status;
}

int32_t enter(Device &device, bool records)
{
    if (device.is_lost) return DCPY_DEVICE_LOST;
    if (device.is_recording && !records)
        return refuse(device, DCPY_MISUSED, "only launches can be recorded: graph " + std::to_string(device.recorded) +
                                                " is not ended");
    if (!faults::stray.happened) return DCPY_DONE;
    faults::stray.happened = false;
    arena::seal();
    return refuse(device, DCPY_MISUSED,
                  std::string(faults::stray.where) + "; the access is in " + code_name(faults::stray.code));
}

void *new_stream()
{
    static intptr_t last = 0x1000;  // not a number that means a default stream
    return (void *)(last += 0x10);
}

bool is_idle(const Device &device)
{
    auto is_empty = [](const auto &one) { return one.second.empty(); };
    return device.waiting.empty() && std::all_of(device.queues.begin(), device.queues.end(), is_empty);
}

void forget(Device &device)
{
    for (auto &[handle, count] : device.waiting) {
        Queue &queue = streams[handle];
        auto is_own = [&](const Command &command) { return command.device == &device; };
        queue.erase(std::remove_if(queue.begin(), queue.end(), is_own), queue.end());
        if (queue.empty()) streams.erase(handle);
    }
    device.waiting.clear();
    device.queues.clear();
    opened.erase(std::remove(opened.begin(), opened.end(), &device), opened.end());
}

int32_t run_early(Device &device, const Queue &queue)
{
    if (!device.settings.asynchronous) return drain(device);
    if (queue.size() > LONGEST) return run_some(device, 1);
    const bool is_early = device.settings.seed != 0 && device.random.below(8) == 0;
    return is_early ? run_some(device, 1 + device.random.below(4)) : DCPY_DONE;
}

int32_t submit_to(Device &device, void *stream, Command command)
{
    command.device = &device;
    command.stream = stream;
    ++device.waiting[stream];
    Queue &queue = streams[stream];
    queue.push_back(std::move(command));
    return run_early(device, queue);
}

int32_t submit(Device &device, Command command)
{
    if (device.queue == 0) return submit_to(device, device.stream, std::move(command));
    if (std::find(opened.begin(), opened.end(), &device) == opened.end()) opened.push_back(&device);
    command.device = &device;
    Queue &queue = device.queues[device.queue];
    queue.push_back(std::move(command));
    return run_early(device, queue);
}

int32_t drain(Device &device)
{
    const int32_t status = is_idle(device) ? DCPY_DONE : run_some(device, INT64_MAX);
    if (status != DCPY_DONE || is_idle(device)) return status;
    const bool is_first = !device.waiting.empty();
    const Queue &queue = is_first ? streams[device.waiting.begin()->first] : *queues_of(device)[0];
    int32_t number = 0;
    for (auto &[other, one] : device.queues)
        if (&one == &queue) number = other;
    device.is_lost = true;
    return refuse(device, DCPY_DEVICE_LOST,
                  "queue " + std::to_string(number) + " waits for event " + std::to_string(queue.front().event)
                      + " for ever");
}

int32_t drain_stream(Device &device)
{
    const auto found = streams.find(device.stream);
    if (found != streams.end() && found->second.back().device != &device) {
        ++device.waiting[device.stream];
        found->second.push_back(
            Command{Command::WORK, 0, 0, [](std::string &) { return true; }, &device, device.stream});
    }
    return drain(device);
}

}  // namespace simulator
