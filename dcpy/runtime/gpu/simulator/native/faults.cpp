// Addresses of the device that somebody touched who may not: found by the protection of their pages.
//
// The first such access is noted, its page is opened, and the program goes on: it hears of it from its next command.
// A kernel that touches an address that is nobody's, or uses up its stack, leaves for good. All other faults of the
// process are not ours, and go to the handler that was there before.

#include "simulator.h"

#include <cerrno>
#include <csetjmp>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ucontext.h>

namespace simulator::faults {

Stray stray = {};
void *escape = nullptr;

namespace {

struct sigaction before[2];
const int SIGNALS[2] = {SIGSEGV, SIGBUS};
constexpr size_t HANDLER_STACK = 64 * 1024;

const void *code_of(void *context)
{
#if defined(__linux__) && defined(__x86_64__)
    return (const void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
#elif defined(__linux__) && defined(__aarch64__)
    return (const void *)((ucontext_t *)context)->uc_mcontext.pc;
#else
    (void)context;
    return nullptr;
#endif
}

void note(const void *place, const void *code, const char *what)
{
    if (stray.happened) return;
    const bool by_kernel = blocks::is_running();
    stray = {true, by_kernel, place, code, ""};
    // Strings are made in a handler: of the thread that faulted, in code of the simulator's or of kernels, which hold no
    // lock of the allocator's.
    const std::string who = by_kernel ? blocks::whereabouts() : "the host program";
    const std::string where = arena::owns(place) ? ", " + arena::describe(place) : "";
    snprintf(stray.where, sizeof stray.where, "%s %s %p%s", who.c_str(), what, place, where.c_str());
}

void handle(int signal, siginfo_t *info, void *context)
{
    const int saved = errno;
    char *place = (char *)info->si_addr;
    if (arena::owns(place)) {
        note(place, code_of(context), "touched");
        arena::open_page(place);
        errno = saved;
        return;
    }
    if (escape && blocks::is_running()) {
        note(place, code_of(context), fibers::is_guard(place) ? "used up its stack, and touched" : "touched");
        siglongjmp(*(sigjmp_buf *)escape, 1);
    }
    sigaction(signal, &before[signal == SIGNALS[1]], nullptr);  // the access is made again, and seen by them
}

}  // namespace

void watch()
{
    thread_local char *stack = nullptr;
    stack_t known;
    if (!stack && sigaltstack(nullptr, &known) == 0 && (known.ss_flags & SS_DISABLE)) {
        stack = (char *)malloc(HANDLER_STACK);  // for as long as the thread lives
        const stack_t own = {stack, 0, HANDLER_STACK};
        if (stack) sigaltstack(&own, nullptr);
    }
    for (int k = 0; k < 2; ++k) {
        struct sigaction present;
        sigaction(SIGNALS[k], nullptr, &present);
        if (present.sa_sigaction == handle) continue;
        before[k] = present;
        struct sigaction own;
        memset(&own, 0, sizeof own);
        own.sa_sigaction = handle;
        own.sa_flags = SA_SIGINFO | SA_ONSTACK;
        sigemptyset(&own.sa_mask);
        sigaction(SIGNALS[k], &own, nullptr);
    }
}

}  // namespace simulator::faults
