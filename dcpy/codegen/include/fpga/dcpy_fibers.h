// Fibers: stacks of their own, and a switch between them. Processes of a simulated network run on them.
//
// The switch saves what a call must keep: by hand on x86-64 and aarch64, elsewhere by `swapcontext`, which makes
// system calls. A stack has a guard page below it; its pages are there once they are touched.
#pragma once

#include <stddef.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#if !defined(DCPY_FIBERS_BY_HAND)
#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))
#define DCPY_FIBERS_BY_HAND 1
#else
#define DCPY_FIBERS_BY_HAND 0
#endif
#endif

#if DCPY_FIBERS_BY_HAND
extern "C" void dcpy_fpga_switch(void **save, void *load);
#else
#include <ucontext.h>
#endif

#if DCPY_FIBERS_BY_HAND && defined(__x86_64__)
asm(R"(
    .text
    .weak dcpy_fpga_switch
    .hidden dcpy_fpga_switch
    .type dcpy_fpga_switch, @function
dcpy_fpga_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size dcpy_fpga_switch, .-dcpy_fpga_switch
)");
#elif DCPY_FIBERS_BY_HAND
asm(R"(
    .text
    .weak dcpy_fpga_switch
    .hidden dcpy_fpga_switch
    .type dcpy_fpga_switch, @function
dcpy_fpga_switch:
    sub sp, sp, #160
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mov x9, sp
    str x9, [x0]
    mov sp, x1
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #160
    ret
    .size dcpy_fpga_switch, .-dcpy_fpga_switch
)");
#endif

namespace dcpy_fpga {

constexpr size_t STACK = size_t(64) << 20;  // of a process: local memories are on it

/// A place to run that can be left in the middle and come back to.
struct fiber {
#if DCPY_FIBERS_BY_HAND
    void *top = nullptr;
#else
    ucontext_t context = {};
#endif
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
#if DCPY_FIBERS_BY_HAND && defined(__x86_64__)
        void **slots = reinterpret_cast<void **>(memory + room);
        slots[-1] = nullptr;  // where `work` would return to
        slots[-2] = reinterpret_cast<void *>(work);
        top = slots - 8;  // six registers, zero
#elif DCPY_FIBERS_BY_HAND
        void **slots = reinterpret_cast<void **>(memory + room) - 20;
        slots[11] = reinterpret_cast<void *>(work);  // the link register
        top = slots;
#else
        getcontext(&context);
        context.uc_stack.ss_sp = memory + page;
        context.uc_stack.ss_size = STACK;
        context.uc_link = nullptr;
        makecontext(&context, work, 0);
#endif
        return true;
    }

    void end()
    {
        if (memory) munmap(memory, room);
        memory = nullptr;
    }

    /// Leaves this fiber for another one; returns when somebody switches back.
    void switch_to(fiber &other)
    {
#if DCPY_FIBERS_BY_HAND
        dcpy_fpga_switch(&top, other.top);
#else
        swapcontext(&context, &other.context);
#endif
    }
};

}  // namespace dcpy_fpga
