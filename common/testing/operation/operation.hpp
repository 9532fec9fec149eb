/// @file
/// An operation as data: its operands, in the order of its arguments, and how it is called. What
/// must hold for every operation is then tested once, over a table of calls:
///
///     Operation add{"add", {reads<float>("a", {3, 4}), reads<float>("b", {3, 4}),
///                           writes<float>("out", {3, 4})}};
///     add.in_place = {{"a", "out"}, {"b", "out"}};
///     add.cpu = [](const Call& c) { add_cpu(c.in<float>(0), c.in<float>(1), c.out<float>(2)); };
///     add.cuda = [](const Call& c) {
///         add_cuda(c.in<float>(0), c.in<float>(1), c.out<float>(2), c.how<ElementwisePath>());
///     };
///     add.paths = paths_of<ElementwisePath>();
///     CHECK(rejects_invalid_operands(add));
///
/// The layouts here are row-major unless a test changes one of them. Each test is a Comparison, so
/// that a failure says which operand, where, by which path.
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
enum class Use { reads, writes, updates };

/// Element k of an operand, counted row-major.
using Values = std::function<double(std::int64_t k)>;

/// Eighths between -6 and 6.5 whose neighbours differ; exact in bf16, too.
double eighths(std::int64_t k);
/// 0, 1, ... n - 1 in no order, n below 37: ids, or positions.
Values below(std::int64_t n);

struct Operand {
    std::string name;  // as messages name it
    Use use = Use::reads;
    ElementType type = element_type<float>();
    Shape shape;
    Values values = eighths;
    bool optional = false;       // may be a null pointer
    bool broadcast = false;      // may have other extents or fewer dims
    std::vector<int> free = {};  // dims whose extent no other operand determines
    bool any_layout = true;      // false: only this shape and row-major rows are tried

    Operand& may_be_null() { return optional = true, *this; }
    Operand& broadcasts() { return broadcast = true, *this; }
    Operand& free_dims(std::vector<int> dims) { return free = std::move(dims), *this; }
    Operand& with(Values v) { return values = std::move(v), *this; }
};

template <class T>
[[nodiscard]] Operand reads(std::string name, const Shape& shape) {
    return {std::move(name), Use::reads, element_type<T>(), shape};
}
template <class T>
[[nodiscard]] Operand writes(std::string name, const Shape& shape) {
    return {std::move(name), Use::writes, element_type<T>(), shape};
}
template <class T>
[[nodiscard]] Operand updates(std::string name, const Shape& shape) {
    return {std::move(name), Use::updates, element_type<T>(), shape};
}

/// The arguments of one call.
struct Call {
    struct Argument {
        std::byte* data = nullptr;
        Layout layout;
    };
    std::vector<Argument> arguments;
    std::optional<int> path;
    gpu::Workspace workspace;

    template <class T>
    [[nodiscard]] View<T> out(int i) const {
        const Argument& a = arguments[static_cast<std::size_t>(i)];
        return {reinterpret_cast<T*>(a.data), a.layout};
    }
    template <class T>
    [[nodiscard]] View<const T> in(int i) const {
        return out<const T>(i);
    }
    template <class Path>
    [[nodiscard]] gpu::Launch<Path> how() const {
        gpu::Launch<Path> how{.workspace = workspace};
        if (path) how.path = static_cast<Path>(*path);
        return how;
    }
};

/// Two operands by name.
using Pair = std::pair<std::string, std::string>;

struct Operation {
    std::string name;  // with which every message begins
    std::vector<Operand> operands;
    std::function<void(const Call&)> cpu = {};  // none: there is no CPU reference
    std::function<void(const Call&)> cuda = {};
    std::vector<std::string> paths = {};  // the names of Path 0, 1, ...
    std::int64_t workspace_bytes = 0;
    std::vector<Pair> in_place = {};     // the second may be the first itself
    std::vector<Pair> interleaved = {};  // their spans may overlap, as columns of one buffer do
    std::vector<std::string> not_taken = {};  // paths that take none of the table's calls
    mutable std::shared_ptr<gpu::Buffer<std::byte>> workspace = {};  // one for all calls
};

/// The names of all values of an enum of paths.
template <class Path>
[[nodiscard]] std::vector<std::string> paths_of() {
    std::vector<std::string> names;
    for (int p = 0; *name(static_cast<Path>(p)) != '\0'; ++p) {
        names.emplace_back(name(static_cast<Path>(p)));
    }
    return names;
}

/// Each operand invalid alone: a null pointer, a dim more or fewer, another extent, two indices of
/// an output in one place. CPU reference and CUDA version, by every path, throw
/// std::invalid_argument in the operation's name, name the operand (of two that do not fit each
/// other, one), say the same, and have written nothing.
Comparison rejects_invalid_operands(const Operation& op);

/// The same of each output that overlaps another operand, at its first element or its last, unless
/// the two are listed as in_place (then the very same tensor is not tried) or interleaved.
Comparison rejects_overlaps(const Operation& op);

/// A path that does not exist is rejected with its number, and nothing is written.
Comparison rejects_unknown_paths(const Operation& op);

/// Another layout of one operand is either taken, with the same result, or rejected in the
/// operation's name with nothing written.
Comparison takes_or_rejects_layouts(const Operation& op);

/// The stride of a dim of extent 1 is never used: an odd, negative or huge one changes no bit of
/// the result, by any path.
Comparison ignores_unused_strides(const Operation& op);

/// One NaN in each operand in turn: by every path, NaNs are where the CPU reference has them.
Comparison spreads_nans_alike(const Operation& op);

/// An operation whose outputs have no elements does nothing, by every path.
Comparison takes_empty_outputs(const Operation& op);

/// Does each path take one of these calls at least? Else the tests by that path would test nothing.
/// One that is listed as not_taken must take none.
Comparison covers_every_path(const std::vector<Operation>& all);

}  // namespace sixdays::testing
