/// @file
/// An operation as data: its operands, in the order of its arguments, and how to call it. The
/// requirements on every operation are then tested once, over a table of calls:
///
///     Operation add{"add", {reads<float>("a", {3, 4}), reads<float>("b", {3, 4}),
///                           writes<float>("out", {3, 4})}};
///     add.in_place = {{"a", "out"}, {"b", "out"}};
///     add.cpu = [](const Call& c) { add_cpu(c.in<float>(0), c.in<float>(1), c.out<float>(2)); };
///     add.cuda = [](const Call& c) {
///         add_cuda(c.in<float>(0), c.in<float>(1), c.out<float>(2), c.how<ElementwisePath>());
///     };
///     add.takes(ElementwisePath::one_element, "add_kernel");
///     CHECK(rejects_invalid_operands(add));
///
/// Layouts are row-major unless a test changes one of them. Each test returns a Comparison, so that
/// a failure names the operand, CPU or CUDA, and the path.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/gpu/how.hpp"
#include "common/testing/compare.hpp"

namespace sixdays::testing {

/// What the operation does to an operand.
enum class Use {
    reads,   ///< an input
    writes,  ///< an output; nothing of it is read
    updates  ///< both
};

/// Element k of an operand, counted row-major.
using Values = std::function<double(std::int64_t k)>;

/// Eighths between -6 and 6.5 whose neighbours differ; exact in bf16, too.
double eighths(std::int64_t k);
/// 0 to n - 1 in scrambled order, n below 37: ids, or positions.
Values below(std::int64_t n);

/// These values, in row-major order.
Values list(std::vector<double> values);
/// The same value for every element.
Values all_equal_to(double value);
/// The elements of a tensor.
template <class T>
[[nodiscard]] Values taken_from(Tensor<T> tensor) {
    auto kept = std::make_shared<const Tensor<T>>(std::move(tensor));
    return [kept](std::int64_t k) { return static_cast<double>(kept->data()[k]); };
}

/// One argument of an operation that is a tensor.
struct Operand {
    std::string name;                          ///< as messages name it
    Use use = Use::reads;                      ///< what the operation does to it
    ElementType type = element_type<float>();  ///< of its elements
    Shape shape;                               ///< its extents
    Values values = {};                        ///< empty: eighths, different for each operand
    bool optional = false;                     ///< may be a null pointer
    bool broadcast = false;                    ///< may have other extents or fewer dimensions
    std::vector<int> free = {};         ///< dimensions whose extent no other operand determines
    bool any_layout = true;             ///< false: only this shape and row-major rows are tried
    std::optional<Layout> layout = {};  ///< empty: row-major
    std::int64_t lead = 0;              ///< elements of padding before the first one

    /// It may be left out: a null pointer.
    Operand& may_be_null() { return optional = true, *this; }
    /// It may have other extents or fewer dimensions.
    Operand& broadcasts() { return broadcast = true, *this; }
    /// No other operand determines the extents of these dimensions.
    Operand& free_dims(std::vector<int> dims) { return free = std::move(dims), *this; }
    /// It holds these values before a call.
    Operand& with(Values v) { return values = std::move(v), *this; }
    /// It has this layout, after `room` elements of padding.
    Operand& placed(const Layout& l, std::int64_t room = 0) {
        return layout = l, lead = room, *this;
    }
};

/// An input of T.
template <class T>
[[nodiscard]] Operand reads(std::string name, const Shape& shape) {
    return {std::move(name), Use::reads, element_type<T>(), shape};
}
/// An output of T.
template <class T>
[[nodiscard]] Operand writes(std::string name, const Shape& shape) {
    return {std::move(name), Use::writes, element_type<T>(), shape};
}
/// An input of T that the operation overwrites.
template <class T>
[[nodiscard]] Operand updates(std::string name, const Shape& shape) {
    return {std::move(name), Use::updates, element_type<T>(), shape};
}

/// One output of a call: the expected value and the error bound of each element.
struct Expected {
    Tensor<double> value,  ///< expected
        error;             ///< the largest accepted difference
    /// Zeros of this shape.
    explicit Expected(const Shape& shape) : value(shape), error(shape) {}
};

/// The values of each operand before a call, rounded to its type; empty for a null pointer.
using Inputs = std::vector<std::optional<Tensor<double>>>;

/// The arguments of one call.
struct Call {
    /// One operand in memory.
    struct Argument {
        std::byte* data = nullptr;  ///< address of index (0, 0, ...)
        Layout layout;              ///< in elements
    };
    std::vector<Argument> arguments;  ///< in the operands' order
    std::optional<int> path = {};     ///< none: the operation chooses
    gpu::Workspace workspace = {};    ///< of operations that take one

