// The simulator of a GPU: what its files tell each other. Read arena.cpp (memory), fibers.cpp, blocks.cpp (threads),
// commands.cpp (queues), table.cpp, faults.cpp (addresses that nobody may touch).
//
// There is one device in a process: one memory, and one launch at a time, on the thread that asked for it.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#define DCPY_SIMULATOR
#define DCPY_SIMULATOR_ITSELF
#include "dcpy_device.h"
#include "dcpy_fibers.h"
#include "dcpy_table.h"

namespace simulator {

// ---- Numbers that look random, and repeat ----

struct Random {
    uint64_t state;
    uint64_t next();
    int64_t below(int64_t count) { return count > 1 ? int64_t(next() % uint64_t(count)) : 0; }
};

// ---- arena.cpp: the memory of the device ----

constexpr int64_t PAGE = 4096, ALIGNMENT = 256;
constexpr uint8_t POISON = 0xFF;      // NaN in every float type
constexpr int64_t SHARED_LIMIT = 227 * 1024, SHARED_ROOM = 1 << 19;

struct Allocation {
    int64_t owner;       // the number of the program's device
    int64_t number;      // counts allocations, in the order of the program
    char *place;
    int64_t bytes;
    char *first, *last;  // the pages that are its own, without the guard behind
    bool is_released, is_gone;  // by a command that has been given, that has been run
    bool is_watched;            // everything that is written there is known (hooks.cpp)
};

namespace arena {
bool prepare();                               // reserves the addresses, once; false where there are none
Allocation *allocate(int64_t owner, int64_t bytes, int64_t limit, std::string &problem);
void release(Allocation *allocation);         // what `is_gone`: touched, it faults
Allocation *holder(const void *place);        // whose bytes, or red zones, these are; null: nobody's
bool owns(const void *place);                 // whether the address is one of the device's
std::string describe(const void *place);      // where that is, in words
void open();                                  // for kernels and copies; counted
void close();
void reopen();                                // behind a signal handler, which has rights of its own
void open_one(const Allocation *allocation, bool is_open);  // one that stays protected otherwise
void open_page(void *place);                  // to whoever touched it, until `seal`
void seal();                                  // protect all, after a stray access has opened a page
bool repair(std::string &problem);            // the red zones; false where somebody wrote them
char *shared();                               // SHARED_ROOM bytes
int64_t in_use();
void *pin(int64_t bytes);
bool unpin(void *place);
bool is_pinned(const void *place);
}

// ---- fibers.cpp: the stacks of threads ----

using Fiber = dcpy_fiber;

namespace fibers {
constexpr int64_t STACK = 256 * 1024;
Fiber *take(void (*work)());      // a fiber that will begin with `work`, which never returns; null: no memory
void give_back(Fiber *fiber);     // also while it runs: nobody else runs before it has switched away
void give_back_all();
void switch_to(Fiber *from, Fiber *to);
bool is_guard(const void *place);  // below a stack: the stack was too small
bool holds(const void *place);     // on a stack of ours
extern Fiber host;                 // the stack of who launches
extern Fiber nobody;               // what never runs again is saved here
}

// ---- blocks.cpp: one launch ----

struct Settings {
    int32_t warp;          // 32 or 64
    int32_t hooks;         // whether units have been compiled with hooks, and what they see is recorded
    int32_t asynchronous;  // commands are run as late as allowed, and in any order that is
    int32_t unused;
    uint64_t seed;
    int64_t memory;        // bytes of the device
};

struct Launch {
    const dcpy_unit *unit;
    int32_t kernel;
    int64_t blocks[3];
    int32_t threads[3], shared;
    void *const *args;
    int64_t number;        // counts launches of the process
    int64_t device;        // the number of the program's device
};

namespace blocks {
bool run(const Launch &launch, const Settings &settings, std::string &problem);  // false: stopped, with a problem
bool is_running();
std::string whereabouts();             // the kernel, the block and the thread that run now
std::string line_of(const dcpy_unit *unit, int32_t line);  // as `PROGRAM.kernels.cu:12`
const Launch &current();
[[noreturn]] void stop(const std::string &problem);  // the kernel that runs now, for good
struct Named { const char *name; char *place; int64_t bytes; };
const std::vector<Named> &shared_arrays();
}

// ---- faults.cpp ----

struct Stray {                 // the first access to an address of the device by who may not
    bool happened;
    bool by_kernel;
    const void *place, *code;
    char where[256];           // in a kernel: the thread
};

namespace faults {
void watch();                  // installs the handler, where it is not the one in force
extern Stray stray;
extern void *escape;           // a jmp_buf: where a kernel that touched a wild address leaves to
extern const void *wild;       // that address
}

// ---- hooks.cpp: what kernels that were compiled with hooks do to memory (hooks.h) ----

namespace hooks {
bool begin(const Launch &launch, const Settings &settings);  // whether there are hooks
void begin_block(int64_t block);
void met_block();
void met_warp(int32_t warp);
void arrived(int32_t is_last);
void end_block();
void end();
void touch(const void *place, int64_t bytes, int32_t how, const void *code);
void wrote(const void *place, int64_t bytes);  // a copy, or a fill
void released(int64_t allocation);
}

}  // namespace simulator
