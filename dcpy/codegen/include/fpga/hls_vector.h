// Tokens of several elements as Vitis HLS has them, for the simulation.
#pragma once

#include <cstddef>

namespace hls {

/// `N` elements side by side, which move through a queue, or a port of the memory, in one cycle.
template <class T, std::size_t N> class vector {
    T lanes[N] = {};

public:
    T &operator[](std::size_t lane) { return lanes[lane]; }
    const T &operator[](std::size_t lane) const { return lanes[lane]; }
};

}  // namespace hls
