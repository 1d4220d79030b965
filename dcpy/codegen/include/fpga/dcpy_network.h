// Timed process networks: processes take turns on fibers, and each counts its cycles.
//
// A pipeline has a clock of its own, which stands still while the pipeline is frozen. `real` says which cycle of the
// board a tick of it is. An iteration takes its inputs at a tick and gives its outputs `depth` ticks later. Where an
// output has no room, all stand still. Where an input is missing, an `stp` pipeline stands still, too, and keeps what
// it has finished; in an `frp` pipeline only the new iteration waits. A token is seen one cycle after it was pushed,
// its place can be used one cycle after it was popped. See docs/explanation/fpga.md.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dcpy_fibers.h"
#include "dcpy_records.h"

namespace dcpy_fpga {

constexpr size_t STACK = size_t(64) << 20;  // of a process: local memories are on it

/// A place to run that can be left in the middle and come back to. Its stack has a guard page below it.
struct fiber {
    dcpy_fiber place = {};
    char *memory = nullptr;
    size_t room = 0;

    /// Gets a stack, on which `work` runs once somebody switches to it, and never returns; false: no memory.
    bool start(void (*work)())
    {
        const size_t page = size_t(sysconf(_SC_PAGESIZE));
        room = STACK + page;
        void *found = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (found == MAP_FAILED) return false;
        memory = static_cast<char *>(found);
        mprotect(memory, page, PROT_NONE);
        place.lowest = memory + page;
        place.size = int64_t(STACK);
        dcpy_fiber_begin(&place, work);
        return true;
    }

    void end()
    {
        if (memory) munmap(memory, room);
        memory = nullptr;
        dcpy_fiber_end(&place);
    }

    /// Leaves this fiber for another one; returns when somebody switches back.
    void switch_to(fiber &other) { dcpy_fiber_switch_to(&place, &other.place); }
};

enum style_t { stp, frp };

struct process;
struct network;

/// What the clock of a queue knows. Tokens have numbers from 0; those of a ring of `depth` places are remembered.
struct channel {
    const char *name;
    int64_t number = -1;   // in an array of queues
    int64_t depth;
    int64_t pushed = 0;    // tokens that have left the pipeline of the producer
    int64_t taken = 0;     // tokens whose values the consumer has
    int64_t released = 0;  // tokens whose places are free again
    int64_t waiting = 0;   // tokens in the pipeline of the producer
    list<int64_t> came, freed;     // cycles of tokens that came, of places that were free again: not compared yet
    int64_t fill = 0, peak = 0;    // of the places in use, by these cycles
    int64_t *visible;      // of each place: the cycle in which its token is seen
    int64_t *usable;       // of each place: the cycle in which it can be used again
    process *producer = nullptr, *consumer = nullptr;  // who waits here
    process *ends[2] = {};  // who was given it

    bool has_token() const { return taken < pushed; }
    bool has_room() const { return pushed - released < depth; }
    int64_t seen() const { return visible[taken % depth]; }
    int64_t room_at() const { return pushed < depth ? 0 : usable[pushed % depth]; }
    void (*settle)(channel &) = nullptr;  // moves the first waiting value into the ring

    /// How many places were in use at one time. Who comes in the cycle in which a place is free again gets that one.
    void compare(bool all)
    {
        int64_t in = 0, out = 0;
        while (in < came.size && (all || out < freed.size))
            if (out < freed.size && freed[out] <= came[in]) {
                --fill;
                ++out;
            } else {
                ++in;
                if (++fill > peak) peak = fill;
            }
        came.drop_first(in);
        freed.drop_first(out);
    }
};

struct output {
    channel *to;
    int64_t due;  // tick at which it leaves
};

struct freeze {
    int64_t tick, cycles;
};

/// A process: its place to run, its pipeline, and what it waits for.
struct process {
    const char *name = "";
    int64_t number = -1;  // of a copy
    network *in = nullptr;
    fiber stack;
    void (*work)(void *) = nullptr;
    void *closure = nullptr;
    bool done = false, queued = false;
    channel *needs_token = nullptr, *needs_room = nullptr;

    bool pipelined = false;
    style_t style = stp;
    int64_t ii = 1, depth = 1;
    int64_t start = 0;  // tick at which the iteration started that runs
    int64_t tick = 0;   // at which it is, or the next one will start
    int64_t end = 0;    // behind the last stage of the last iteration
    int64_t base = 0;   // cycles that the pipeline stood still before `tick`
    int64_t stalls = 0; // and in all
    list<freeze> freezes;     // those that come later: only an frp pipeline knows some
    list<output> outputs;     // on their way, in the order of `due`
    list<channel *> inputs;   // taken by this iteration, their places not free yet

