// One program's view of the device: its queues of commands, and what runs them.

#pragma once

#include "simulator.h"

#include <deque>
#include <functional>

namespace simulator {

struct Command {
    enum Kind { WORK, RECORD, WAIT_EVENT } kind;
    int32_t event;
    int64_t ticket;  // of an event: which of its records
    std::function<bool(std::string &problem)> run;
};

struct Device : dcpy_device {
    int64_t number;
    const dcpy_unit *unit;  // null: of no program, for memory only
    Settings settings;
    Random random;
    std::map<int32_t, std::deque<Command>> queues;
    std::map<int32_t, int64_t> issued, happened;  // records of events
    int32_t queue;
    bool is_lost;
    std::string text;  // the last message
};

// Each of these returns a status, and keeps a message where it is not 0.
int32_t refuse(Device &device, int32_t status, const std::string &message);
int32_t enter(Device &device);                    // what every function of the table begins with
int32_t submit(Device &device, Command command);  // into the present queue; runs some of what has been submitted
int32_t drain(Device &device);                    // runs all

}  // namespace simulator
