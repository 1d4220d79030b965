// Floats as integers in the same order, for extrema, of which g++ makes better vectors. C, too.

// What a float's bits mean as an integer rises with it, apart from the sign; `nan` is what a NaN counts as.
static inline int64_t dcpy_to_order_f64(double x, int64_t nan)
{
    int64_t bits;
    __builtin_memcpy(&bits, &x, 8);
    return x != x ? nan : bits ^ (bits >> 63 & __INT64_MAX__);
}

static inline double dcpy_from_order_f64(int64_t order)
{
    const int64_t bits = order ^ (order >> 63 & __INT64_MAX__);
    double x;
    __builtin_memcpy(&x, &bits, 8);
    return x;
}

static inline int32_t dcpy_to_order_f32(float x, int32_t nan)
{
    int32_t bits;
    __builtin_memcpy(&bits, &x, 4);
    return x != x ? nan : bits ^ (bits >> 31 & __INT32_MAX__);
}

static inline float dcpy_from_order_f32(int32_t order)
{
    const int32_t bits = order ^ (order >> 31 & __INT32_MAX__);
    float x;
    __builtin_memcpy(&x, &bits, 4);
    return x;
}
