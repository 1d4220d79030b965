// Does a parsed specialization name only what there is? Calls trust each index in it, so this is asked once, before.

#include <algorithm>

#include "signature.h"

namespace dcpy {

namespace {

bool within(int64_t index, size_t count) { return index >= 0 && static_cast<size_t>(index) < count; }

bool is_slot(int slot, const Specialization &s) { return slot == -1 || within(slot, s.symbols); }

bool is_number(int type) { return type >= 0 && PyTypeNum_ISNUMBER(type); }

bool are_extents(const std::vector<Extent> &extents, const Specialization &s) {
    return std::all_of(extents.begin(), extents.end(), [&](const Extent &e) { return is_slot(e.slot, s); });
}

// Axes of an array of this rank, each once at most.
bool are_axes(const std::vector<int> &axes, size_t rank) {
    for (size_t k = 0; k < axes.size(); ++k) {
        if (!within(axes[k], rank) || std::count(axes.begin(), axes.begin() + static_cast<std::ptrdiff_t>(k), axes[k])) return false;
    }
    return true;
}

bool is_argument(const ArgumentRule &rule, const Specialization &s) {
    const size_t count = s.arguments.size();
    switch (rule.kind) {
        case Kind::Array:
        case Kind::DeviceArray:
            return is_number(rule.type) && are_extents(rule.sizes, s) && are_extents(rule.strides, s) &&
                   (rule.strides.empty() || rule.strides.size() == rule.sizes.size()) &&
                   (rule.axes.empty() || !rule.strides.empty() || rule.axes.size() == rule.sizes.size()) && are_axes(rule.axes, rule.sizes.size());
        case Kind::Scalar: return is_number(rule.type) && is_slot(rule.symbol.slot, s);
        case Kind::Record:
            return (rule.same == -1 || within(rule.same, count)) &&
                   std::all_of(rule.apart.begin(), rule.apart.end(), [&](int other) { return within(other, count); });
        case Kind::Constant:
        case Kind::Generator: return true;
    }
    return false;
}

bool is_array(const ArgumentRule &rule) { return rule.kind == Kind::Array || rule.kind == Kind::DeviceArray; }

// Whether a result is a new array, which is there before that at `position` is made.
bool is_fresh(int index, std::ptrdiff_t position, const Specialization &s) {
    return index >= 0 && index < position && s.results[static_cast<size_t>(index)].kind == Outcome::Fresh;
}

bool is_result(const ResultRule &rule, const Specialization &s) {
    if (rule.kind == Outcome::Constant) return true;
    const bool shows = rule.kind == Outcome::Argument || rule.kind == Outcome::View;
    if (shows && !within(rule.index, s.arguments.size())) return false;
    if (rule.kind == Outcome::Argument) return true;
    if (rule.kind == Outcome::View && !is_array(s.arguments[rule.index])) return false;
    if (rule.kind == Outcome::Shown && !is_fresh(rule.index, &rule - s.results.data(), s)) return false;
    if (rule.rank < 0 || rule.rank > NPY_MAXDIMS || !is_number(rule.type)) return false;
    const auto rank = static_cast<size_t>(rule.rank);
    return (rule.axes.empty() || rule.axes.size() == rank) && are_axes(rule.axes, rank);
}

bool is_pair(const std::pair<int, int> &pair, const Specialization &s) {
    if (!within(pair.first, s.arguments.size()) || !within(pair.second, s.arguments.size())) return false;
    const Kind kind = s.arguments[pair.first].kind;
    return kind == s.arguments[pair.second].kind && (is_array(s.arguments[pair.first]) || kind == Kind::Generator);
}

// Whether a part is a list of what makes an object and its parts, or of None, a number and what it chooses from.
bool is_made(PyObject *part) {
    if (!PyList_Check(part) || !PyList_GET_SIZE(part)) return false;
    PyObject *first = PyList_GET_ITEM(part, 0);
    return first == Py_None ? PyList_GET_SIZE(part) > 2 && PyLong_Check(PyList_GET_ITEM(part, 1))
                            : static_cast<bool>(PyCallable_Check(first));
}

// None, the index of a result, a tuple of such parts, or a list of what makes an object and its parts.
bool is_structure(PyObject *part, size_t results) {
    if (part == Py_None) return true;
    if (PyLong_Check(part)) return within(PyNumber_AsSsize_t(part, nullptr), results);
    const bool made = is_made(part);
    if (!made && !PyTuple_Check(part)) return false;
    for (Py_ssize_t i = made ? 1 : 0; i < PySequence_Fast_GET_SIZE(part); ++i) {
        if (!is_structure(PySequence_Fast_GET_ITEM(part, i), results)) return false;
    }
    return true;
}

bool is_effect(const Effect &effect, const Specialization &s) {
    return within(effect.object, s.arguments.size()) && is_structure(effect.part.get(), s.results.size()) &&
           (effect.when == -1 || within(effect.when, s.results.size()));
}

template <typename T>
bool all(const std::vector<T> &items, const Specialization &s, bool (*fits)(const T &, const Specialization &)) {
    return std::all_of(items.begin(), items.end(), [&](const T &item) { return fits(item, s); });
}

bool is_source(const Source &source, const Specialization &s) {
    return source.parent == -1 || within(source.parent, s.arguments.size());
}

bool is_linear(const Linear &condition, const Specialization &s) {
    return std::all_of(condition.terms.begin(), condition.terms.end(),
                       [&](const auto &term) { return within(term.first, s.symbols); });
}

bool is_assumed(const Assumed &assumed, const Specialization &s) {
    return within(assumed.slot, s.symbols) && assumed.multiple > 0;
}

bool is_guard(const Guard &guard, const Specialization &) { return guard.source.parent == -1; }

}  // namespace

const char *inconsistency(const Specialization &s) {
    if (!all(s.arguments, s, is_argument)) return "argument";
    const bool on_device = std::any_of(s.arguments.begin(), s.arguments.end(),
                                       [](const ArgumentRule &rule) { return rule.kind == Kind::DeviceArray; });
    if (on_device != (s.on_stream != nullptr)) return "stream";
    if (!all(s.closure, s, is_source)) return "source";
    if (!all(s.apart, s, is_pair)) return "pair of arrays";
    if (!all(s.results, s, is_result)) return "result";
    if (!all(s.guards, s, is_guard)) return "guard";
    if (!all(s.assumes, s, is_linear) || !all(s.unless, s, is_linear)) return "condition";
    if (!all(s.assumed, s, is_assumed)) return "assumption";
    if (!all(s.effects, s, is_effect)) return "effect";
    if (!is_structure(s.structure.get(), s.results.size())) return "structure";
    return PyCallable_Check(s.failure.get()) ? nullptr : "failure";
}

}  // namespace dcpy
