// What is seen of a launch whose kernels were compiled with hooks: every access to memory, with its place in the code.
//
// hooks.cpp takes accesses in, races.cpp asks which of them are not ordered, traffic.cpp counts what they move.

#pragma once

#include "simulator.h"

namespace simulator::hooks {

enum Space : uint8_t { GLOBAL, SHARED, PINNED };

// An instruction of a kernel that accesses memory.
struct Site {
    const void *code;
    Space space;
    int32_t how;
    int64_t bytes;          // of one access
    int64_t accesses;
    int64_t requests;       // of warps: one for the lanes that come to it together
    int64_t units, least;   // 32-byte sectors of global memory, or turns of the banks of shared memory; how few can do
};

// Two accesses that nothing orders; `first` came first in the example.
struct Race {
    int32_t first, second;  // sites
    int32_t first_how, second_how;
    bool between_blocks;
    Space space;
    int64_t count;
    std::string example;
};

// Memory that a site reads, and nobody has written.
struct Unwritten {
    int32_t site;
    int64_t count;
    std::string example;
};

struct Kernel {
    const char *image = nullptr;            // where the library with its code begins
    int64_t launches, threads;
    int64_t read_bytes, written_bytes;      // that threads ask for, of global memory
    int64_t read_sectors, written_sectors;  // distinct ones of each launch: what moves if nothing moves twice
    std::vector<Site> sites;
    std::map<const void *, int32_t> known;  // sites by their code
    std::vector<Race> races;
    std::vector<Unwritten> unwritten;
};

using Report = std::map<std::string, Kernel>;  // by the names of kernels

struct Access {
    uint64_t place;
    int64_t bytes;
    int32_t how, site, thread;
    Space space;
};

// ---- hooks.cpp ----
Report &report(int64_t device);
Kernel &kernel();                  // the one that runs
const Site &site(int32_t number);  // of it

// ---- races.cpp ----
void order_launch(const Launch &launch, int32_t warp);
void order_block(int64_t block);
void order_barrier();
void order_warp(int32_t warp);
void order_ticket(bool is_last);
void look_for_races(const Access &access);
void written(const void *place, int64_t bytes);  // by a copy, or a fill
void forget(int64_t allocation);

// ---- traffic.cpp ----
void count_launch(const Launch &launch, int32_t warp);
void count(const Access &access);
void count_turn();                 // all threads have come as far as this: what is left of their requests is whole

}  // namespace simulator::hooks
