// What dcpy adds to NumPy's C library of distributions: the generator PCG64 and how it is seeded (NumPy keeps these to
// itself), and what NumPy writes in Python or Cython on top of single draws. The streams are NumPy's, bit by bit.
// A struct bitgen is passed as a pointer to its five words. Functions that need memory of their own return whether there
// was none. Why it is done this way: docs/decisions/0025.

typedef __UINT64_TYPE__ dcpy_word;
typedef __UINT32_TYPE__ dcpy_half;
typedef __INT64_TYPE__ dcpy_number;
typedef unsigned __int128 dcpy_wide;

extern "C" dcpy_word random_bounded_uint64(void *, dcpy_word off, dcpy_word range, dcpy_word mask, bool masked);
extern "C" dcpy_word random_interval(void *, dcpy_word largest);
extern "C" double random_standard_uniform(void *);
extern "C" void random_standard_uniform_fill(void *, dcpy_number count, double *out);
extern "C" double random_standard_gamma(void *, double shape);
extern "C" double random_beta(void *, double a, double b);
extern "C" dcpy_number random_binomial(void *, double p, dcpy_number n, void *cache);

extern "C" void random_multinomial(void *, dcpy_number n, dcpy_number *out, const double *p, dcpy_number length, void *);
extern "C" void random_multivariate_hypergeometric_marginals(void *, dcpy_number total, __SIZE_TYPE__ length,
                                                             const dcpy_number *colors, dcpy_number sample,
                                                             __SIZE_TYPE__ rows, dcpy_number *out);
extern "C" int random_multivariate_hypergeometric_count(void *, dcpy_number total, __SIZE_TYPE__ length,
                                                        const dcpy_number *colors, dcpy_number sample, __SIZE_TYPE__ rows,
                                                        dcpy_number *out);

// --- PCG64: words 0 to 4 are room for a struct bitgen, 5 to 8 state and increment, 9 half of a number drawn before ---

static const int dcpy_words_of_bitgen = 5;

static dcpy_word dcpy_pcg64_next(void *at) {
    dcpy_word *s = (dcpy_word *)at;
    const dcpy_wide factor = (dcpy_wide)2549297995355413924u << 64 | 4865540595714422341u;
    const dcpy_wide state = ((dcpy_wide)s[1] << 64 | s[0]) * factor + ((dcpy_wide)s[3] << 64 | s[2]);
    s[0] = (dcpy_word)state;
    s[1] = (dcpy_word)(state >> 64);
    const dcpy_word mixed = s[0] ^ s[1];
    const unsigned turn = (unsigned)(s[1] >> 58);
    return mixed >> turn | mixed << (-turn & 63);
}

static dcpy_half dcpy_pcg64_next_half(void *at) {
    dcpy_word *s = (dcpy_word *)at;
    if (s[4] >> 32) return (dcpy_half)(s[4] &= 0xffffffff);
    const dcpy_word next = dcpy_pcg64_next(at);
    s[4] = (dcpy_word)1 << 32 | next >> 32;
    return (dcpy_half)next;
}

static double dcpy_pcg64_next_double(void *at) { return (dcpy_pcg64_next(at) >> 11) * (1.0 / 9007199254740992.0); }

struct dcpy_bitgen {
    void *state;
    dcpy_word (*next)(void *);
    dcpy_half (*next_half)(void *);
    double (*next_double)(void *);
    dcpy_word (*next_raw)(void *);
};

// Calls `draw` with a generator of the program's own. Its struct bitgen is made anew each time: the words may have
// been copied to another place meanwhile.
template <auto draw, typename... Args>
static inline auto dcpy_pcg64(dcpy_word *words, Args... args) {
    *(dcpy_bitgen *)words = {words + dcpy_words_of_bitgen, dcpy_pcg64_next, dcpy_pcg64_next_half,
                             dcpy_pcg64_next_double, dcpy_pcg64_next};
    return draw(words, args...);
}

// The most used draw needs no struct.
template <>
inline auto dcpy_pcg64<random_standard_uniform>(dcpy_word *words) {
    return dcpy_pcg64_next_double(words + dcpy_words_of_bitgen);
}

