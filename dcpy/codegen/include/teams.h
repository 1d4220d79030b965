// Teams of threads that rest where the machine is busy with something else.

extern "C" int clock_gettime(int, struct timespec *) noexcept;

// Nanoseconds: the processor time of this thread, or what a clock shows that nobody sets.
static inline int64_t dcpy_nanoseconds(bool of_thread)
{
    struct { long seconds, more; } now;
#ifdef __APPLE__
    clock_gettime(of_thread ? 16 : 6, (struct timespec *)&now);
#else
    clock_gettime(of_thread ? 3 : 1, (struct timespec *)&now);
#endif
    return int64_t(now.seconds)*1000000000 + now.more;
}

// What the teams of a program remember: until when they rest, and how many calls are still looked at closely.
struct dcpy_team_memory {
    int64_t rest, doubts;

    int64_t resting() const { return __atomic_load_n(&rest, __ATOMIC_RELAXED); }
    int64_t doubting() const { return __atomic_load_n(&doubts, __ATOMIC_RELAXED); }
    void doubt(int64_t calls) { __atomic_store_n(&doubts, calls, __ATOMIC_RELAXED); }
    void rest_until(int64_t then) { __atomic_store_n(&rest, then, __ATOMIC_RELAXED); }
};

// One for all teams of a program.
static inline dcpy_team_memory &dcpy_team_memory_of()
{
    static dcpy_team_memory memory;
    return memory;
}

// All threads do their share of some work. A thread whose processor belongs to another process for a time slice makes
// the others wait for milliseconds. So where the first thread waits long, the next calls compare the time of the team
// with the processor time of all of it: one thread alone would not take longer than that. If it had been the faster one,
// it works alone for twenty times what was lost; then the team tries again.
template <class F>
static void dcpy_team(const F &share)
{
    dcpy_team_memory &memory = dcpy_team_memory_of();
    const int64_t start = dcpy_nanoseconds(false), doubts = memory.doubting();
    if (start < memory.resting()) return share();
    if (doubts > 0) {
        int64_t used = 0;
#pragma omp parallel reduction(+ : used)
        {
            const int64_t before = dcpy_nanoseconds(true);
            share();
            used += dcpy_nanoseconds(true) - before;
        }
        const int64_t end = dcpy_nanoseconds(false), lost = end - start - used;
        memory.doubt(doubts - 1);
        if (lost > used/4 && lost > 20000) memory.rest_until(end + 20*lost);
        return;
    }
    int64_t done = start;
#pragma omp parallel
    {
        share();
#pragma omp master
        done = dcpy_nanoseconds(false);
    }
    const int64_t waited = dcpy_nanoseconds(false) - done;
    if (waited > 100000 && waited > done - start) memory.doubt(8);
}
