/// @file
/// One call of an Operation: its operands in memory, with one change, and the outcome. For the
/// tests in operation.hpp, not for those of a room.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/testing/operation/operation.hpp"
#include "common/testing/shared_workspace.hpp"

namespace sixdays::testing {

enum class Where { cpu, cuda };

/// One change to the call that the table describes.
struct Change {
    int operand = -1;
    std::optional<Layout> layout = {};     // instead of row-major, with memory to match
    std::int64_t lead = 0;                 // elements of padding before the first one
    std::optional<Layout> invalid = {};    // another layout over unchanged memory
    bool null = false;                     // a null pointer
    int inside = -1;                       // is in the memory of this operand,
    std::int64_t past = 0;                 //   this many bytes past its first element
    std::optional<std::int64_t> nan = {};  // this element is a NaN
    std::optional<int> path = {};
    std::int64_t less = 0;  // bytes of workspace that are missing
};

/// The outcome of a call.
struct Outcome {
    std::string rejected;                 // the message of std::invalid_argument
    std::string error;                    // the message of any other exception
    std::vector<std::string> wrote;       // names of operands whose memory has changed
    std::vector<std::string> faults;      // stray writes, or a counter not at 0
    std::vector<Tensor<double>> outputs;  // in the operands' order
    std::vector<std::string> names;       // of these operands
    std::optional<bool> accepts;          // does the path accept this call, if it says so
    std::optional<int> best;              // the path that it must take
    std::string kernel;                   // the last one that was launched
    std::string due;                      // the kernel that must have been; empty: any
    std::int64_t workspace_bytes = 0;     // passed to the call

    [[nodiscard]] bool ok() const { return rejected.empty() && error.empty(); }
};

/// Calls one operation repeatedly, with one workspace.
class Caller {
public:
    /// @param workspace  null: it allocates its own
    explicit Caller(const Operation& op, SharedWorkspace* workspace = nullptr);
    [[nodiscard]] Outcome operator()(Where where, const Change& change) const;

    /// The expected outputs: from op.exact, else from the CPU reference, else from path 0.
    /// @param change  its NaN or its missing operand counts, its layouts do not
    [[nodiscard]] std::vector<Expected> expected(const Change& change, int path) const;

private:
    template <class Memory>
    Outcome call(const std::function<void(const Call&)>& f, const Change& change) const;
    template <class Memory>
    void look_at(const std::vector<Image>& images, const std::vector<Memory>& memories,
                 const Change& change, Outcome& outcome) const;
    gpu::Workspace workspace_of(const Call& call, std::int64_t less) const;
    SharedWorkspace& workspace(std::int64_t bytes) const;
    std::vector<Expected> reference(Change change) const;

    const Operation& op_;
    SharedWorkspace* shared_;
    mutable std::unique_ptr<SharedWorkspace> own_;
    mutable std::int64_t capacity_ = 0;  // of own_
};

/// Calls f(where, path) for the CPU reference, for CUDA by each path, and without a path.
template <class F>
void everywhere(const Operation& op, const F& f) {
    if (op.cpu) f(Where::cpu, std::optional<int>());
    if (!op.cuda) return;
    for (int p = 0; p < static_cast<int>(op.paths.size()); ++p) f(Where::cuda, std::optional(p));
    if (op.without_path || op.paths.empty()) f(Where::cuda, std::optional<int>());
}

/// The call with its shapes, for a message: "softmax of in (3, 5) out (3, 5)".
[[nodiscard]] std::string text_of(const Operation& op);

/// Element k of operand i before a call.
[[nodiscard]] double value_of(const Operation& op, std::size_t i, std::int64_t k);

/// Are all outputs empty?
[[nodiscard]] bool has_empty_outputs(const Operation& op);

/// @throws std::logic_error  the operation has no operand of that name
[[nodiscard]] int index_of(const Operation& op, const std::string& name);

[[nodiscard]] bool is_listed(const std::vector<std::string>& names, const std::string& name);

/// The expected outputs by a path; without one, by any.
using Want = std::function<const std::vector<Expected>&(std::optional<int> path)>;

/// Collects the failures of an operation, and prints the first few.
class Report {
public:
    explicit Report(const Operation& op, SharedWorkspace* workspace = nullptr)
        : op_(op), call_(op, workspace) {}

    void add(const Change& change, Where where, const std::string& what, const std::string& found);

    /// The call must be rejected with a message that names the operation and these operands.
    void need_rejection(const Change& change, Where where, const std::string& what,
                        const std::vector<std::string>& names);
    /// Two operands that do not match each other: the message may name either.
    void need_mismatch(const Change& change, Where where, const std::string& what,
                       const std::string& name);
    void check_message(const Change& change, Where where, const std::string& what,
                       const Outcome& outcome, const std::vector<std::string>& names);

    /// The call must be accepted or rejected as the path says, and if accepted, its results must be
    /// right.
    /// @param may_reject  for paths that do not say
    /// @param names  operands that a rejection without a path must name
    Outcome need_result(const Change& change, Where where, const std::string& what,
                        const Want& want, bool may_reject,
                        const std::vector<std::string>& names = {});

    /// The call must leave the same bits as an earlier one.
    void need_same(const Change& change, Where where, const std::string& what,
                   const Outcome& earlier);

    [[nodiscard]] const Operation& op() const { return op_; }
    [[nodiscard]] const Caller& call() const { return call_; }
    [[nodiscard]] Comparison result() const;

private:
    void check_result(const Change& change, Where where, const std::string& what,
                      const std::vector<Expected>& want, const Outcome& got);

    const Operation& op_;
    Caller call_;
    std::pair<std::string, std::string> said_by_cpu_;  // case, message
    std::string wrong_by_a_path_;                      // the last failed case
    int count_ = 0;
    std::string text_;
};

}  // namespace sixdays::testing
