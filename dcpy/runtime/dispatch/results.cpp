// Memory of large results: what one array gives back is there for the next one.
//
// Memory that the system hands out anew is paid for at the first touch of each page: 128 MiB cost three passes over them in
// huge pages, and 15 in small ones. So large results come from a handler of memory in NumPy's sense (NEP 49), which
// keeps a few blocks. While nobody uses a block, the system may have its pages (MADV_FREE): it takes them if it is short
// of memory, and else they are there as they were. Elsewhere than on Linux, and where the caller has set a handler,
// NumPy's own memory is used.
#include "results.h"

namespace dcpy {

namespace {

Object of_numpy(PyArray_Descr *dtype, int rank, const npy_intp *sizes, const npy_intp *strides) {
    if (!strides) return Object(PyArray_Empty(rank, sizes, dtype, 0));
    return Object(PyArray_NewFromDescr(&PyArray_Type, dtype, rank, sizes, strides, nullptr, 0, nullptr));
}

}  // namespace

}  // namespace dcpy

#ifdef __linux__

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

namespace dcpy {

namespace {

constexpr size_t LARGE = size_t(4) << 20;  // where NumPy begins to ask for huge pages
constexpr size_t HEAD = 64;                // in front of the elements: how many bytes the block has
constexpr size_t PAGE = 4096, HUGE_PAGE = size_t(2) << 20;
constexpr size_t MOST = 8;         // blocks that are kept
constexpr size_t OF_MEMORY = 4;    // and the part of the machine's memory that they have at most
constexpr size_t WASTE = 8;        // the part of a block that an array may leave unused

using Block = char *;

size_t &size_of(Block block) { return *reinterpret_cast<size_t *>(block); }

// What the system is told is about whole huge pages, the one with the head not among them.
void advise(Block block, int advice) {
    const auto first = (reinterpret_cast<uintptr_t>(block) + HEAD + HUGE_PAGE - 1) & ~(HUGE_PAGE - 1);
    const auto last = (reinterpret_cast<uintptr_t>(block) + size_of(block)) & ~(HUGE_PAGE - 1);
    if (first < last) madvise(reinterpret_cast<void *>(first), last - first, advice);
}

// Used under the GIL, which no thread has while another forks.
class Kept {
  public:
    // A block of that size, or hardly larger; null where there is none.
    Block take(size_t bytes) {
        const auto fits = [bytes](Block block) { return size_of(block) >= bytes && size_of(block) - bytes <= bytes / WASTE; };
        const auto found = std::find_if(blocks_.rbegin(), blocks_.rend(), fits);
        if (found == blocks_.rend()) return nullptr;
        const Block block = *found;
        blocks_.erase(std::next(found).base());
        total_ -= size_of(block);
        return block;
    }

    void give(Block block) {
        advise(block, MADV_FREE);
        blocks_.push_back(block);
        total_ += size_of(block);
        while (blocks_.size() > MOST || total_ > limit()) drop_oldest();
    }

    // True if there was something to drop.
    bool drop_oldest() {
        if (blocks_.empty()) return false;
        const Block oldest = blocks_.front();
        blocks_.erase(blocks_.begin());
        total_ -= size_of(oldest);
        munmap(oldest, size_of(oldest));
        return true;
    }

  private:
    static size_t limit() {
        static const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
        return pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) / OF_MEMORY : 0;
    }

    std::vector<Block> blocks_;  // the one that was used last is last
    size_t total_ = 0;
};

// Never destroyed: arrays may live longer than the module.
Kept &kept = *new Kept;

void *allocate(void *, size_t bytes) {
    const size_t all = (bytes + HEAD + PAGE - 1) & ~(PAGE - 1);
    if (all < bytes) return nullptr;
    if (const Block block = kept.take(all)) return block + HEAD;
    void *mapped;
    do {
        mapped = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    } while (mapped == MAP_FAILED && kept.drop_oldest());
    if (mapped == MAP_FAILED) return nullptr;
    const auto block = static_cast<Block>(mapped);
    size_of(block) = all;
    advise(block, MADV_HUGEPAGE);
    return block + HEAD;
}

void release(void *, void *data, size_t) {
    if (data) kept.give(static_cast<char *>(data) - HEAD);
}

void *allocate_zeros(void *context, size_t count, size_t size) {
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) return nullptr;
    void *data = allocate(context, bytes);
    return data ? std::memset(data, 0, bytes) : nullptr;
}

// `ndarray.resize` asks for it.
void *reallocate(void *context, void *data, size_t bytes) {
    void *moved = allocate(context, bytes);
    if (!moved || !data) return moved;
    std::memcpy(moved, data, std::min(bytes, size_of(static_cast<char *>(data) - HEAD) - HEAD));
    release(context, data, 0);
    return moved;
}

PyDataMem_Handler handler = {"dcpy", 1, {nullptr, allocate, allocate_zeros, reallocate, release}};

// Whether elements of that many sizes are many bytes, and no more than there may be.
bool is_large(const PyArray_Descr *dtype, int rank, const npy_intp *sizes) {
    size_t bytes = static_cast<size_t>(PyDataType_ELSIZE(dtype));
    for (int d = 0; d < rank; ++d) {
        if (__builtin_mul_overflow(bytes, static_cast<size_t>(sizes[d]), &bytes)) return false;
    }
    return bytes >= LARGE && bytes <= static_cast<size_t>(NPY_MAX_INTP) / 2;
}

// NumPy's handler of memory is ours while this lives; not where the caller has chosen one.
class OurMemory {
  public:
    OurMemory() {
        static PyObject *const ours = PyCapsule_New(&handler, "mem_handler", nullptr);
        Object now(PyDataMem_GetHandler());
        if (ours && now.get() == PyDataMem_DefaultHandler) before_ = Object(PyDataMem_SetHandler(ours));
        PyErr_Clear();
    }
    ~OurMemory() {
        if (before_) Object(PyDataMem_SetHandler(before_.get()));
    }
    OurMemory(const OurMemory &) = delete;
    OurMemory &operator=(const OurMemory &) = delete;

  private:
    Object before_;
};

}  // namespace

Object new_array(PyArray_Descr *dtype, int rank, const npy_intp *sizes, const npy_intp *strides) {
    if (!is_large(dtype, rank, sizes)) return of_numpy(dtype, rank, sizes, strides);
    const OurMemory ours;
    return of_numpy(dtype, rank, sizes, strides);
}

}  // namespace dcpy

#else

namespace dcpy {

Object new_array(PyArray_Descr *dtype, int rank, const npy_intp *sizes, const npy_intp *strides) {
    return of_numpy(dtype, rank, sizes, strides);
}

}  // namespace dcpy

#endif
