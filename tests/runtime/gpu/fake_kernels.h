// Runs kernels that were compiled for the simulator (DCPY_SIMULATOR), one block after the other, threads in turns from one
// meeting to the next. The plainest thing that gives the right values: what is wrong with kernels the simulator shows.
#pragma once

#include <ucontext.h>

#define DCPY_SIMULATOR
#define DCPY_SIMULATOR_ITSELF
#include "dcpy_device.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

struct FakeThread {
    ucontext_t context;
    std::vector<char> stack = std::vector<char>(64 << 10);
    bool done = false;
    char said[16];  // what it offers to the others of its warp
};

struct FakeBlock {
    dcpy_simulated *state = nullptr;
    const dcpy_kernel_row *row = nullptr;
    void *const *args = nullptr;
    std::vector<FakeThread> threads;
    std::vector<std::unique_ptr<char[]>> shared;
    ucontext_t home;
    int current = 0;
};

inline FakeBlock *fake_block = nullptr;

inline void fake_meet(int32_t, int32_t)
{
    swapcontext(&fake_block->threads[(size_t)fake_block->current].context, &fake_block->home);
}

inline void fake_exchange(int32_t line, const void *mine, int32_t bytes, int32_t lane, void *theirs)
{
    FakeBlock &block = *fake_block;
    std::memcpy(block.threads[(size_t)block.current].said, mine, (size_t)bytes);
    fake_meet(DCPY_MEET_SHUFFLE, line);
    const int first = block.current - block.current % block.state->warp;
    std::memcpy(theirs, block.threads[(size_t)(first + lane)].said, (size_t)bytes);
    fake_meet(DCPY_MEET_SHUFFLE, line);
}

inline void fake_share(dcpy_shared_array *array, int64_t bytes, int64_t, const char *)
{
    fake_block->shared.emplace_back(new char[(size_t)bytes + 64]);
    std::memset(fake_block->shared.back().get(), 0xff, (size_t)bytes + 64);
    const uintptr_t first = (uintptr_t)fake_block->shared.back().get();
    array->place = (void *)((first + 63) / 64 * 64);
    array->launch = fake_block->state->launch;
}

inline void fake_thread()
{
    FakeBlock &block = *fake_block;
    block.row->entry(block.args);
    block.threads[(size_t)block.current].done = true;
}

inline void fake_resume(FakeBlock &block, int number)
{
    dcpy_simulated &state = *block.state;
    block.current = state.number = number;
    state.thread[0] = number % state.threads[0];
    state.thread[1] = number / state.threads[0] % state.threads[1];
    state.thread[2] = number / (state.threads[0] * state.threads[1]);
    swapcontext(&block.home, &block.threads[(size_t)number].context);
}

inline void fake_run_block(FakeBlock &block, int32_t shared)
{
    static int64_t launches = 0;
    block.state->launch = ++launches;  // its own shared memory
    block.shared.clear();
    block.shared.emplace_back(new char[(size_t)shared + 64]);
    block.state->dynamic = (char *)(((uintptr_t)block.shared[0].get() + 63) / 64 * 64);
    for (FakeThread &thread : block.threads) {
        thread.done = false;
        getcontext(&thread.context);
        thread.context.uc_stack.ss_sp = thread.stack.data();
        thread.context.uc_stack.ss_size = thread.stack.size();
        thread.context.uc_link = &block.home;
        makecontext(&thread.context, fake_thread, 0);
    }
    for (bool going = true; going;) {
        going = false;
        for (size_t i = 0; i < block.threads.size(); ++i) {
            if (block.threads[i].done) continue;
            fake_resume(block, (int)i);
            going = going || !block.threads[i].done;
        }
    }
}

inline void fake_run(const dcpy_unit &unit, const dcpy_kernel_row &row, const int64_t blocks[3], const int32_t threads[3],
                     int32_t shared, int32_t warp, void *const *args)
{
    FakeBlock block;
    dcpy_simulated &state = *unit.state;
    block.state = &state;
    block.row = &row;
    block.args = args;
    block.threads.resize((size_t)(threads[0] * threads[1] * threads[2]));
    fake_block = &block;
    state.warp = warp;
    state.meet = fake_meet;
    state.exchange = fake_exchange;
    state.share = fake_share;
    state.fail = [] {};
    state.arrived = nullptr;
    state.misaligned = [](const void *, int32_t) {};
    state.touch = nullptr;
    for (int d = 0; d < 3; ++d) {
        state.blocks[d] = blocks[d];
        state.threads[d] = threads[d];
    }
    for (state.block[2] = 0; state.block[2] < blocks[2]; ++state.block[2])
        for (state.block[1] = 0; state.block[1] < blocks[1]; ++state.block[1])
            for (state.block[0] = 0; state.block[0] < blocks[0]; ++state.block[0]) fake_run_block(block, shared);
}
