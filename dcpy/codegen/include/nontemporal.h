// Stores past the caches (non-temporal ones). C, too.

// Copies bytes to memory without bringing its cache lines in; the first and the last one only as far as they are whole.
static __attribute__((noinline)) void dcpy_store_past_caches(void *to, const void *from, int64_t bytes)
{
    char *out = (char *)to;
    const char *in = (const char *)from;
#if defined(__clang__) || defined(__SSE2__)
    typedef long long dcpy_pair __attribute__((vector_size(16)));
    int64_t head = (int64_t)(-(size_t)out & 63);
    if (head > bytes) head = bytes;
    __builtin_memcpy(out, in, (size_t)head);
    for (out += head, in += head, bytes -= head; bytes >= 64; out += 64, in += 64, bytes -= 64) {
        for (int part = 0; part < 64; part += 16) {
            dcpy_pair pair;
            __builtin_memcpy(&pair, in + part, 16);
#ifdef __clang__
            __builtin_nontemporal_store(pair, (dcpy_pair *)(out + part));
#else
            __builtin_ia32_movntdq((dcpy_pair *)(out + part), pair);
#endif
        }
    }
#endif
    __builtin_memcpy(out, in, (size_t)bytes);
}

// Other threads see what is stored past the caches before whatever comes next.
static inline void dcpy_stores_are_seen(void)
{
#ifdef __SSE2__
    __builtin_ia32_sfence();
#else
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

// How many bytes of a cache line are in front of a place.
static inline int64_t dcpy_bytes_into_line(const void *place) { return (int64_t)((size_t)place & 63); }
