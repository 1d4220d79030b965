// One program's view of the device: its queues of commands, and what runs them.

#pragma once

#include "simulator.h"

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

namespace simulator {

struct Device;

struct Command {
    enum Kind { WORK, RECORD, WAIT_EVENT } kind;
    int32_t event;
    int64_t ticket;  // of an event: which of its records
    std::function<bool(std::string &problem)> run;
    Device *device = nullptr;  // whose command, and whose event, this is
    void *stream = nullptr;    // that it is in; null: a queue of the device's
};

// The values of a kernel's arguments, kept until it runs.
struct Arguments {
    std::vector<char> bytes;
    std::vector<void *> places;
};

struct Recorded {
    Launch launch;
    std::shared_ptr<Arguments> args;
};

using Graph = std::vector<Recorded>;

using Queue = std::deque<Command>;
struct Device;

struct Stream {  // a queue, as libraries know it
    Device *device;
    int32_t queue;
    void *handle;  // of the process, in queue 0
};

struct Device : dcpy_device {
    int64_t number;
    const dcpy_unit *unit;  // null: of no program, for memory only
    Settings settings;
    Random random;
    std::map<int32_t, Queue> queues;              // but queue 0
    void *own, *stream;                           // queue 0: the program's own one, and the present one
    std::map<void *, int64_t> waiting;            // commands of the device in each stream
    std::map<std::pair<int32_t, void *>, Stream> streams;  // that libraries know
    std::map<int32_t, int64_t> issued, happened;  // records of events
    int32_t queue;
    bool is_lost, is_recording;
    int32_t recorded;                  // the number of the graph that is recorded
    Graph recording;
    std::map<int32_t, Graph> graphs;
    std::string text;  // the last message
};

extern std::recursive_mutex one_at_a_time;  // table.cpp: what every function of the table holds

constexpr int32_t ORDERS = -1;  // under which events of `order`, with negative numbers, are counted

void *new_stream();
bool is_idle(const Device &device);
int32_t submit_to(Device &device, void *stream, Command command);  // a stream of the process
void forget(Device &device);                                       // what it has submitted and nobody has run

// Each of these returns a status, and keeps a message where it is not 0.
int32_t refuse(Device &device, int32_t status, const std::string &message);
int32_t enter(Device &device, bool records = false);  // what every function of the table begins with
int32_t submit(Device &device, Command command);  // into the present queue; runs some of what has been submitted
int32_t drain(Device &device);                    // runs all
int32_t drain_stream(Device &device);             // and what others have put into its stream
int32_t run_launch(Device &device, const Recorded &one);  // table.cpp: into the present queue

// graphs.cpp
int32_t graph_begin(dcpy_device *self, int32_t graph);
int32_t graph_end(dcpy_device *self, int32_t graph);
int32_t graph_replay(dcpy_device *self, int32_t graph);

}  // namespace simulator
