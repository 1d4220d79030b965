// Fibers: stacks of their own, and a switch between them that saves what a call must keep.
//
// By hand on x86-64 and aarch64; elsewhere the system's `swapcontext`, which also saves signal masks, by system calls.

#include "simulator.h"

#include <sys/mman.h>

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__)) && !defined(DCPY_PORTABLE)
#define BY_HAND 1
#else
#define BY_HAND 0
#include <ucontext.h>
#endif

#if BY_HAND
extern "C" __attribute__((visibility("hidden"))) void dcpy_simulator_switch(void **save, void *load);
#endif

#if BY_HAND && defined(__x86_64__)
asm(R"(
    .text
    .globl dcpy_simulator_switch
    .hidden dcpy_simulator_switch
    .type dcpy_simulator_switch, @function
dcpy_simulator_switch:
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
    .size dcpy_simulator_switch, .-dcpy_simulator_switch
)");
#elif BY_HAND
asm(R"(
    .text
    .globl dcpy_simulator_switch
    .hidden dcpy_simulator_switch
    .type dcpy_simulator_switch, @function
dcpy_simulator_switch:
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
    .size dcpy_simulator_switch, .-dcpy_simulator_switch
)");
#endif

namespace simulator::fibers {

Fiber host = {}, nobody = {};

namespace {

std::vector<Fiber *> all, idle;
std::vector<char *> slabs;
constexpr int64_t PER_SLAB = 64, ROOM = STACK + PAGE;

bool more()
{
    void *slab = mmap(nullptr, PER_SLAB * ROOM, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (slab == MAP_FAILED) return false;
    slabs.push_back((char *)slab);
    for (int64_t k = PER_SLAB - 1; k >= 0; --k) {
        char *guard = (char *)slab + k * ROOM;
        mprotect(guard, PAGE, PROT_NONE);
        all.push_back(new Fiber{nullptr, guard + PAGE, nullptr});
        idle.push_back(all.back());
    }
    return true;
}

}  // namespace

Fiber *take(void (*work)())
{
    if (idle.empty() && !more()) return nullptr;
    Fiber *fiber = idle.back();
    idle.pop_back();
#if BY_HAND && defined(__x86_64__)
    void **top = (void **)(fiber->lowest + STACK);
    top[-1] = nullptr;  // where `work` would return to
    top[-2] = (void *)work;
    for (int k = 3; k <= 8; ++k) top[-k] = nullptr;
    fiber->stack_pointer = top - 8;
#elif BY_HAND
    void **top = (void **)(fiber->lowest + STACK) - 20;
    for (int k = 0; k < 20; ++k) top[k] = nullptr;
    top[11] = (void *)work;  // x30
    fiber->stack_pointer = top;
#else
    if (!fiber->context) fiber->context = new ucontext_t;
    ucontext_t *context = (ucontext_t *)fiber->context;
    getcontext(context);
    context->uc_stack.ss_sp = fiber->lowest;
    context->uc_stack.ss_size = STACK;
    context->uc_link = nullptr;
    makecontext(context, work, 0);
#endif
    return fiber;
}

void give_back(Fiber *fiber) { idle.push_back(fiber); }

void give_back_all() { idle = all; }

void switch_to(Fiber *from, Fiber *to)
{
#if BY_HAND
    dcpy_simulator_switch(&from->stack_pointer, to->stack_pointer);
#else
    if (!from->context) from->context = new ucontext_t;
    swapcontext((ucontext_t *)from->context, (ucontext_t *)to->context);
#endif
}

bool holds(const void *place)
{
    for (char *slab : slabs)
        if ((const char *)place >= slab && (const char *)place < slab + PER_SLAB * ROOM) return true;
    return false;
}

bool is_guard(const void *place)
{
    for (char *slab : slabs)
        if ((const char *)place >= slab && (const char *)place < slab + PER_SLAB * ROOM)
            return ((const char *)place - slab) % ROOM < PAGE;
    return false;
}

}  // namespace simulator::fibers
