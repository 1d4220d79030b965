// Rows sorted by their digits, the lowest first (LSD radix sort), which is stable, or side by side by a network where
// they are short. A number becomes an unsigned key of the same order; NaN is last. Callers own the spare memory, which
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
        Item *items = (Item *)spare;
        for (int64_t i = 0; i < n; i++) items[i] = {Order<T>::key_of_equals(x[i * stride]), i};
        items = sort_items(items, items + n, n);
        for (int64_t i = 0; i < n; i++) out[i] = items[i].index;
    }
}
}