    int64_t real(int64_t at)
    {
        int64_t cycles = base;
        for (int64_t k = 0; k < freezes.size && freezes[k].tick <= at; ++k) cycles += freezes[k].cycles;
        return at + cycles;
    }

    /// The first tick from `from` on whose cycle is not before `cycle`.
    int64_t tick_at(int64_t from, int64_t cycle)
    {
        int64_t stood = base;
        for (int64_t k = 0; k < freezes.size; ++k) {
            const int64_t found = cycle - stood > from ? cycle - stood : from;
            if (found < freezes[k].tick) return found;
            stood += freezes[k].cycles;
            if (freezes[k].tick > from) from = freezes[k].tick;
        }
        return cycle - stood > from ? cycle - stood : from;
    }

    void stand_still(int64_t at, int64_t cycles)
    {
        if (cycles <= 0) return;
        stalls += cycles;
        freezes.add({at, cycles});
        for (int64_t k = freezes.size - 1; k > 0 && freezes[k].tick < freezes[k - 1].tick; --k) {
            const freeze other = freezes[k];
            freezes[k] = freezes[k - 1];
            freezes[k - 1] = other;
        }
    }

    void go_to(int64_t at)
    {
        tick = at;
        int64_t past = 0;
        while (past < freezes.size && freezes[past].tick <= tick) base += freezes[past++].cycles;
        if (past) freezes.drop_first(past);
    }
};

inline thread_local process *current = nullptr;

/// What all queues are, whatever their tokens.
struct queue {
    dcpy_fpga::channel channel;
};

/// The processes of a kernel. They start when the block that declares it is left.
struct network {
    const char *name;
    fiber host;
    list<process *> processes, ready;
    int64_t first = 0;  // of `ready`, those before it have had their turn

    explicit network(const char *named) : name(named) {}
    network(const network &) = delete;
    network &operator=(const network &) = delete;
    ~network() { run(); }

    /// Notes at which of its arguments a process meets others.
    struct introduced {
        process *who;

        void meet(queue &at) const { at.channel.ends[at.channel.ends[0] ? 1 : 0] = who; }
        void meet(...) const {}
        template <class... Arguments> void meets(Arguments &&...arguments) const { (meet(arguments), ...); }
    };

    template <class Work> introduced add(const char *named, int64_t number, const Work &work)
    {
        process *added = new process;
        added->name = named;
        added->number = number;
        added->in = this;
        added->closure = new Work(work);
        added->work = [](void *closure) { (*static_cast<Work *>(closure))(); delete static_cast<Work *>(closure); };
        processes.add(added);
        wake(added);
        return {added};
    }

    void wake(process *who)
    {
        if (!who || who->queued || who->done) return;
        who->queued = true;
        ready.add(who);
    }