// Nor does an array of them, which keeps the state in registers.
template <>
inline auto dcpy_pcg64<random_standard_uniform_fill>(dcpy_word *words, dcpy_number count, double *out) {
    dcpy_word state[5];
    for (int i = 0; i < 5; ++i) state[i] = words[dcpy_words_of_bitgen + i];
    for (dcpy_number k = 0; k < count; ++k) out[k] = dcpy_pcg64_next_double(state);
    for (int i = 0; i < 5; ++i) words[dcpy_words_of_bitgen + i] = state[i];
}

// --- seeds: NumPy's SeedSequence, after Melissa O'Neill's seed_seq_fe ---

struct dcpy_hash {
    dcpy_half factor, step;

    dcpy_half operator()(dcpy_half value) {
        value ^= factor;
        factor *= step;
        value *= factor;
        return value ^ value >> 16;
    }
};

struct dcpy_entropy {
    dcpy_half pool[4] = {0, 0, 0, 0};
    dcpy_half first[4] = {0, 0, 0, 0};
    int count = 0;
    dcpy_hash hash = {0x43b0d7e5u, 0x931e8875u};

    void mix(dcpy_half &into, dcpy_half value) {
        into = 0xca01f9ddu * into - 0x4973f715u * hash(value);
        into ^= into >> 16;
    }
    void fill_pool() {
        for (int i = 0; i < 4; ++i) pool[i] = hash(first[i]);
        for (int from = 0; from < 4; ++from)
            for (int to = 0; to < 4; ++to)
                if (from != to) mix(pool[to], pool[from]);
    }
    void add(dcpy_half value) {
        if (count < 4) {
            first[count++] = value;
            if (count == 4) fill_pool();
        } else {
            for (int to = 0; to < 4; ++to) mix(pool[to], value);
        }
    }
    void finish() {
        if (count < 4) fill_pool();
    }
};

static void dcpy_pcg64_seed(const dcpy_word *numbers, dcpy_number count, dcpy_word *words) {
    dcpy_entropy entropy;
    for (dcpy_number i = 0; i < count; ++i) {
        entropy.add((dcpy_half)numbers[i]);
        if (numbers[i] >> 32) entropy.add((dcpy_half)(numbers[i] >> 32));
    }
    entropy.finish();
    dcpy_hash hash = {0x8b51f9ddu, 0x58f38dedu};
    dcpy_word made[4];
    for (int i = 0; i < 8; ++i) {
        const dcpy_word half = hash(entropy.pool[i % 4]);
        made[i / 2] = i % 2 ? made[i / 2] | half << 32 : half;
    }
    const dcpy_wide start = (dcpy_wide)made[0] << 64 | made[1];
    const dcpy_wide inc = ((dcpy_wide)made[2] << 64 | made[3]) << 1 | 1;
    const dcpy_wide state = inc + start;  // one step from 0, and the start; the second step is the generator's own
    dcpy_word *s = words + dcpy_words_of_bitgen;
    s[0] = (dcpy_word)state;
    s[1] = (dcpy_word)(state >> 64);
    s[2] = (dcpy_word)inc;
    s[3] = (dcpy_word)(inc >> 64);
    s[4] = 0;
    dcpy_pcg64_next(s);
}

// --- single draws with other parameters than the library's functions have ---

static dcpy_number dcpy_binomial(void *bitgen, dcpy_number n, double p) {
    static thread_local dcpy_number cache[32];  // what the library works out once per n and p
    return random_binomial(bitgen, p, n, cache);
}

// --- vectors: `rows` of them, of `length` each ---

static void dcpy_multinomial_row(void *bitgen, dcpy_number length, dcpy_number n, const double *p, dcpy_number *out) {
    static thread_local dcpy_number cache[32];
    for (dcpy_number j = 0; j < length; ++j) out[j] = 0;
    random_multinomial(bitgen, n, out, p, length, cache);
}

