// What kernels need that the host has otherwise.

// *place = combine(*place, value), by compare and exchange on the bits U of a T.
template <class U, class T, class F>
static inline void dcpy_combine(T *place, T value, F combine)
{
    U before = *(volatile U *)place, seen;
    do {
        T number;
        U after;
        seen = before;
        __builtin_memcpy(&number, &seen, sizeof(T));
        number = combine(number, value);
        __builtin_memcpy(&after, &number, sizeof(T));
        before = dcpy_atomic_compare_exchange((U *)place, seen, after);
    } while (before != seen);
}

// Without the sign, which lgamma keeps in a global variable.
template <class T>
static inline T dcpy_lgamma(T x) { return T(lgamma(double(x))); }
