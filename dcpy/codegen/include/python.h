// Calls of Python functions, through what the dispatcher hands to each call of a program (codegen/artifact.py).

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

// Calls the function of a site; the operands are pointers and numbers.
template <class... T>
static inline int32_t dcpy_callback(int64_t site, T... operands)
{
    const int64_t values[] = {(int64_t)operands..., 0};
    return dcpy_python_here()->call(dcpy_python_here(), site, values);
}
