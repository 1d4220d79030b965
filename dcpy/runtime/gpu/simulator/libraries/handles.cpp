// Handles, and what is said of those who use them badly.

#include "simulated.h"

#include <memory>

namespace simulated {

const simulator::Services *services = nullptr;

namespace {

std::string reason;
std::map<std::string, std::map<void *, Handle>> all;
intptr_t made = 0;

}  // namespace

int refuse(int status, const std::string &why)
{
    reason = why;
    return status;
}

bool is_place(const char *what, const void *place, int64_t bytes, int &status)
{
    if (status || bytes <= 0) return status == 0;
    const std::string problem = services->problem(place, bytes);
    if (!problem.empty()) status = refuse(INTERNAL_ERROR, std::string(what) + ": " + problem);
    return status == 0;
}

std::map<void *, Handle> &handles(const char *library) { return all[library]; }

Handle *handle_of(const char *library, void *handle, int &status)
{
    auto &known = handles(library);
    const auto found = known.find(handle);
    if (found == known.end())
        status = refuse(NOT_INITIALIZED, "the handle was not created, or has been destroyed");
    else if (!found->second.stream)
        status = refuse(INTERNAL_ERROR, "the handle was given no queue: it would use the default one");
    return status ? nullptr : &found->second;
}

int set_stream(const char *library, void *handle, void *stream)
{
    auto &known = handles(library);
    const auto found = known.find(handle);
    if (found == known.end()) return refuse(NOT_INITIALIZED, "the handle was not created, or has been destroyed");
    const int64_t device = services->device(stream);
    if (found->second.device && found->second.device != device)
        return refuse(INTERNAL_ERROR, "the queue is of another program than those that the handle was made for");
    found->second.device = device;
    found->second.stream = stream;
    found->second.workspace = nullptr;  // as the real one does
    found->second.workspace_bytes = 0;
    return DONE;
}

int make_handle(const char *library, void **handle)
{
    *handle = (void *)++made;
    handles(library)[*handle] = Handle{};
    return DONE;
}

int drop_handle(const char *library, void *handle)
{
    return handles(library).erase(handle) ? DONE : refuse(NOT_INITIALIZED, "the handle is destroyed twice");
}

std::string question(const char *function, int64_t m, int64_t n, int64_t ld)
{
    return std::string(function) + " " + std::to_string(m) + " " + std::to_string(n) + " " + std::to_string(ld);
}

int ask(void *handle, const std::string &what, int64_t elements, int *answer)
{
    int status = 0;
    Handle *const ours = handle_of(SOLVER, handle, status);
    if (!ours) return status;
    ours->asked[what] = elements;
    *answer = int(elements);
    return DONE;
}

void check_room(const Handle &handle, const std::string &what, const void *place, int64_t elements, int64_t size, int &status)
{
    const auto found = handle.asked.find(what);
    if (!status && found == handle.asked.end())
        status = refuse(INTERNAL_ERROR, "nobody has asked how much memory " + what + " needs");
    else if (!status && elements >= 0 && elements < found->second)
        status = refuse(INTERNAL_ERROR, "a workspace of " + std::to_string(elements) + " elements, not " +
                                            std::to_string(found->second));
    if (!status) is_place("the workspace", place, found->second * size, status);
}

}  // namespace simulated

using namespace simulated;

DCPY_SIMULATED void dcpy_simulate(const void *found) { services = (const simulator::Services *)found; }
DCPY_SIMULATED const char *dcpy_why() { return reason.c_str(); }

// How many handles and plans there are: none of a program's that is closed.
DCPY_SIMULATED int64_t dcpy_simulated_handles()
{
    int64_t count = 0;
    for (const auto &[library, known] : all) count += int64_t(known.size());
    return count;
}