    /// Operand i as an output of T.
    template <class T>
    [[nodiscard]] View<T> out(int i) const {
        const Argument& a = arguments[static_cast<std::size_t>(i)];
        return {reinterpret_cast<T*>(a.data), a.layout};
    }
    /// Operand i as an input of T.
    template <class T>
    [[nodiscard]] View<const T> in(int i) const {
        return out<const T>(i);
    }
    /// Path and workspace, as the operation takes them.
    template <class Path>
    [[nodiscard]] gpu::Launch<Path> how() const {
        return {.path = asked<Path>(), .workspace = workspace};
    }
    /// The path, as the operation takes it.
    template <class Path>
    [[nodiscard]] std::optional<Path> asked() const {
        return path ? std::optional(static_cast<Path>(*path)) : std::nullopt;
    }
};

/// One of the kernels, or sequences of kernels, that compute an operation.
struct PathOf {
    std::string name;         ///< as name(path)
    std::string kernel = {};  ///< the last one that it launches; empty: any
    /// The calls that it accepts; it must reject all others. Empty: it may accept or reject any.
    std::function<bool(const Call&)> accepts = {};
    /// The kernel, if it depends on the call.
    std::function<std::string(const Call&)> kernel_of = {};
};

/// The names of all values of an enum of paths.
template <class Path>
[[nodiscard]] std::vector<PathOf> paths_of() {
    std::vector<PathOf> all;
    for (int p = 0; *name(static_cast<Path>(p)) != '\0'; ++p) {
        all.push_back({name(static_cast<Path>(p))});
    }
    return all;
}

/// Two operands by name.
using Pair = std::pair<std::string, std::string>;

/// An operation and how to test it.
struct Operation {
    std::string name;                            ///< every message starts with it
    std::vector<Operand> operands;               ///< in the order of its arguments
    std::function<void(const Call&)> cpu = {};   ///< empty: no CPU reference
    std::function<void(const Call&)> cuda = {};  ///< empty: no CUDA version
    std::vector<PathOf> paths = {};              ///< Path 0, the naive kernel; 1, ...
    /// The outputs, in the operands' order, with a path's error bound; path 0's also holds for the
    /// CPU reference. Empty: the CPU reference decides, to two digits.
    std::function<std::vector<Expected>(const Inputs&, int path)> exact = {};
    /// The path that a call without one must take. Empty: any.
    std::function<int(const Call&)> best = {};
    std::int64_t workspace_bytes = 0;                            ///< enough for every call, or:
    std::function<std::int64_t(const Call&)> needed_bytes = {};  ///< exactly what a call needs
    std::vector<Pair> in_place = {};     ///< the second may be the same tensor as the first
    std::vector<Pair> interleaved = {};  ///< their spans may overlap, as columns of one buffer do
    std::vector<std::string> not_taken = {};  ///< paths that accept none of the table's calls
    std::vector<std::string> repeated = {};   ///< paths whose second call must give the same bits
    bool without_path = true;                 ///< is a call without a path tested too?