// `step`: from one row's probabilities to the next one's.
static void dcpy_multinomial(void *bitgen, dcpy_number rows, dcpy_number length, dcpy_number n, const double *p,
                             dcpy_number step, dcpy_number *out) {
    for (dcpy_number i = 0; i < rows; ++i) dcpy_multinomial_row(bitgen, length, n, p + i * step, out + i * length);
}

static void dcpy_multinomials(void *bitgen, dcpy_number rows, dcpy_number length, const dcpy_number *n, const double *p,
                              dcpy_number step, dcpy_number *out) {
    for (dcpy_number i = 0; i < rows; ++i) dcpy_multinomial_row(bitgen, length, n[i], p + i * step, out + i * length);
}

// Pieces are broken from a stick; `rest[j]` is the sum of alpha from j on.
static void dcpy_break_stick(void *bitgen, dcpy_number length, const double *alpha, const double *rest, double *out) {
    double left = 1.0;
    for (dcpy_number j = 0; j < length - 1; ++j) {
        const double part = random_beta(bitgen, alpha[j], rest[j + 1]);
        out[j] = left * part;
        left *= 1.0 - part;
        if (rest[j + 1] == 0) break;
    }
    out[length - 1] = left;
}

static bool dcpy_dirichlet(void *bitgen, dcpy_number rows, dcpy_number length, const double *alpha, double *out) {
    bool small = length > 0;
    for (dcpy_number j = 0; j < length; ++j) small = small && alpha[j] < 0.1;
    double *rest = (double *)__builtin_malloc((length + 1) * sizeof(double));
    if (!rest) return true;
    double sum = 0.0;
    for (dcpy_number j = length - 1; j >= 0; --j) rest[j] = sum += alpha[j];
    for (; rows > 0; --rows, out += length) {
        double total = 0.0;
        if (small) {
            for (dcpy_number j = 0; j < length; ++j) out[j] = 0.0;
            if (sum > 0.0) dcpy_break_stick(bitgen, length, alpha, rest, out);
            continue;
        }
        for (dcpy_number j = 0; j < length; ++j) total += out[j] = random_standard_gamma(bitgen, alpha[j]);
        const double factor = 1.0 / total;
        for (dcpy_number j = 0; j < length; ++j) out[j] *= factor;
    }
    __builtin_free(rest);
    return false;
}

static dcpy_number dcpy_total(const dcpy_number *colors, dcpy_number length, dcpy_number *out, dcpy_number rows) {
    dcpy_number total = 0;
    for (dcpy_number j = 0; j < length; ++j) total += colors[j];
    for (dcpy_number k = 0; k < rows * length; ++k) out[k] = 0;
    return total;
}

static void dcpy_multivariate_hypergeometric_marginals(void *bitgen, dcpy_number rows, dcpy_number length,
                                                       const dcpy_number *colors, dcpy_number sample,
                                                       dcpy_number *out) {
    const dcpy_number total = dcpy_total(colors, length, out, rows);
    if (sample > 0) random_multivariate_hypergeometric_marginals(bitgen, total, length, colors, sample, rows, out);
}

static void dcpy_multivariate_hypergeometric_count(void *bitgen, dcpy_number rows, dcpy_number length,
                                                   const dcpy_number *colors, dcpy_number sample, dcpy_number *out) {
    const dcpy_number total = dcpy_total(colors, length, out, rows);
    if (sample > 0) random_multivariate_hypergeometric_count(bitgen, total, length, colors, sample, rows, out);
}

// --- orders and choices: numbers[i] changes places with numbers[j], for a j up to i that is drawn for each i ---

static dcpy_word dcpy_upto(void *bitgen, dcpy_word largest) {
    return random_bounded_uint64(bitgen, 0, largest, 0, false);
}

// `upto` draws: NumPy orders whole arrays by random_interval, but what it has chosen by random_bounded_uint64.
template <dcpy_word (*upto)(void *, dcpy_word)>
static void dcpy_shuffle(void *bitgen, dcpy_number count, dcpy_number first, dcpy_number *numbers) {
    for (dcpy_number i = count - 1; i >= first; --i) {
        const dcpy_word j = upto(bitgen, (dcpy_word)i);
        const dcpy_number kept = numbers[j];
        numbers[j] = numbers[i];
        numbers[i] = kept;
    }
}

