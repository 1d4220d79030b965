// Rows sorted by their digits, the lowest first (LSD radix sort), which is stable, or side by side by a network where
// they are short; and elements of rows selected by their rank, without sorting the others. A number becomes an unsigned key of the same order; NaN is last. Callers own the spare memory, which
// all rows share. NumPy's own sorts, which know the processor's vectors, take long rows where the host has NumPy, and
// lends them. As all programs that sort get this text, it includes nothing.

namespace dcpy {
using int64_t = __INT64_TYPE__;
using uint64_t = __UINT64_TYPE__;

template <int bytes> struct Unsigned;
template <> struct Unsigned<1> { using type = __UINT8_TYPE__; using with_sign = __INT8_TYPE__; };
template <> struct Unsigned<2> { using type = __UINT16_TYPE__; using with_sign = __INT16_TYPE__; };
template <> struct Unsigned<4> { using type = __UINT32_TYPE__; using with_sign = __INT32_TYPE__; };
template <> struct Unsigned<8> { using type = uint64_t; using with_sign = int64_t; };

// The bits of a number as an unsigned one: integers flip their sign bit. Of floating point numbers, whose magnitude
// is in the other bits, the negative ones flip all bits.
template <class T> struct Order {
    using Key = typename Unsigned<sizeof(T)>::type;
    static constexpr int bits = 8 * sizeof(T), mantissa = bits == 16 ? 10 : bits == 32 ? 23 : 52;
    static constexpr bool is_real = T(1) / 2 != 0, is_signed = T(-1) < T(0);
    static constexpr Key sign = Key(1) << (bits - 1), infinity = sign - (Key(1) << mantissa % bits);

    static Key key(T number) {
        Key key;
        __builtin_memcpy(&key, &number, sizeof key);
        if (!is_real) return is_signed ? key ^ sign : key;
        if ((key & ~sign) > infinity) return ~Key(0);
        return key & sign ? ~key : key | sign;
    }

    static Key key_of_equals(T number) { return key(is_real && number == T(0) ? T(0) : number); }  // -0.0 is 0.0

    static T number(Key key) {
        if (is_real) key = key & sign ? key ^ sign : ~key;
        else if (is_signed) key ^= sign;
        T number;
        __builtin_memcpy(&number, &key, sizeof key);
        return number;
    }
};

template <class Key> struct Place {
    Key key;
    int64_t index;
};

template <class Key> Key key_of(Key key) { return key; }
template <class Key> Key key_of(const Place<Key> &place) { return place.key; }

template <class Item> void sort_by_insertion(Item *items, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        Item item = items[i];
        int64_t k = i;
        for (; k > 0 && key_of(item) < key_of(items[k - 1]); k--) items[k] = items[k - 1];
        items[k] = item;
    }
}

