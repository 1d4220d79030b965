// What simulated libraries (libraries/*.cpp), which are a library of their own, need of the simulator.

#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace simulator {

struct Services {
    bool (*submit)(void *stream, std::function<void()> work);            // into a queue; false: the device is lost
    std::string (*problem)(const void *place, int64_t bytes);            // with a place of the device; "" where it is one
    int64_t (*device)(const void *stream);                               // the number of the device of a queue
    void (*written)(const void *place, int64_t bytes);                   // a call has defined what is there
};

}  // namespace simulator
