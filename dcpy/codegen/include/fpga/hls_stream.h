// The queues of Vitis HLS, simulated: bounded, blocking, and timed. Kernels are compiled with this file as they ship.
//
// Stock hls::stream never blocks and has no bound: what hangs on a board runs through there, and the other way round.
#pragma once

#include "dcpy_outcomes.h"

#define DCPY_SIMULATION 1
#define DCPY_NETWORK(name) dcpy_fpga::network dcpy_processes(#name);
#define DCPY_PROCESS(function, arguments) dcpy_processes.add(#function, -1, [&] { function arguments; }).meets arguments;
#define DCPY_COPY(function, number, arguments) dcpy_processes.add(#function, number, [&] { function arguments; }).meets arguments;
#define DCPY_QUEUES(queues) hls::name_all(queues, #queues);
#define DCPY_RUN dcpy_processes.run();
#define DCPY_PIPELINE(ii, style, depth) dcpy_fpga::enter(ii, dcpy_fpga::style, depth);
#define DCPY_ITERATION dcpy_fpga::iteration();
#define DCPY_DRAIN dcpy_fpga::leave();
/// A function that says which check the last kernel failed, and how; 0: it came to its end.
#define DCPY_SITES(name, ...)                                                      \
    extern "C" int32_t name(int64_t *values)                                       \
    {                                                                              \
        static const dcpy_fpga::site sites[] = {__VA_ARGS__, {"", "", false, 0}};  \
        return dcpy_fpga::failed(sites, values);                                   \
    }
/// A function that tells, as text, how long kernels have run since it was called last, and how full queues were.
#define DCPY_TOLD(name) \
    extern "C" const char *name() { return dcpy_fpga::told(); }
/// A function that draws, as text, who waits for whom since the last kernel has stopped for ever.
#define DCPY_CIRCLE(name) \
    extern "C" const char *name() { return dcpy_fpga::circle ? dcpy_fpga::circle->items : ""; }

namespace hls {

/// A first-in, first-out queue of `DEPTH` tokens.
template <class T, int DEPTH = 2> class stream : public dcpy_fpga::queue {
    static_assert(DEPTH > 0, "a queue without a place hangs");

    T values[DEPTH];
    int64_t visible[DEPTH], usable[DEPTH];
    dcpy_fpga::list<T> waiting;  // pushed, and still in the pipeline
    int64_t gone = 0;            // of those

    static void settle(dcpy_fpga::channel &which)
    {
        stream &self = static_cast<stream &>(reinterpret_cast<dcpy_fpga::queue &>(which));  // its first member
        self.values[which.pushed % DEPTH] = self.waiting[self.gone++];
        if (self.gone == self.waiting.size) self.gone = self.waiting.size = 0;
    }

public:
    DCPY_CALLED explicit stream(const char *name = "a stream")
    {
        channel.name = name;
        channel.depth = DEPTH;
        channel.visible = visible;
        channel.usable = usable;
        channel.settle = settle;
    }
    DCPY_CALLED ~stream()
    {
        channel.compare(true);
        dcpy_fpga::note("queue", channel.name, -1, channel.peak, channel.depth);
    }
    void call(const char *name, int64_t number)
    {
        channel.name = name;
        channel.number = number;
    }
    stream(const stream &) = delete;
    stream &operator=(const stream &) = delete;

    /// The next token, as soon as there is one.
    DCPY_CALLED T read()
    {
        dcpy_fpga::take(channel);
        const T value = values[channel.taken++ % DEPTH];
        dcpy_fpga::step();
        return value;
    }
    void read(T &value) { value = read(); }

    /// Gives a token, as soon as there is room.
    DCPY_CALLED void write(const T &value)
    {
        if (gone > 64) {
            waiting.drop_first(gone);
            gone = 0;
        }
        waiting.add(value);
        dcpy_fpga::give(channel);
        dcpy_fpga::step();
    }

    stream &operator>>(T &value)
    {
        value = read();
        return *this;
    }
    stream &operator<<(const T &value)
    {
        write(value);
        return *this;
    }

    /// Tokens that are left, once all is over: on a board they would be the first of the next run.
    int64_t left() const { return channel.pushed - channel.released + channel.waiting; }
    /// Places that were in use at one time, once all is over.
    int64_t most()
    {
        channel.compare(true);
        return channel.peak;
    }
};

/// The queues of an array have its name, and numbers.
template <class T, int DEPTH, size_t COUNT> void name_all(stream<T, DEPTH> (&queues)[COUNT], const char *name)
{
    for (size_t k = 0; k < COUNT; ++k) queues[k].call(name, int64_t(k));
}

}  // namespace hls
