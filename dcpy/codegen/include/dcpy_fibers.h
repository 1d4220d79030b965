// Fibers: stacks of their own, and a switch between them that saves what a call must keep.
//
// By hand on x86-64 and aarch64 (a few nanoseconds); elsewhere, and with DCPY_PORTABLE, the system's `swapcontext`, which
// also saves signal masks, by system calls. Whose memory stacks are, and who runs when, is not decided here.

#pragma once

#include <cstdint>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(DCPY_PORTABLE)
#define DCPY_FIBERS_BY_HAND 1
#else
#define DCPY_FIBERS_BY_HAND 0
#include <ucontext.h>
#endif

#if DCPY_FIBERS_BY_HAND
// Puts what a call must keep onto the stack, that stack's pointer to `save`, and goes on upon another one.
extern "C" __attribute__((visibility("hidden"))) void dcpy_fiber_switch(void **save, void *load);
#endif

#if DCPY_FIBERS_BY_HAND && defined(__x86_64__)
asm(R"(
    .text
    .weak dcpy_fiber_switch
    .hidden dcpy_fiber_switch
    .type dcpy_fiber_switch, @function
dcpy_fiber_switch:
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
    .size dcpy_fiber_switch, .-dcpy_fiber_switch
)");
#elif DCPY_FIBERS_BY_HAND
asm(R"(
    .text
    .weak dcpy_fiber_switch
    .hidden dcpy_fiber_switch
    .type dcpy_fiber_switch, @function
dcpy_fiber_switch:
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
    .size dcpy_fiber_switch, .-dcpy_fiber_switch
)");
#endif

struct dcpy_fiber {
    void *stack_pointer;
    char *lowest;   // of its stack
    int64_t size;
    void *context;  // where the system's own switching is used
};

// The next switch to the fiber calls `work` on its stack, from the start; it must not return.
inline void dcpy_fiber_begin(dcpy_fiber *fiber, void (*work)())
{
#if DCPY_FIBERS_BY_HAND && defined(__x86_64__)
    void **top = (void **)(fiber->lowest + fiber->size / 16 * 16);
    top[-1] = nullptr;  // where `work` would return to
    top[-2] = (void *)work;
    for (int k = 3; k <= 8; ++k) top[-k] = nullptr;
    fiber->stack_pointer = top - 8;
#elif DCPY_FIBERS_BY_HAND
    void **top = (void **)(fiber->lowest + fiber->size / 16 * 16) - 20;
    for (int k = 0; k < 20; ++k) top[k] = nullptr;
    top[11] = (void *)work;  // x30
    fiber->stack_pointer = top;
#else
    if (!fiber->context) fiber->context = new ucontext_t;
    ucontext_t *context = (ucontext_t *)fiber->context;
    getcontext(context);
    context->uc_stack.ss_sp = fiber->lowest;
    context->uc_stack.ss_size = (size_t)fiber->size;
    context->uc_link = nullptr;
    makecontext(context, work, 0);
#endif
}

// Goes on upon `to`; comes back when somebody switches to `from`, which runs now. Zeros stand for a thread's own stack.
inline void dcpy_fiber_switch_to(dcpy_fiber *from, dcpy_fiber *to)
{
#if DCPY_FIBERS_BY_HAND
    dcpy_fiber_switch(&from->stack_pointer, to->stack_pointer);
#else
    if (!from->context) from->context = new ucontext_t;
    swapcontext((ucontext_t *)from->context, (ucontext_t *)to->context);
#endif
}

// Gives back what switching needed; the stack is its owner's.
inline void dcpy_fiber_end(dcpy_fiber *fiber)
{
#if !DCPY_FIBERS_BY_HAND
    delete (ucontext_t *)fiber->context;
#endif
    fiber->context = nullptr;
}
