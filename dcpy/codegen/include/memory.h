// Buffers that are freed on every way out of their scope, and updates that other threads do not interrupt.

// Tells the system about the huge pages that lie in some memory; false where it takes no advice.
static inline bool dcpy_advise(void *memory, size_t bytes, int advice)
{
#ifdef __linux__
    const size_t page = size_t(2) << 20, first = (size_t(memory) + page - 1) & ~(page - 1);
    const size_t last = (size_t(memory) + bytes) & ~(page - 1);
    return first >= last || madvise((void *)first, last - first, advice) == 0;
#else
    return false;
#endif
}

// Cache-line-aligned memory for `count` elements of `size` bytes behind `head` bytes; null where there is none. From
// 4 MiB on it asks for huge pages (MADV_HUGEPAGE), as NumPy does: first touches of small ones cost several passes.
static inline void *dcpy_allocate(int64_t count, size_t size, size_t head = 0)
{
    if (count >> 48) return nullptr;
    const size_t bytes = ((size_t(count)*size + 127) & ~size_t(63)) + head;
    void *const memory = aligned_alloc(64, bytes);
    if (memory != nullptr && bytes >= size_t(4) << 20) dcpy_advise(memory, bytes, 14);
    return memory;
}

// A cache-line-aligned buffer of `count` elements; `data` is null where there is no memory.
template <class T>
struct dcpy_heap_buffer {
    T *const data;

    explicit dcpy_heap_buffer(int64_t count) : data((T *)dcpy_allocate(count, sizeof(T))) {}
    ~dcpy_heap_buffer() { free(data); }
    dcpy_heap_buffer(const dcpy_heap_buffer &) = delete;
};

// A buffer that gets more room while it lives: `kept` elements move to memory of another size.
template <class T>
struct dcpy_growing_buffer {
    T *data;

    explicit dcpy_growing_buffer(int64_t count) : data((T *)dcpy_allocate(count, sizeof(T))) {}
    ~dcpy_growing_buffer() { free(data); }
    dcpy_growing_buffer(const dcpy_growing_buffer &) = delete;

    T *grow(int64_t kept, int64_t count)
    {
        T *const moved = (T *)dcpy_allocate(count, sizeof(T));
        if (moved != nullptr) __builtin_memcpy(moved, data, size_t(kept < count ? kept : count)*sizeof(T));
        free(data);
        return data = moved;
    }
};

// A buffer that outlives the call. Each holder takes it out of `slot` and puts it back, so two threads never share one;
// the capacity in bytes stands in the 64 bytes before the data. Above 32 MiB the system may have its pages until the
// next call (MADV_FREE), if it is short of memory; else they are as they were. Where it takes no advice, it is freed.
template <class T>
struct dcpy_kept_buffer {
    char **const slot;
    char *block;
    T *data;

    dcpy_kept_buffer(char *&kept, int64_t count) : slot(&kept)
    {
        const size_t bytes = (size_t(count)*sizeof(T) + 127) & ~size_t(63);
        block = __atomic_exchange_n(slot, (char *)nullptr, __ATOMIC_ACQ_REL);
        if (block == nullptr || count >> 48 || *(size_t *)block < bytes) {
            free(block);
            block = (char *)dcpy_allocate(count, sizeof(T), 64);
            if (block != nullptr) *(size_t *)block = bytes;
        }
        data = block == nullptr ? nullptr : (T *)(block + 64);
    }
    ~dcpy_kept_buffer()
    {
        const size_t bytes = block == nullptr ? 0 : *(size_t *)block;
        const bool keep = bytes != 0 && (bytes <= size_t(32) << 20 || dcpy_advise(block + 64, bytes, 8));
        free(keep ? __atomic_exchange_n(slot, block, __ATOMIC_ACQ_REL) : block);
    }
    dcpy_kept_buffer(const dcpy_kept_buffer &) = delete;
};

// A buffer for whoever called the program; what an earlier iteration made for the same result is freed.
template <class T>
static inline T *dcpy_owned_buffer(T **owner, int64_t count)
{
    free(*owner);
    *owner = (T *)dcpy_allocate(count, sizeof(T));
    return *owner;
}

// *place = combine(*place, value), by compare and exchange on the bits U of a T.
template <class U, class T, class F>
static inline void dcpy_atomic(T *place, T value, F combine)
{
    U before = __atomic_load_n((U *)place, __ATOMIC_RELAXED), after;
    do {
        T number;
        __builtin_memcpy(&number, &before, sizeof(T));
        number = combine(number, value);
        __builtin_memcpy(&after, &number, sizeof(T));
    } while (!__atomic_compare_exchange_n((U *)place, &before, after, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
}

// Leaves a program: the numbers are for the message of the check with this number.
static inline int32_t dcpy_stop(int64_t *error, int32_t number, int64_t a = 0, int64_t b = 0, int64_t c = 0, int64_t d = 0)
{
    error[0] = a;
    error[1] = b;
    error[2] = c;
    error[3] = d;
    return number;
}

// Keeps the failure of the lowest iteration of a parallel map, the first one there. While one thread writes the numbers,
// of which the fifth is the iteration, the others wait.
static inline void dcpy_fail(int32_t *failure, int64_t *error, int64_t iteration, int32_t number, int64_t a = 0,
                             int64_t b = 0, int64_t c = 0, int64_t d = 0)
{
    const int32_t busy = -__INT32_MAX__ - 1;
    int32_t kept = __atomic_load_n(failure, __ATOMIC_ACQUIRE);
    do {
        while (kept == busy) kept = __atomic_load_n(failure, __ATOMIC_ACQUIRE);
        if (kept != 0 && __atomic_load_n(&error[4], __ATOMIC_RELAXED) <= iteration) return;
    } while (!__atomic_compare_exchange_n(failure, &kept, busy, false, __ATOMIC_ACQUIRE, __ATOMIC_ACQUIRE));
    if (kept == 0 || iteration < error[4]) {
        __atomic_store_n(&error[4], iteration, __ATOMIC_RELAXED);
        kept = dcpy_stop(error, number, a, b, c, d);
    }
    __atomic_store_n(failure, kept, __ATOMIC_RELEASE);
}

// Keeps the first warning; the others are dropped.
static inline void dcpy_warn(int32_t *warning, int64_t *error, int32_t number, int64_t a = 0, int64_t b = 0, int64_t c = 0,
                             int64_t d = 0)
{
    int32_t none = 0;
    if (__atomic_compare_exchange_n(warning, &none, number, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        dcpy_stop(error, number, a, b, c, d);
}
