// What simulated networks have taken, in rows: cycles of kernels and processes, and how full queues were.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// A function that kernels call: copied into each of their reads and writes, it would be most of what is compiled.
#define DCPY_CALLED __attribute__((noinline))

namespace dcpy_fpga {

/// A list that grows; of values that are moved by copying their bytes.
template <class T> struct list {
    T *items = nullptr;
    int64_t size = 0, room = 0;

    list() = default;
    list(const list &) = delete;
    list &operator=(const list &) = delete;
    ~list() { free(items); }

    void add(const T &item)
    {
        if (size == room) {
            room = room ? 2 * room : 8;
            items = static_cast<T *>(realloc(static_cast<void *>(items), size_t(room) * sizeof(T)));
            if (!items) abort();
        }
        items[size++] = item;
    }
    T &operator[](int64_t k) { return items[k]; }
    void drop_first(int64_t count)
    {
        memmove(static_cast<void *>(items), items + count, size_t(size - count) * sizeof(T));
        size -= count;
    }
};

/// What networks have taken since somebody asked: of a kernel, of one of its processes, or of its queues.
struct row {
    const char *what, *kernel, *name;
    int64_t number, runs, first, second;  // cycles, and those of them that it stood still; the peak, and the depth
};

inline thread_local list<row> *rows = nullptr;  // of this thread, for ever
inline thread_local const char *last_kernel = "";

/// Adds to a row, or makes it; of queues the largest numbers count.
DCPY_CALLED inline void note(const char *what, const char *name, int64_t number, int64_t first, int64_t second)
{
    if (!rows) rows = new list<row>;
    for (int64_t k = rows->size - 1; k >= 0; --k) {
        row &known = (*rows)[k];
        if (known.number != number || strcmp(known.what, what) || strcmp(known.kernel, last_kernel) ||
            strcmp(known.name, name))
            continue;
        ++known.runs;
        if (*what == 'q') {
            if (first > known.first) known.first = first;
        } else {
            known.first += first;
            known.second += second;
        }
        return;
    }
    rows->add({what, last_kernel, name, number, 1, first, second});
}

/// All rows as text, a line for each, its fields between tabs; then there are none any more.
DCPY_CALLED inline const char *told()
{
    static thread_local list<char> text;
    text.size = 0;
    for (int64_t k = 0; rows && k < rows->size; ++k) {
        const row &one = (*rows)[k];
        char line[512];
        const int length = snprintf(line, sizeof line, "%s\t%s\t%s\t%lld\t%lld\t%lld\t%lld\n", one.what, one.kernel,
                                    one.name, (long long)one.number, (long long)one.runs, (long long)one.first,
                                    (long long)one.second);
        for (int i = 0; i < length && i < int(sizeof line) - 1; ++i) text.add(line[i]);
    }
    text.add(0);
    if (rows) rows->size = 0;
    return text.items;
}

}  // namespace dcpy_fpga
