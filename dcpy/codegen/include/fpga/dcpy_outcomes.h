// What came of a network: cycles, who waited for what in the end, and whose circle a deadlock is.
#pragma once

#include "dcpy_network.h"

namespace dcpy_fpga {

/// What came of a network.
struct outcome {
    bool deadlock = false;
    int64_t cycles = 0;
    const char *process = "", *stream = "";  // who waits first, and where
    bool pushing = false;
    int64_t fill = 0, depth = 0, number = -1, cycle = 0;
    char report[4096] = "";  // a line for each process
};

/// Where a process may wait for ever, and the number of the check that says so.
struct site {
    const char *process, *stream;
    bool pushing;
    int32_t number;
};

inline thread_local outcome last;
inline thread_local list<char> *circle = nullptr;  // of the last deadlock, an arrow a line; of this thread, for ever

/// The name of a process or of a queue, with the number of the copy.
template <class Named> int written(char *to, size_t room, const Named &one)
{
    return one.number < 0 ? snprintf(to, room, "%s", one.name)
                          : snprintf(to, room, "%s[%lld]", one.name, (long long)one.number);
}

DCPY_CALLED inline void network::tell()
{
    last = outcome();
    last_kernel = name;
    int64_t used = 0;
    const int64_t most = int64_t(sizeof last.report);
    for (int64_t k = 0; k < processes.size; ++k) {
        process &one = *processes[k];
        const int64_t cycles = one.real(one.tick);
        if (cycles > last.cycles) last.cycles = cycles;
        note("process", one.name, one.number, cycles, one.stalls);
        char *const line = last.report + used;
        const size_t room = size_t(most - used);
        int length = written(line, room, one);
        used = used + length < most ? used + length : most - 1;
        if (one.done) {
            length = snprintf(last.report + used, size_t(most - used), " has ended in cycle %lld\n", (long long)cycles);
        } else {
            channel &at = one.needs_token ? *one.needs_token : *one.needs_room;
            const bool pushing = !one.needs_token;
            char where[128];
            written(where, sizeof where, at);
            length = snprintf(last.report + used, size_t(most - used),
                              " waits in cycle %lld for %s '%s', which is %s: %lld of %lld%s\n", (long long)cycles,
                              pushing ? "room in" : "an element of", where, pushing ? "full" : "empty",
                              (long long)(at.pushed - at.released), (long long)at.depth,
                              one.outputs.size ? ", with results in its pipeline" : "");
            if (!last.deadlock) {
                last.deadlock = true;
                last.process = one.name;
                last.stream = at.name;
                last.pushing = pushing;
                last.fill = at.pushed - at.released;
                last.depth = at.depth;
                last.number = one.number;
                last.cycle = cycles;
            }
        }
        used = used + length < most ? used + length : most - 1;
    }
    note("kernel", name, -1, last.cycles, 0);
    draw();
}

/// Who is at the other end of the queue that a process waits at; null: nobody else was given it.
inline process *waits_for(const process &one)
{
    const channel &at = one.needs_token ? *one.needs_token : *one.needs_room;
    return at.ends[0] == &one ? at.ends[1] : at.ends[0];
}

/// Processes that wait for each other, an arrow for each. Without a circle: up to one that has ended.
DCPY_CALLED inline void network::draw()
{
    if (!circle) circle = new list<char>;
    circle->size = 0;
    process *from = nullptr;
    for (int64_t k = 0; k < processes.size && !from; ++k)
        if (!processes[k]->done) from = processes[k];
    process *inside = from;  // as many steps as there are processes lead into a circle, if there is one
    for (int64_t k = 0; k < processes.size && inside && !inside->done; ++k) inside = waits_for(*inside);
    for (int64_t k = 0; k < processes.size && inside && !inside->done; ++k) {  // the first process in it comes first
        process *one = inside;
        do one = waits_for(*one);
        while (one != inside && one != processes[k]);
        if (one != processes[k]) continue;
        from = one;
        break;
    }
    for (process *one = from, *next = nullptr; one; one = next) {
        char line[512], where[128], other[128] = "";
        const channel &at = one->needs_token ? *one->needs_token : *one->needs_room;
        next = waits_for(*one);
        if (next) written(other, sizeof other, *next);
        written(where, sizeof where, at);
        int length = written(line, sizeof line, *one);
        length += snprintf(line + length, sizeof line - size_t(length),
                           " --[ %s is %s, %lld of %lld, in cycle %lld%s ]--> %s%s\n", where,
                           one->needs_token ? "empty" : "full", (long long)(at.pushed - at.released),
                           (long long)at.depth, (long long)one->real(one->tick),
                           one->outputs.size ? ", and keeps results in its pipeline" : "", next ? other : "no process",
                           next && next->done ? ", which has ended" : "");
        for (int k = 0; k < length && k < int(sizeof line) - 1; ++k) circle->add(line[k]);
        if (next == from || (next && next->done)) break;
    }
    circle->add(0);
}

/// The check that the last network failed: its number, and the fill, the depth and the cycle; 0: none.
DCPY_CALLED inline int32_t failed(const site *sites, int64_t *values)
{
    if (!last.deadlock) return 0;
    values[0] = last.fill;
    values[1] = last.depth;
    values[2] = last.cycle;
    for (; sites[1].number; ++sites)  // the last one, where nobody waits as any of them: a deadlock is never silent
        if (!strcmp(sites->process, last.process) && !strcmp(sites->stream, last.stream) &&
            sites->pushing == last.pushing)
            break;
    return sites->number;
}

}  // namespace dcpy_fpga