    /// The entry of this path. The first call names all of them, as name(path) does.
    template <class Path>
    PathOf& path(Path p) {
        if (paths.empty()) paths = paths_of<Path>();
        return paths[static_cast<std::size_t>(p)];
    }
    /// Says which kernel the path launches last, and which calls it accepts.
    template <class Path>
    PathOf& takes(Path p, std::string kernel, std::function<bool(const Call&)> accepts = every) {
        PathOf& entry = path(p);
        entry.kernel = std::move(kernel);
        entry.accepts = std::move(accepts);
        return entry;
    }
    /// The condition of a path that accepts every call.
    static bool every(const Call&) { return true; }
};

/// Sets the expected values of the first output, instead of those that `exact` computes.
template <class T>
void know(Operation& op, const std::vector<T>& values) {
    op.exact = [values, exact = op.exact](const Inputs& inputs, int path) {
        std::vector<Expected> all = exact(inputs, path);
        for (std::size_t k = 0; k < values.size(); ++k) {
            all[0].value.data()[k] = static_cast<double>(values[k]);
        }
        return all;
    };
}
/// Sets the expected values of the first output to these.
template <class T>
void know(Operation& op, std::initializer_list<T> values) {
    know(op, std::vector<T>(values));
}

/// Makes one operand invalid at a time: a null pointer, one dimension more or fewer, another
/// extent, two indices of an output at one position. CPU reference and CUDA version, by every path,
/// throw std::invalid_argument with the same message, which starts with the operation's name and
/// names the operand or the one that it does not match, and have written nothing.
Comparison rejects_invalid_operands(const Operation& op);

/// The same for each output that overlaps another operand, at its first element or its last. Pairs
/// listed as in_place may be the same tensor, and those listed as interleaved may overlap.
Comparison rejects_overlaps(const Operation& op);

/// A path that does not exist is rejected with its number, and nothing is written.
Comparison rejects_unknown_paths(const Operation& op);

/// The call as the table describes it is rejected by the CPU reference and every path with the
/// operation's name and exactly these words, and nothing is written.
Comparison rejects_as_it_is(const Operation& op, const std::string& words);

/// The call as the table describes it: the CPU reference and every path that accepts it write what
/// `exact` computes, change no input and no byte around the elements, and leave the workspace's
/// counters at 0. Without a path, the kernel of `best` runs. With one byte less than needed_bytes,
/// the call is rejected.
Comparison computes_its_result(const Operation& op);

/// The same with one operand placed differently: reversed, padded, strided, or not aligned to 16
/// bytes. A path may reject that, with the operation's name and nothing written, unless `accepts`
/// says otherwise.
Comparison takes_or_rejects_placements(const Operation& op);

/// The same with all operands of the outputs' shape placed the same way, and with an input that has
/// a stride of 0.
Comparison takes_operands_placed_alike(const Operation& op);

/// The same in every order and direction of the dimensions, about half of them with padding.
Comparison takes_every_order(const Operation& op);

/// The stride of a dimension of extent 1 is never used: an odd, negative or huge one changes no bit
/// of the result, by any path.
Comparison ignores_unused_strides(const Operation& op);

/// One NaN in each operand in turn: by every path, NaNs appear exactly where they are expected.
Comparison spreads_nans_alike(const Operation& op);

/// Each pair of in_place in the same memory, and each optional operand left out: without an
/// optional output, the others must not change.
Comparison takes_less_memory(const Operation& op);

/// An operation whose outputs have no elements does nothing, by every path; an operand without
/// elements may be a null pointer.
Comparison takes_empty_outputs(const Operation& op);

/// Calls of all these operations in random order, by random paths that accept them, share one
/// workspace, which holds whatever earlier calls have left: the results must be as expected.
Comparison shares_a_workspace(const std::vector<Operation>& all, int calls);

/// Does each path accept at least one of these calls? Otherwise its tests would test nothing. Paths
/// listed as not_taken must accept none.
Comparison covers_every_path(const std::vector<Operation>& all);

}  // namespace sixdays::testing
