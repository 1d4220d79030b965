// The share of each thread in a loop that a team divides statically: in place of LLVM's functions of these names.
//
// Those format a message in each call where the library has assertions, as Debian builds it: two microseconds, which is
// longer than many loops take. A program links its own: what it does not export, others do not see.
extern "C" int omp_get_thread_num();
extern "C" int omp_get_num_threads();

namespace {

enum Schedule { CHUNKED = 33, STATIC = 34, WITHOUT_MODIFIERS = 0xffff };

// The bounds become those of the first piece of this thread, the stride the way to its next one; U is T without a sign.
template <class T, class U, class S>
void share(int schedule, int *last, T *lower, T *upper, S *stride, S step, S chunk)
{
    if (step > 0 ? *upper < *lower : *lower < *upper) {
        *last = 0;
        *stride = step;
        return;
    }
    const U thread = (U)omp_get_thread_num(), threads = (U)omp_get_num_threads();
    const U distance = step > 0 ? (U)*upper - (U)*lower : (U)*lower - (U)*upper;
    const U trips = distance/(U)(step > 0 ? step : -step) + 1;  // 0: all that there are, which no loop of ours has
    const T first = *lower;
    if ((schedule & WITHOUT_MODIFIERS) == CHUNKED) {
        const U size = chunk < 1 ? 1 : (U)chunk;
        *stride = (S)(size*threads*(U)step);
        *lower = (T)((U)first + thread*size*(U)step);
        *upper = (T)((U)*lower + (size - 1)*(U)step);
        *last = thread == (trips - 1)/size%threads;
        return;
    }
    const U size = trips/threads, more = trips%threads;
    const U before = thread*size + (thread < more ? thread : more), count = size + (thread < more);
    *stride = (S)(trips*(U)step);
    *lower = (T)((U)first + before*(U)step);
    *upper = (T)((U)*lower + (count - 1)*(U)step);
    *last = count > 0 && before + count == trips;
}

}  // namespace

#define SHARE(name, T, U, S) \
    extern "C" [[gnu::visibility("hidden")]] void name(void *, int, int schedule, int *last, T *lower, T *upper, \
                                                       S *stride, S step, S chunk) \
    { \
        share<T, U, S>(schedule, last, lower, upper, stride, step, chunk); \
    }

SHARE(__kmpc_for_static_init_4, int, unsigned, int)
SHARE(__kmpc_for_static_init_4u, unsigned, unsigned, int)
SHARE(__kmpc_for_static_init_8, long long, unsigned long long, long long)
SHARE(__kmpc_for_static_init_8u, unsigned long long, unsigned long long, long long)
