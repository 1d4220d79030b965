// Calls of Python functions, and interrupts, through what the dispatcher hands to each call (codegen/artifact.py).

extern "C" int clock_gettime(int, void *) noexcept;

// What the dispatcher hands over; runtime/dispatch/signature.h has its other side.
struct dcpy_python {
    int32_t (*call)(dcpy_python *self, int64_t site, const int64_t *operands);
};

// Where calls go, in this thread: a Python function that is called may call this program again.
static inline dcpy_python *&dcpy_python_here()
{
    static thread_local dcpy_python *here;
    return here;
}

// Calls go through `python` from now on; returns what they went through before.
static inline void *dcpy_call_through(void *python)
{
    void *before = dcpy_python_here();
    dcpy_python_here() = (dcpy_python *)python;
    return before;
}

// How many iterations of a loop are left until it looks at the clock, of how many; when it did, and when it asked Python.
struct dcpy_pace {
    int64_t left = 1, turns = 0, since = 0, asked = 0;
};

// A clock with some ticks for each nanosecond, or one.
static inline int64_t dcpy_ticks()
{
#ifdef __x86_64__
    return (int64_t)__builtin_ia32_rdtsc();
#else
    int64_t time[2];  // seconds and nanoseconds
#ifdef __APPLE__
    clock_gettime(6, time);
#else
    clock_gettime(1, time);  // CLOCK_MONOTONIC
#endif
    return time[0]*1000000000 + time[1];
#endif
}

// Asks the dispatcher some twenty times a second whether a signal has come (site -1): Python's handler then runs, and may raise.
// Loops whose iterations are short look at the clock more rarely from then on.
static __attribute__((noinline, cold)) bool dcpy_ask(dcpy_pace &pace)
{
    const int64_t now = dcpy_ticks(), taken = now - pace.since;
    if (pace.turns == 0) {
        pace.turns = 16;
        pace.asked = now;
    } else if (taken < 1 << 21) {
        pace.turns *= 16;
    } else if (taken > 1 << 26) {
        pace.turns = pace.turns/16 + 1;
    }
    pace.left = pace.turns;
    pace.since = now;
    dcpy_python *const python = dcpy_python_here();
    if (now - pace.asked < 1 << 26 || python == nullptr) return false;
    pace.asked = now;
    return python->call(python, -1, nullptr) != 0;
}

// Whether a loop is to be left, at the head of each of its iterations.
static inline bool dcpy_interrupted(dcpy_pace &pace) { return --pace.left <= 0 && dcpy_ask(pace); }

// Calls the function of a site; the operands are pointers and numbers.
template <class... T>
static inline int32_t dcpy_callback(int64_t site, T... operands)
{
    const int64_t values[] = {(int64_t)operands..., 0};
    return dcpy_python_here()->call(dcpy_python_here(), site, values);
}