// Sorts by digits of some bits; the result is in one of the two places, which is returned.
template <int width, class Item> Item *sort_by_digits(Item *items, Item *spare, int64_t n) {
    constexpr int radix = 1 << width, digits = (8 * sizeof(key_of(*items)) + width - 1) / width;
    int64_t starts[digits][radix] = {};
    auto digit = [](const Item &item, int d) { return int(key_of(item) >> d * width & (radix - 1)); };
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < digits; d++) starts[d][digit(items[i], d)]++;
    for (int d = 0; d < digits; d++) {
        int64_t *start = starts[d], sum = 0;
        if (start[digit(items[0], d)] == n) continue;  // all are the same
        for (int k = 0; k < radix; k++) {
            int64_t count = start[k];
            start[k] = sum;
            sum += count;
        }
        for (int64_t i = 0; i < n; i++) spare[start[digit(items[i], d)]++] = items[i];
        Item *sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

constexpr int64_t longest_of_insertion = 64;

template <class Item> Item *sort_items(Item *items, Item *spare, int64_t n) {
    if (n > 8192) return sort_by_digits<11>(items, spare, n);  // wide digits: more to clear, less to move
    if (n > longest_of_insertion) return sort_by_digits<8>(items, spare, n);
    sort_by_insertion(items, n);
    return items;
}

// Short rows are sorted side by side: element i of each of the lanes' rows is in a vector, and Batcher's merge exchange
// (Knuth, 5.2.2, algorithm M) puts pairs of vectors in order, the same pairs whatever the elements are.
constexpr int64_t longest_of_network = 1024;

template <class Key> struct Lanes {
    static constexpr int count = 64 / sizeof(Key);
    typedef typename Unsigned<sizeof(Key)>::with_sign Element;  // processors compare these faster than unsigned ones
    typedef Element Vector __attribute__((vector_size(64), aligned(sizeof(Key))));
    static constexpr Key sign = Key(1) << (8 * sizeof(Key) - 1);

    // Whether the network takes less time than digits of so many bytes, also where lanes stay empty: nanoseconds for an
    // element, measured on rows of 20 to 1000. `arrays` change places at each step, keys and perhaps places.
    static bool pay(int64_t rows, int64_t n, int arrays, int bytes) {
        if (n < 2 || n > longest_of_network || rows < count / 4) return false;
        if (n <= longest_of_insertion) return true;
        int steps = 1;
        while ((n - 1) >> steps != 0) steps++;
        const double filled = rows < count ? rows : count;
        return 0.6 + 0.34 * arrays * steps * (steps + 1) / filled <= 0.5 + bytes * (bytes / 8.0 + 80.0 / n);
    }
};

template <class Exchange> void merge_exchange(int64_t n, Exchange exchange) {
    int64_t half = 1;
    while (2 * half < n) half *= 2;
    for (int64_t p = half; p > 0; p /= 2) {
        int64_t q = half, rest = 0, distance = p;
        while (true) {
            for (int64_t start = rest; start < n - distance; start += 2 * p)
                for (int64_t i = start; i < start + p && i < n - distance; i++) exchange(i, i + distance);
            if (q == p) break;
            distance = q - p;
            q /= 2;
            rest = p;
        }
    }
}

// Of 2, 4 and 8 bytes, signed, unsigned and real. The runtime fills it when it loads a program.
typedef int (*LentSort)(void *items, __INTPTR_TYPE__ n, void *none);
extern "C" {
__attribute__((weak, visibility("default"))) LentSort dcpy_lent_sorts[3][3] = {};
}

template <class T> LentSort lent_sort(int64_t n) {
    constexpr int64_t shortest = 64;
    if (sizeof(T) == 1 || n < shortest) return nullptr;
    return dcpy_lent_sorts[sizeof(T) / 4][Order<T>::is_real ? 2 : Order<T>::is_signed ? 0 : 1];
}

// out = np.sort(x): x[row * step + i * stride] are the elements of its rows, those of `out` are packed.
template <class T>
void sort_rows(const T *x, T *out, typename Order<T>::Key *spare, int64_t rows, int64_t n, int64_t step, int64_t stride) {
    using Key = typename Order<T>::Key;
    using Lanes = Lanes<Key>;
    if (const LentSort lent = lent_sort<T>(n)) {
        for (int64_t row = 0; row < rows; row++, x += step, out += n) {
            for (int64_t i = 0; i < n; i++) out[i] = x[i * stride];
            lent(out, n, nullptr);
        }
        return;
    }
    for (; Lanes::pay(rows, n, 1, sizeof(Key)); rows -= Lanes::count, x += Lanes::count * step, out += Lanes::count * n) {
        const int64_t some = rows < Lanes::count ? rows : Lanes::count;
        auto *keys = (typename Lanes::Vector *)spare;
        for (int64_t row = 0; row < some; row++)
            for (int64_t i = 0; i < n; i++) spare[i * Lanes::count + row] = Order<T>::key(x[row * step + i * stride]) ^ Lanes::sign;
        merge_exchange(n, [keys](int64_t i, int64_t k) {
            const auto a = keys[i], b = keys[k];
            keys[i] = a < b ? a : b;
            keys[k] = a < b ? b : a;
        });
        for (int64_t row = 0; row < some; row++)
            for (int64_t i = 0; i < n; i++) out[row * n + i] = Order<T>::number(spare[i * Lanes::count + row] ^ Lanes::sign);
    }
    for (int64_t row = 0; row < rows; row++, x += step, out += n) {
        Key *keys = (Key *)out;
        for (int64_t i = 0; i < n; i++) keys[i] = Order<T>::key(x[i * stride]);
        keys = sort_items(keys, spare, n);
        for (int64_t i = 0; i < n; i++) out[i] = Order<T>::number(keys[i]);
    }
}

// The order of one row by a lent sort of numbers that hold a key's varying bits, and below them its place; false where
// that would be slow. Bits that do not fit are looked at where keys are equal in the others.
template <class T> bool argsort_by_packed(const T *x, int64_t *out, uint64_t *packed, int64_t n, int64_t stride) {
    using Key = typename Order<T>::Key;
    const LentSort lent = lent_sort<uint64_t>(n);
    if (!lent) return false;
    Key all = ~Key(0), any = 0;
    for (int64_t i = 0; i < n; i++) {
        const Key key = Order<T>::key_of_equals(x[i * stride]);
        all &= key;
        any |= key;
    }
    int of_place = 1, varying = 0;
    while ((n - 1) >> of_place != 0) of_place++;
    while (varying < int(8 * sizeof(Key)) && Key(all ^ any) >> varying != 0) varying++;
    const int dropped = varying + of_place > 64 ? varying + of_place - 64 : 0;
    const uint64_t places = (uint64_t(1) << of_place) - 1;
    for (int64_t i = 0; i < n; i++)
        packed[i] = uint64_t(Key(Order<T>::key_of_equals(x[i * stride]) ^ all)) >> dropped << of_place | i;
    lent(packed, n, nullptr);
    for (int64_t i = 0; i < n; i++) out[i] = packed[i] & places;
    int64_t moves = 0;
    for (int64_t i = 1; dropped && i < n; i++) {
        if ((packed[i] ^ packed[i - 1]) > places) continue;
        const int64_t place = out[i];
        const Key key = Order<T>::key_of_equals(x[place * stride]);
        int64_t k = i;
        for (; k > 0 && (packed[k - 1] ^ packed[i]) <= places; k--, moves++) {
            if (Order<T>::key_of_equals(x[out[k - 1] * stride]) <= key) break;
            out[k] = out[k - 1];
        }
        out[k] = place;
        if (moves > 4 * n) return false;
    }
    return true;
}

// out = np.argsort(x, kind="stable"), likewise.
template <class T>
void argsort_rows(const T *x, int64_t *out, uint64_t *spare, int64_t rows, int64_t n, int64_t step, int64_t stride) {
    using Key = typename Order<T>::Key;
    using Item = Place<Key>;
    using Lanes = Lanes<typename Unsigned<(sizeof(Key) < 2 ? 2 : sizeof(Key))>::type>;  // which hold places, too
    using Element = typename Lanes::Element;
    for (; Lanes::pay(rows, n, 2, sizeof(Key)); rows -= Lanes::count, x += Lanes::count * step, out += Lanes::count * n) {
        const int64_t some = rows < Lanes::count ? rows : Lanes::count;
        Element *const key = (Element *)spare, *const place = key + n * Lanes::count;
        for (int64_t row = 0; row < some; row++)
            for (int64_t i = 0; i < n; i++) {
                key[i * Lanes::count + row] = Order<T>::key_of_equals(x[row * step + i * stride]) ^ Lanes::sign;
                place[i * Lanes::count + row] = i;
            }
        auto *const keys = (typename Lanes::Vector *)key, *const places = (typename Lanes::Vector *)place;
        merge_exchange(n, [keys, places](int64_t i, int64_t k) {
            const auto a = keys[i], b = keys[k], of_a = places[i], of_b = places[k];
            const auto in_order = (a < b) | ((a == b) & (of_a < of_b));
            keys[i] = in_order ? a : b;
            keys[k] = in_order ? b : a;
            places[i] = in_order ? of_a : of_b;
            places[k] = in_order ? of_b : of_a;
        });
        for (int64_t row = 0; row < some; row++)
            for (int64_t i = 0; i < n; i++) out[row * n + i] = place[i * Lanes::count + row];
    }
    for (int64_t row = 0; row < rows; row++, x += step, out += n) {
        if (argsort_by_packed(x, out, spare, n, stride)) continue;
        Item *items = (Item *)spare;
        for (int64_t i = 0; i < n; i++) items[i] = {Order<T>::key_of_equals(x[i * stride]), i};
        items = sort_items(items, items + n, n);
        for (int64_t i = 0; i < n; i++) out[i] = items[i].index;
    }
}

// -- selection by rank ------------------------------------------------------------------------------------------------

#if defined(__AVX512F__) && defined(__has_builtin)
#if __has_builtin(__builtin_ia32_compressdi512_mask) && __has_builtin(__builtin_ia32_ucmpq512_mask)
#define DCPY_COMPRESSES
typedef long long Lanes8 __attribute__((vector_size(64)));
typedef int Lanes4 __attribute__((vector_size(64)));
inline unsigned less(Lanes8 v, Lanes8 pivot) { return __builtin_ia32_ucmpq512_mask(v, pivot, 1, -1); }
inline unsigned less(Lanes4 v, Lanes4 pivot) { return __builtin_ia32_ucmpd512_mask(v, pivot, 1, -1); }
inline Lanes8 packed(Lanes8 v, unsigned mask) { return __builtin_ia32_compressdi512_mask(v, Lanes8{}, mask); }
inline Lanes4 packed(Lanes4 v, unsigned mask) { return __builtin_ia32_compresssi512_mask(v, Lanes4{}, mask); }

// What `split` does with whole vectors; returns how many elements those are. Stores go over what has been read.
template <class Vector, class Key> int64_t split_vectors(Key *items, Key *spare, int64_t n, Key pivot, int64_t &front) {
    constexpr int64_t lanes = 64 / sizeof(Key);
    const Vector pivots = Vector{} + typename Unsigned<sizeof(Key)>::with_sign(pivot);
    int64_t i = 0, back = 0;
    for (; i + lanes <= n; i += lanes) {
        Vector v;
        __builtin_memcpy(&v, items + i, sizeof v);
        const unsigned mask = less(v, pivots), rest = ~mask & ((1u << lanes) - 1);
        const Vector below = packed(v, mask), others = packed(v, rest);
        __builtin_memcpy(items + front, &below, sizeof v);
        __builtin_memcpy(spare + back, &others, sizeof v);
        front += __builtin_popcount(mask);
        back += __builtin_popcount(rest);
    }
    return i;
}
#endif
#endif

// Items below the pivot come first, and are counted; `spare` has place for one vector more than all items.
template <class Key> int64_t split(Key *items, Key *spare, int64_t n, Key pivot) {
    int64_t front = 0, i = 0;
#ifdef DCPY_COMPRESSES
    if constexpr (sizeof(Key) == 8) i = split_vectors<Lanes8>(items, spare, n, pivot, front);
    if constexpr (sizeof(Key) == 4) i = split_vectors<Lanes4>(items, spare, n, pivot, front);
#endif
    for (; i < n; i++) {
        const Key item = items[i];
        items[front] = spare[i - front] = item;
        front += item < pivot;
    }
    __builtin_memcpy(items + front, spare, (n - front) * sizeof(Key));
    return front;
}

// The rank'th of n items comes to its place, smaller ones before it. A pivot from a sample lies a little beyond that
// rank on the longer side (Floyd and Rivest, 1975), so that each split leaves the shorter one. Where splits do not help,
// which takes an input that knows the sample, what is left is sorted.
template <class Key> void select_rank(Key *items, Key *spare, int64_t n, int64_t rank) {
    constexpr int64_t few = 32, margin = 4, sampled = 63;
    for (int splits = 0; n > few; splits++) {
        if (splits > 40) {
            const Key *sorted = sort_items(items, spare, n);
            if (sorted != items) __builtin_memcpy(items, sorted, n * sizeof(Key));
            return;
        }
        const int64_t size = n > 1024 ? sampled : sampled / 4;
        Key sample[sampled];
        for (int64_t k = 0; k < size; k++) sample[k] = items[(2 * k + 1) * (n / (2 * size)) + k % 3];
        sort_by_insertion(sample, size);
        const int64_t place = rank * size / n, last = size - 1, low = place - margin, high = place + margin;
        const Key pivot = sample[2 * rank < n ? (high < last ? high : last) : (low > 0 ? low : 0)];
        int64_t front = split(items, spare, n, pivot);
        if (front == 0) {  // the pivot is the smallest: those like it
            if (pivot == Key(~Key(0))) return;
            front = split(items, spare, n, Key(pivot + 1));
            if (rank < front) return;
        }
        if (rank < front) {
            n = front;
        } else {
            items += front;
            n -= front;
            rank -= front;
        }
    }
    sort_by_insertion(items, n);
}

// The same for ranks that rise, each at least `first`, of the items from there.
template <class Key>
void select_ranks(Key *items, Key *spare, int64_t n, int64_t first, const int64_t *ranks, int64_t count) {
    if (count == 0 || n < 2) return;
    const int64_t middle = count / 2, rank = ranks[middle] - first;
    if (rank == 0 || rank == n - 1) {  // one of them comes to the end
        Key end = items[rank];
        for (int64_t i = 0; i < n; i++) end = (rank == 0 ? items[i] < end : items[i] > end) ? items[i] : end;
        int64_t i = 0;
        while (items[i] != end) i++;
        items[i] = items[rank];
        items[rank] = end;
    } else {
        select_rank(items, spare, n, rank);
    }
    int64_t before = middle, after = middle + 1;
    while (before > 0 && ranks[before - 1] == ranks[middle]) before--;
    while (after < count && ranks[after] == ranks[middle]) after++;
    select_ranks(items, spare, rank, first, ranks, before);
    select_ranks(items + rank + 1, spare, n - rank - 1, first + rank + 1, ranks + after, count - after);
}

// out = np.partition(x, ranks): as above. Short rows, and those of which many ranks are wanted, are sorted.
template <class T>
void partition_rows(const T *x, const int64_t *ranks, T *out, typename Order<T>::Key *spare, int64_t *rising,
                    int64_t rows, int64_t n, int64_t step, int64_t stride, int64_t rank_stride, int64_t count) {
    using Key = typename Order<T>::Key;
    constexpr int64_t shortest = 512, least_for_one = 64;
    if (n < shortest || count * least_for_one > n || sizeof(Key) == 1)
        return sort_rows(x, out, spare, rows, n, step, stride);
    for (int64_t k = 0; k < count; k++) rising[k] = ranks[k * rank_stride];
    for (int64_t k = 1; k < count; k++)
        for (int64_t i = k; i > 0 && rising[i] < rising[i - 1]; i--) {
            const int64_t rank = rising[i];
            rising[i] = rising[i - 1];
            rising[i - 1] = rank;
        }
    for (int64_t row = 0; row < rows; row++, x += step, out += n) {
        Key *keys = (Key *)out;
        for (int64_t i = 0; i < n; i++) keys[i] = Order<T>::key(x[i * stride]);
        select_ranks(keys, spare, n, 0, rising, count);
        for (int64_t i = 0; i < n; i++) out[i] = Order<T>::number(keys[i]);
    }
}
}
