// Queues: commands are run as late as they may be, and in any order that queues and events allow, as the seed decides.

#include "commands.h"

#include <dlfcn.h>

namespace simulator {

namespace {

bool may_run(const Device &device, const Command &command)
{
    if (command.kind != Command::WAIT_EVENT) return true;
    auto found = device.happened.find(command.event);
    return found != device.happened.end() && found->second >= command.ticket;
}

// A queue whose first command may run; null: there is none.
std::deque<Command> *pick(Device &device)
{
    std::vector<std::deque<Command> *> found;
    for (auto &[number, queue] : device.queues)
        if (!queue.empty() && may_run(device, queue.front())) found.push_back(&queue);
    if (found.empty()) return nullptr;
    return found[device.settings.seed == 0 ? 0 : size_t(device.random.below(int64_t(found.size())))];
}

bool is_idle(const Device &device)
{
    for (auto &[number, queue] : device.queues)
        if (!queue.empty()) return false;
    return true;
}

// At most `most` commands; fewer where those that are left wait for events.
int32_t run_some(Device &device, int64_t most)
{
    std::string problem;
    int32_t status = DCPY_DONE;
    arena::open();
    for (; most > 0 && status == DCPY_DONE; --most) {
        std::deque<Command> *queue = pick(device);
        if (!queue) break;
        const Command command = std::move(queue->front());
        queue->pop_front();
        if (command.kind == Command::RECORD) device.happened[command.event] = command.ticket;
        if (command.kind != Command::WORK || command.run(problem)) continue;
        device.is_lost = true;
        device.queues.clear();
        status = refuse(device, DCPY_DEVICE_LOST, problem);
    }
    arena::close();
    if (faults::stray.happened) {
        faults::stray.happened = false;
        arena::seal();
    }
    return status;
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

int32_t submit(Device &device, Command command)
{
    device.queues[device.queue].push_back(std::move(command));
    if (!device.settings.asynchronous) return drain(device);
    const bool is_early = device.settings.seed != 0 && device.random.below(8) == 0;
    return is_early ? run_some(device, 1 + device.random.below(4)) : DCPY_DONE;
}

int32_t drain(Device &device)
{
    const int32_t status = is_idle(device) ? DCPY_DONE : run_some(device, INT64_MAX);
    if (status != DCPY_DONE || is_idle(device)) return status;
    for (auto &[number, queue] : device.queues)
        if (!queue.empty()) {
            const std::string event = std::to_string(queue.front().event);
            device.is_lost = true;
            return refuse(device, DCPY_DEVICE_LOST,
                          "queue " + std::to_string(number) + " waits for event " + event + " for ever");
        }
    return DCPY_DONE;
}

}  // namespace simulator
