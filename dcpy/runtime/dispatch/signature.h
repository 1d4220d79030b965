// A specialization: compiled code, and the rules that arguments must fit to be handed to it.
// The plain tuples from which it is parsed are written by encoding.py, which documents them.
#pragma once

#include <vector>

#include "native.h"

namespace dcpy {

using Entry = int32_t (*)(void *const *args, const int64_t *symbols, void *const *results, int64_t *error);
using Stream = void (*)(void *);
using Results = void (*)(void *const *args, const int64_t *symbols, int64_t *numbers);

// A size or stride: symbol `slot` (bound where it occurs first, compared afterwards) plus a constant; -1: a constant.
struct Extent {
    int slot;
    bool first;
    bool not_one;
    int64_t constant;
};

enum class Kind { Array, Scalar, Constant, Generator, Record, DeviceArray };

struct ArgumentRule {
    Kind kind;

    // Array
    int rank = 0;
    int flags = 0;      // NumPy flags that must be set: aligned, contiguous, writeable
    int64_t itemsize = 0;
    std::vector<Extent> sizes;
    std::vector<Extent> strides;  // in elements; empty for packed arrays
    std::vector<int> axes;        // from the longest stride to the shortest, where that is known; all of a packed array

    // Array and Scalar
    int type = NPY_NOTYPE;

    // Scalar
    bool weak = false;      // takes Python's own numbers
    bool converts = false;  // takes Python numbers of a smaller kind too
    Extent symbol{-1, false, false, 0};

    Object value;  // Constant: what it must be; Generator: NumPy's class of them; Record: its class

    // Record
    Py_ssize_t length = -1;  // of a tuple
    int same = -1;           // the earlier argument that must be the very object
    std::vector<int> apart;  // earlier arguments that must be other objects
    Object strangers;        // a tuple of objects that it must not be
};

enum class Outcome { Fresh, Scalar, Argument, View, Constant, Owned, Shown };

struct ResultRule {
    Outcome kind;
    int index = 0;  // of the argument (Argument, View), or of a fresh result in front (Shown: a view of that)
    int type = NPY_NOTYPE;
    int rank = 0;
    bool python = false;  // a Python number, not a NumPy scalar
    bool read_only = false;  // a view that takes no writes
    bool on_device = false;
    std::vector<int> axes;  // Fresh, Owned: from the slowest to the fastest; empty for C order
    Object value;         // Constant
    Object dtype;         // Fresh, Scalar, View, Owned, Shown
};

// Where a value comes from that is no argument: a namespace, the cell of an enclosing function, an object's attribute,
// or a part of an earlier argument (a field of an object, an item of a tuple).
struct Source {
    Object container;
    Object name;  // null for a cell and for an item
    bool attribute = false;
    int parent = -1;           // the argument that it is a part of
    Py_ssize_t position = -1;  // of an item

    // A new reference; null with an exception set where there is no such value. `values`: the arguments so far.
    Object fetch(PyObject *const *values = nullptr) const;
};

// After the call, the object that is argument `object` gets a field: always, or where the result `when` is true.
struct Effect {
    int object = 0;
    Object name;
    Object part;  // over results, as `Specialization::structure`
    int when = -1;
};

struct Guard {
    Source source;
    Object expected;
};

// A condition on symbols: the sum of factor * symbol, and a constant, is at least 0.
struct Linear {
    int64_t constant = 0;
    std::vector<std::pair<int, int64_t>> terms;  // slot and factor
};

// What is assumed of a symbol: a range, and a number that divides it.
struct Assumed {
    int slot = -1;
    int64_t least = 0;
    int64_t most = 0;
    int64_t multiple = 1;
};

struct Specialization {
    std::vector<ArgumentRule> arguments;  // of the parameters, then of `closure`
    std::vector<Source> closure;          // arguments that no caller passes: global arrays, as they are at the call
    std::vector<std::pair<int, int>> apart;  // pairs of arrays that must not overlap
    std::vector<ResultRule> results;
    std::vector<Guard> guards;
    std::vector<Linear> assumes;  // compiled code is right only where all of these hold
    std::vector<Linear> unless;   // and not the best where all of these hold
    std::vector<Assumed> assumed;  // what the user says of symbols; a call that breaks it is refused
    size_t symbols = 0;
    size_t numbers = 0;  // that `shapes` writes
    size_t owned = 0;    // results that compiled code allocates
    int priority = 0;
    Object structure;
    std::vector<Effect> effects;
    Object failure;    // called with the index of a failed check and four numbers
    Object callbacks;  // called with the number of a call site, the address of its operands, and arrays that own memory
    Object keepalive;  // the loaded library
    Entry entry = nullptr;
    Results shapes = nullptr;
    Stream on_stream = nullptr;  // of a program whose arguments are on a device

    int traverse(visitproc visit, void *arg) const;
};

// Null with an exception set where the tuples are malformed: an error of dcpy, not of the user.
std::unique_ptr<Specialization> parse_specialization(PyObject *encoded);
bool parse_source(PyObject *encoded, Source &source);

// What of a specialization names an argument, symbol or result that does not exist; null where all is well.
const char *inconsistency(const Specialization &s);

// One number, large enough and aligned for every dtype.
struct alignas(16) Slot {
    unsigned char bytes[32];
};

// What a matching call hands to compiled code, and the values that scalars point to.
struct Frame {
    explicit Frame(const Specialization &s)
        : args(s.arguments.size() + 1), symbols(s.symbols), scalars(s.arguments.size()) {}

    Scratch<void *, 16> args;
    Scratch<int64_t, 32> symbols;
    Scratch<Slot, 16> scalars;
    std::vector<Object> locks;  // of generators among the arguments
};

// Whether `value` is a generator; its struct bitgen and its lock, which is not taken yet, go into the frame.
bool match_generator(const ArgumentRule &rule, PyObject *value, void **arg, Frame &frame);

// The locks of all generators of a call: held while compiled code runs, as NumPy does while it draws, but not while a
// Python function is called back, which may draw as well.
class Locks {
  public:
    explicit Locks(const Frame &frame);
    Locks(const Locks &) = delete;
    Locks &operator=(const Locks &) = delete;
    ~Locks() { release(); }
    bool acquire();  // false with an exception set
    void release();

  private:
    std::vector<PyObject *> locks_;  // each once, in an order that all threads agree on
    size_t held_ = 0;
};

// The exception that is set, with its traceback; none is set afterwards.
Object take_exception();

// Raises an exception as it is: the same object, with the traceback that it has.
void raise(Object exception);

// What compiled code calls Python functions through: its first member is all that compiled code knows of it.
struct Python {
    int32_t (*call)(Python *self, int64_t site, const int64_t *operands);  // not 0 where the function raised
};

// Whether the argument at `index` is a record of the class that the rule names, and another object than others, or not.
bool match_record(const ArgumentRule &rule, PyObject *const *values, size_t index);
bool parse_record(PyObject *encoded, ArgumentRule &rule);
bool parse_part(PyObject *encoded, Source &source);
bool parse_effects(PyObject *encoded, std::vector<Effect> &effects);

// Fills `frame` and returns true where `values` fit. No exception is set where they do not.
bool matches(const Specialization &specialization, PyObject *const *values, Frame &frame);

// Runs a matched specialization; a new reference, or null with an exception set.
PyObject *execute(const Specialization &specialization, PyObject *const *values, Frame &frame);

}  // namespace dcpy
