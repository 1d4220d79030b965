// Graphs of launches: recorded, replayed, and counted; arguments are looked at when a graph runs, as memory may be gone.

#include "commands.h"

namespace simulator {

namespace {

int64_t made = 0, updated = 0, replayed = 0;

// Whether a driver would change a graph into another one, and not make it anew.
bool has_same_kernels(const Graph &one, const Graph &other)
{
    if (one.size() != other.size()) return false;
    for (size_t k = 0; k < one.size(); ++k)
        if (one[k].launch.kernel != other[k].launch.kernel) return false;
    return true;
}

}  // namespace

int32_t graph_begin(dcpy_device *self, int32_t graph)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    device.is_recording = true;
    device.recorded = graph;
    device.recording.clear();
    return DCPY_DONE;
}

int32_t graph_end(dcpy_device *self, int32_t graph)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device, true)) return status;
    if (!device.is_recording || device.recorded != graph)
        return refuse(device, DCPY_MISUSED, "graph " + std::to_string(graph) + " has not been begun");
    device.is_recording = false;
    auto found = device.graphs.find(graph);
    ++(found != device.graphs.end() && has_same_kernels(found->second, device.recording) ? updated : made);
    device.graphs[graph] = std::move(device.recording);
    return DCPY_DONE;
}

int32_t graph_replay(dcpy_device *self, int32_t graph)
{
    std::lock_guard guard(one_at_a_time);
    Device &device = *(Device *)self;
    if (int32_t status = enter(device)) return status;
    auto found = device.graphs.find(graph);
    if (found == device.graphs.end())
        return refuse(device, DCPY_MISUSED, "graph " + std::to_string(graph) + " has not been recorded");
    ++replayed;
    for (const Recorded &one : found->second)
        if (int32_t status = run_launch(device, one)) return status;
    return DCPY_DONE;
}

}  // namespace simulator

#pragma GCC visibility push(default)

// How many graphs have been made, how often one was changed, and how often one ran.
extern "C" void dcpy_simulator_graphs(int64_t *numbers)
{
    numbers[0] = simulator::made;
    numbers[1] = simulator::updated;
    numbers[2] = simulator::replayed;
}

#pragma GCC visibility pop