static void dcpy_permutations(void *bitgen, dcpy_number rows, dcpy_number count, dcpy_number *order) {
    for (; rows > 0; --rows, order += count) {
        for (dcpy_number i = 0; i < count; ++i) order[i] = i;
        dcpy_shuffle<random_interval>(bitgen, count, 1, order);
    }
}

// Few of many, by Floyd's method: the set of those that are taken is a table with open addressing.
static bool dcpy_sample_few(void *bitgen, dcpy_number population, dcpy_number count, dcpy_number *order) {
    dcpy_word mask = 1;
    while (mask < 2 * (dcpy_word)count) mask = 2 * mask + 1;
    dcpy_number *table = (dcpy_number *)__builtin_malloc((mask + 1) * sizeof(dcpy_number));
    if (!table) return true;
    for (dcpy_word i = 0; i <= mask; ++i) table[i] = -1;
    for (dcpy_number k = 0; k < count; ++k) {
        const dcpy_number last = population - count + k;
        dcpy_number drawn = (dcpy_number)dcpy_upto(bitgen, (dcpy_word)last);
        for (int attempt = 0; attempt < 2; ++attempt) {
            dcpy_word place = (dcpy_word)drawn & mask;
            while (table[place] != -1 && table[place] != drawn) place = (place + 1) & mask;
            if (table[place] == -1) {
                table[place] = drawn;
                break;
            }
            drawn = last;  // which nothing has taken yet
        }
        order[k] = drawn;
    }
    __builtin_free(table);
    return false;
}

static bool dcpy_sample(void *bitgen, dcpy_number population, dcpy_number count, bool shuffle, dcpy_number *order) {
    if (population > 10000 && count > population / (shuffle ? 50 : 20)) {
        dcpy_number *all = (dcpy_number *)__builtin_malloc(population * sizeof(dcpy_number));
        if (!all) return true;
        for (dcpy_number i = 0; i < population; ++i) all[i] = i;
        const dcpy_number rest = population - count;
        dcpy_shuffle<dcpy_upto>(bitgen, population, rest > 1 ? rest : 1, all);
        for (dcpy_number k = 0; k < count; ++k) order[k] = all[rest + k];
        __builtin_free(all);
        return false;
    }
    if (dcpy_sample_few(bitgen, population, count, order)) return true;
    if (shuffle) dcpy_shuffle<dcpy_upto>(bitgen, count, 1, order);
    return false;
}

// Draws as many as are missing, drops what is taken already, and starts again with the weights of what is left.
static bool dcpy_sample_weighted(void *bitgen, dcpy_number population, const double *p, dcpy_number count,
                                 dcpy_number *order) {
    double *weights = (double *)__builtin_malloc((2 * population + count) * sizeof(double));
    if (!weights) return true;
    double *sums = weights + population;
    double *drawn = sums + population;
    for (dcpy_number i = 0; i < population; ++i) weights[i] = p[i];
    for (dcpy_number found = 0; found < count;) {
        const dcpy_number missing = count - found;
        for (dcpy_number k = 0; k < missing; ++k) drawn[k] = random_standard_uniform(bitgen);
        for (dcpy_number k = 0; k < found; ++k) weights[order[k]] = 0;
        double sum = 0;
        for (dcpy_number i = 0; i < population; ++i) sums[i] = sum += weights[i];
        for (dcpy_number i = 0; i < population; ++i) sums[i] /= sum;
        const dcpy_number before = found;
        for (dcpy_number k = 0; k < missing; ++k) {
            dcpy_number low = 0, high = population;
            while (low < high) {
                const dcpy_number middle = low + (high - low) / 2;
                if (sums[middle] <= drawn[k]) low = middle + 1;
                else high = middle;
            }
            bool is_new = low < population;
            for (dcpy_number i = before; is_new && i < found; ++i) is_new = order[i] != low;
            if (is_new) order[found++] = low;
        }
    }
    __builtin_free(weights);
    return false;
}
