// Calls of Python functions, and interrupts, through what the dispatcher hands to each call (codegen/artifact.py).

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

// How many iterations of a loop are left until it asks whether a signal has come; the rest is the dispatcher's.
struct dcpy_pace {
    int64_t left = 1, others[3] = {};
};

// Asks the dispatcher (site -1), who says when to ask again. Handlers of signals run meanwhile; true where one has raised.
static __attribute__((noinline, cold)) bool dcpy_ask(dcpy_pace &pace)
{
    dcpy_python *const python = dcpy_python_here();
    if (python != nullptr) return python->call(python, -1, &pace.left) != 0;
    pace.left = 1024;  // another thread than the caller's, or a caller that is not Python: nothing to ask for
    return false;
}

// Whether a loop is to be left, at the head of each of its iterations.
// `dcpy_ask` gets a copy, so that `pace` may live in registers.
static inline bool dcpy_interrupted(dcpy_pace &pace)
{
    if (__builtin_expect(--pace.left > 0, true)) return false;
    dcpy_pace asked = pace;
    const bool stop = dcpy_ask(asked);
    pace = asked;
    return stop;
}

// The same for short iterations in a team, whose failure it looks at no more often than it asks: has another thread stopped?
static inline bool dcpy_team_interrupted(dcpy_pace &pace, const int32_t *failure, int32_t check)
{
    if (__builtin_expect(pace.left > 1, true)) {
        --pace.left;
        return false;
    }
    return __atomic_load_n(failure, __ATOMIC_RELAXED) == check || dcpy_interrupted(pace);
}

// Calls the function of a site; the operands are pointers and numbers.
template <class... T>
static inline int32_t dcpy_callback(int64_t site, T... operands)
{
    const int64_t values[] = {(int64_t)operands..., 0};
    return dcpy_python_here()->call(dcpy_python_here(), site, values);
}
