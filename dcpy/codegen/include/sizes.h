// Arithmetic on sizes. What 64 bits do not hold is the largest number, and so is what is made of it: no memory has so many.

// The product of two sizes; where 64 bits do not hold it, a number of elements that no memory holds.
static inline int64_t dcpy_product(int64_t a, int64_t b)
{
    int64_t product;
    return __builtin_mul_overflow(a, b, &product) ? __INT64_MAX__ : product;
}

static inline int64_t dcpy_uncounted(int64_t a, int64_t b, int64_t result)
{
    return a == __INT64_MAX__ || b == __INT64_MAX__ ? __INT64_MAX__ : result;
}

static inline int64_t dcpy_sum(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? __INT64_MAX__ : dcpy_uncounted(a, b, sum);
}

static inline int64_t dcpy_difference(int64_t a, int64_t b)
{
    int64_t rest;
    return __builtin_sub_overflow(a, b, &rest) ? __INT64_MAX__ : dcpy_uncounted(a, b, rest);
}

static inline int64_t dcpy_least(int64_t a, int64_t b) { return dcpy_uncounted(a, b, a < b ? a : b); }

static inline int64_t dcpy_quotient(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) return dcpy_uncounted(a, b, b == 0 ? 0 : -a);
    return dcpy_uncounted(a, b, a/b - (a % b != 0 && (a < 0) != (b < 0)));
}

static inline int64_t dcpy_rest(int64_t a, int64_t b)
{
    if (b == 0 || b == -1) return dcpy_uncounted(a, b, 0);
    return dcpy_uncounted(a, b, a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0));
}