    void run();
    void tell();
    void draw();
};

/// What a fiber runs first.
inline void begin()
{
    process *const self = current;
    self->work(self->closure);
    self->done = true;
    self->stack.switch_to(self->in->host);
}

/// Gives the turn away until a token or room is there.
DCPY_CALLED inline void wait(channel *token, channel *room)
{
    process *const self = current;
    if (!self) {
        fprintf(stderr, "%s: no process runs beside this one\n", token ? token->name : room->name);
        abort();
    }
    self->needs_token = token;
    self->needs_room = room;
    if (token) token->consumer = self;
    if (room) room->producer = self;
    self->stack.switch_to(self->in->host);
    if (token) token->consumer = nullptr;
    if (room) room->producer = nullptr;
    self->needs_token = self->needs_room = nullptr;
}

/// The outputs that leave first, all at one tick: they leave together, and `false` if one has no room yet.
DCPY_CALLED inline bool leave_first(process &self)
{
    const int64_t due = self.outputs[0].due;
    int64_t count = 0, cycle = self.real(due);
    for (; count < self.outputs.size && self.outputs[count].due == due; ++count) {
        channel &to = *self.outputs[count].to;
        if (!to.has_room()) return false;
        if (to.room_at() > cycle) cycle = to.room_at();
    }
    self.stand_still(due, cycle - self.real(due));
    for (int64_t k = 0; k < count; ++k) {
        channel &to = *self.outputs[k].to;
        to.visible[to.pushed % to.depth] = cycle + 1;
        to.came.add(cycle);
        to.settle(to);
        ++to.pushed;
        --to.waiting;
        if (to.consumer) to.consumer->in->wake(to.consumer);
    }
    self.outputs.drop_first(count);
    return true;
}

/// The channel among the outputs that leave first which has no room.
inline channel *full(process &self)
{
    for (int64_t k = 0; k < self.outputs.size; ++k)
        if (!self.outputs[k].to->has_room()) return self.outputs[k].to;
    return nullptr;
}

/// All outputs leave that are due before a tick.
inline void leave_before(process &self, int64_t tick)
{
    while (self.outputs.size && self.outputs[0].due < tick)
        if (!leave_first(self)) wait(nullptr, full(self));
}

/// An iteration has taken and given all of a tick: what leaves at it does, then places of its inputs are free.
inline void end_step(process &self)
{
    leave_before(self, self.tick + 1);
    self.go_to(self.tick);
    const int64_t cycle = self.real(self.tick) + 1;
    for (int64_t k = 0; k < self.inputs.size; ++k) {
        channel &from = *self.inputs[k];
        from.usable[from.released % from.depth] = cycle;
        from.freed.add(cycle);
        if (from.freed.size >= 4096) from.compare(false);
        ++from.released;
        if (from.producer) from.producer->in->wake(from.producer);
    }
    self.inputs.size = 0;
}

/// Waits for the next token of a queue, in time and in turn. A queue gives one token in a tick.
inline void take(channel &from)
{
    if (!current) wait(&from, nullptr);
    process &self = *current;
    for (int64_t k = 0; k < self.inputs.size; ++k)
        if (self.inputs[k] == &from) {
            end_step(self);
            self.go_to(self.tick + 1);
            break;
        }
    if (self.style == stp || !self.pipelined) {
        leave_before(self, self.tick);
        while (!from.has_token()) wait(&from, nullptr);
        self.stand_still(self.tick, from.seen() - self.real(self.tick));
    } else {
        for (;;) {
            const bool known = from.has_token();
            const int64_t tick = known ? self.tick_at(self.tick, from.seen()) : 0;
            if (known && (!self.outputs.size || self.outputs[0].due > tick)) {
                self.start += tick - self.tick;  // a bubble
                self.go_to(tick);
                break;
            }
            if (!self.outputs.size) wait(&from, nullptr);
            else if (!leave_first(self)) wait(known ? nullptr : &from, full(self));
        }
    }
    self.inputs.add(&from);
}

/// Puts an output into the pipeline. A queue gets one token in a tick.
inline void give(channel &to)
{
    if (!current) wait(nullptr, &to);
    process &self = *current;
    ++to.waiting;
    int64_t due = self.tick + (self.pipelined ? self.depth : 0);
    for (int64_t k = self.outputs.size - 1; k >= 0 && self.outputs[k].due >= due; --k)
        if (self.outputs[k].to == &to) {
            due = self.outputs[k].due + 1;
            break;
        }
    self.outputs.add({&to, due});
    for (int64_t k = self.outputs.size - 1; k > 0 && self.outputs[k].due < self.outputs[k - 1].due; --k) {
        const output other = self.outputs[k];
        self.outputs[k] = self.outputs[k - 1];
        self.outputs[k - 1] = other;
    }
}

/// A statement that is in no pipeline takes a cycle.
inline void step()
{
    process &self = *current;
    if (self.pipelined) return;
    end_step(self);
    self.go_to(self.tick + 1);
}

DCPY_CALLED inline void enter(int64_t ii, style_t style, int64_t depth)
{
    process &self = *current;
    self.pipelined = true;
    self.ii = ii;
    self.style = style;
    self.depth = depth;
    self.start = self.end = self.tick;
}

DCPY_CALLED inline void iteration()
{
    process &self = *current;
    end_step(self);
    self.end = self.tick + self.depth + 1;
    const int64_t next = self.start + self.ii;
    self.go_to(next > self.tick ? next : self.tick + 1);
    self.start = self.tick;
}

/// The pipeline runs empty.
DCPY_CALLED inline void leave()
{
    process &self = *current;
    leave_before(self, INT64_MAX);
    self.go_to(self.end);
    self.pipelined = false;
}

DCPY_CALLED inline void network::run()
{
    if (!processes.size) return;  // it has run
    process *const outer = current;
    for (int64_t k = 0; k < processes.size; ++k)
        if (!processes[k]->stack.start(begin)) {
            fprintf(stderr, "%s: no memory is left for the stack of %s\n", name, processes[k]->name);
            abort();
        }
    while (first < ready.size) {
        if (first > 1024) {
            ready.drop_first(first);
            first = 0;
        }
        current = ready[first++];
        current->queued = false;
        host.switch_to(current->stack);
    }
    current = outer;
    tell();
    for (int64_t k = 0; k < processes.size; ++k) {
        processes[k]->stack.end();
        delete processes[k];
    }
    processes.size = 0;
}

}  // namespace dcpy_fpga
