// Memory for the calls of a program: buffers are parts of a slab that stays from call to call, so that a call that is
// like the one before it asks the driver for nothing.
//
// Programs give back what they took last, first: parts are a stack, in which one that is given back early waits for
// those above it. A slab grows between calls, to what the largest one needed; what has no room meanwhile is apart.

#include <algorithm>

#include "driver.h"

namespace dcpy {

namespace {

constexpr int64_t ALIGNMENT = 256;

// Memory of the driver's own, in the order of the program's stream where there are pools.
Code from_driver(Program &program, int64_t bytes, char **place)
{
    const Driver &driver = program.driver();
    void *const pool = program.context->pool;
    void *found = nullptr;
    const Code code = pool ? driver.allocate_in(&found, (size_t)bytes, pool, program.stream())
                           : driver.allocate(&found, (size_t)bytes);
    if (code == 0) *place = (char *)found;
    return code;
}

Code to_driver(Program &program, void *place, void *stream)
{
    const Driver &driver = program.driver();
    return program.context->pool ? driver.release_in(place, stream) : driver.release(place);
}

Code drop(Program &program, void *stream, Workspace &space)
{
    if (space.size == 0) return 0;
    const Code code = to_driver(program, space.slab, stream);
    space.slab = nullptr;
    space.size = 0;
    return code;
}

// The slab as large as calls have needed, as far as it may be.
void grow(Program &program, Workspace &space)
{
    const int64_t may = program.max_workspace;
    const int64_t wanted = may < 0 ? space.most : std::min(space.most, may / ALIGNMENT*ALIGNMENT);
    if (wanted <= space.size) return;
    drop(program, program.stream(), space);
    if (from_driver(program, wanted, &space.slab) == 0) space.size = wanted;
}

// Slabs that no call uses, of all programs, and what the pool keeps: for one that does not get what it needs.
void make_room(Program &program)
{
    Context &context = *program.context;
    {
        const std::lock_guard<std::mutex> guard(context.programs_lock);
        for (Program *const other : context.programs) {
            std::unique_lock<std::mutex> turn(other->memory_lock, std::defer_lock);
            if (other != &program && !turn.try_lock()) continue;
            for (auto &[stream, space] : other->workspaces)
                if (space.is_idle() && space.size != 0) {
                    drop(*other, stream, space);
                    if (context.pool) program.driver().wait_stream(stream);
                }
        }
    }
    if (!context.pool) return;
    program.driver().wait_stream(program.stream());
    program.driver().trim_pool(context.pool, 0);
}

}  // namespace

int64_t Workspace::top() const { return parts.empty() ? 0 : parts.back().end; }

bool Workspace::is_idle() const { return parts.empty() && apart == 0; }

bool Workspace::has(const void *place) const
{
    return size != 0 && (const char *)place >= slab && (const char *)place < slab + size;
}

Code take(Program &program, int64_t bytes, void **place)
{
    const int64_t rounded = std::max<int64_t>(bytes, 1) + ALIGNMENT - 1;
    const int64_t needed = rounded/ALIGNMENT*ALIGNMENT;
    const std::lock_guard<std::mutex> guard(program.memory_lock);
    Workspace &space = program.workspaces[program.stream()];
    if (space.is_idle()) grow(program, space);
    const int64_t start = space.top();
    if (needed <= space.size - start) {
        space.parts.push_back({start, start + needed, true});
        *place = space.slab + start;
    } else {
        char *found = nullptr;
        Code code = from_driver(program, needed, &found);
        if (code == OUT_OF_MEMORY) {
            make_room(program);
            code = from_driver(program, needed, &found);
        }
        if (code != 0) return code;
        *place = found;
        space.apart += needed;
    }
    space.most = std::max(space.most, space.top() + space.apart);
    program.held[*place] = {bytes, needed, program.stream()};
    program.held_bytes += bytes;
    return 0;
}

bool is_held(Program &program, void *place)
{
    const std::lock_guard<std::mutex> guard(program.memory_lock);
    return program.held.count(place) != 0;
}

Code give_back(Program &program, void *place)
{
    const std::lock_guard<std::mutex> guard(program.memory_lock);
    const auto found = program.held.find(place);
    const Held held = found->second;
    Workspace &space = program.workspaces[held.stream];
    program.held.erase(found);
    program.held_bytes -= held.bytes;
    if (!space.has(place)) {
        space.apart -= held.needed;
        return to_driver(program, place, program.stream());
    }
    for (Part &part : space.parts)
        if (space.slab + part.start == place) part.is_taken = false;
    while (!space.parts.empty() && !space.parts.back().is_taken) space.parts.pop_back();
    return 0;
}

int64_t kept_bytes(Program &program)
{
    const std::lock_guard<std::mutex> guard(program.memory_lock);
    int64_t total = 0;
    for (const auto &[stream, space] : program.workspaces) total += space.size;
    return total;
}

void close_memory(Program &program)
{
    std::vector<void *> left;
    for (const auto &one : program.held) left.push_back(one.first);
    for (void *const place : left) give_back(program, place);
    const std::lock_guard<std::mutex> guard(program.memory_lock);
    for (auto &[stream, space] : program.workspaces) {
        if (stream == program.own || space.size == 0) drop(program, stream, space);
        else program.driver().release(space.slab);  // which waits: a stream of others may be gone
    }
}

}  // namespace dcpy
