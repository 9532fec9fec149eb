#include <algorithm>
#include <stdexcept>

#include "common/testing/operation/call.hpp"

namespace sixdays::testing {
namespace {

bool lists(const Operation& op, const std::vector<Pair>& pairs, const Operand& a,
           const Operand& b) {
    (void)index_of(op, a.name);
    return std::any_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
        (void)index_of(op, pair.first), (void)index_of(op, pair.second);
        return (pair.first == a.name && pair.second == b.name) ||
               (pair.first == b.name && pair.second == a.name);
    });
}

// With one more dimension, of extent 2, as the first or the last one.
std::vector<Shape> with_a_dim(const Shape& shape) {
    Shape first = Dims::filled(shape.rank + 1, 2), last = first;
    for (int d = 0; d < shape.rank; ++d) first[d + 1] = last[d] = shape[d];
    return {first, last};
}

// Without the first or the last dimension.
std::vector<Shape> without_a_dim(const Shape& shape) {
    Shape first = Dims::filled(shape.rank - 1, 1), last = first;
    for (int d = 1; d < shape.rank; ++d) first[d - 1] = shape[d], last[d - 1] = shape[d - 1];
    return {first, last};
}

struct Wrong {
    std::string what;
    Change change;
    bool mismatch;  // with another operand
};

std::vector<Wrong> wrongs_of(const Operand& x, int i) {
    std::vector<Wrong> all;
    if (size(x.shape) == 0) return all;  // may be null
    const auto add = [&](const std::string& what, const Layout& layout, bool mismatch = true) {
        all.push_back({x.name + " with " + what + " " + to_string(layout),
                       Change{.operand = i, .invalid = layout}, mismatch});
    };
    if (!x.optional) {
        all.push_back({x.name + " null", Change{.operand = i, .null = true}, false});
    }
    const bool other_ranks = x.any_layout && !x.broadcast;
    if (other_ranks && x.shape.rank < kMaxRank) {
        for (const Shape& wrong : with_a_dim(x.shape)) add("an extra dimension:", row_major(wrong));
    }
    if (other_ranks && x.shape.rank > 0) {
        for (const Shape& wrong : without_a_dim(x.shape))
            add("a missing dimension:", row_major(wrong));
    }
    for (int d = 0; d < x.shape.rank; ++d) {
        const bool is_free = std::find(x.free.begin(), x.free.end(), d) != x.free.end();
        if (is_free || (x.broadcast && x.shape[d] <= 1)) continue;
        Shape larger = x.shape;
        ++larger[d];
        add("another extent:", row_major(larger));
    }
    for (int d = 0; x.use != Use::reads && d < x.shape.rank; ++d) {
        if (x.shape[d] < 2) continue;
        Layout collapsed = row_major(x.shape);
        collapsed.strides[d] = 0;
        add("two indices at one position:", collapsed, false);
        break;
    }
    return all;
}

std::int64_t bytes_of(const Operand& x) {
    return size(x.shape) * x.type.bytes;
}

}  // namespace

Comparison rejects_invalid_operands(const Operation& op) {
    Report report(op);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        for (const Wrong& wrong : wrongs_of(op.operands[i], static_cast<int>(i))) {
            everywhere(op, [&](Where where, std::optional<int> path) {
                Change change = wrong.change;
                change.path = path;
                if (wrong.mismatch) {
                    report.need_mismatch(change, where, wrong.what, op.operands[i].name);
                } else {
                    report.need_rejection(change, where, wrong.what, {op.operands[i].name});
                }
            });
        }
    }
    return report.result();
}

Comparison rejects_overlaps(const Operation& op) {
    Report report(op);
    const auto try_inside = [&](std::size_t i, std::size_t j, std::int64_t past) {
        const Operand &x = op.operands[i], &y = op.operands[j];
        everywhere(op, [&](Where where, std::optional<int> path) {
            report.need_rejection(Change{.operand = static_cast<int>(i),
                                         .inside = static_cast<int>(j),
                                         .past = past,
                                         .path = path},
                                  where,
                                  x.name + " " + std::to_string(past) + " bytes into " + y.name,
                                  {x.name, y.name});
        });
    };
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        for (std::size_t j = 0; j < op.operands.size(); ++j) {
            const Operand &x = op.operands[i], &y = op.operands[j];
            if (i == j || (x.use == Use::reads && y.use == Use::reads)) continue;
            if (bytes_of(x) == 0 || bytes_of(y) == 0) continue;
            // x's first byte in y's first element, and in y's last
            const std::int64_t last = (bytes_of(y) - 1) / x.type.bytes * x.type.bytes;
            const bool same = size(x.shape) == size(y.shape) && x.type.bytes == y.type.bytes;
            if (!(same && lists(op, op.in_place, x, y))) try_inside(i, j, 0);
            if (last > 0 && !lists(op, op.interleaved, x, y)) try_inside(i, j, last);
        }
    }
    return report.result();
}

Comparison rejects_unknown_paths(const Operation& op) {
    Report report(op);
    if (op.paths.empty()) return {true, text_of(op) + ": no paths"};
    for (const int path : {static_cast<int>(op.paths.size()), 99, -1}) {
        const Change change{.path = path};
        const std::string what = "path " + std::to_string(path);
        const Outcome outcome = report.call()(Where::cuda, change);
        if (outcome.ok()) {
            report.add(change, Where::cuda, what, "not rejected");
        } else if (!outcome.rejected.starts_with(op.name + ": path " + std::to_string(path) +
                                                 " does not exist")) {
            report.add(change, Where::cuda, what, outcome.rejected + outcome.error);
        } else {
            report.check_message(change, Where::cuda, what, outcome, {});
        }
    }
    return report.result();
}

Comparison rejects_as_it_is(const Operation& op, const std::string& words) {
    Report report(op);
    everywhere(op, [&](Where where, std::optional<int> path) {
        const Change change{.path = path};
        const Outcome outcome = report.call()(where, change);
        if (outcome.rejected != op.name + ": " + words) {
            report.add(change, where, "as it is", outcome.rejected + outcome.error);
        }
        for (const std::string& name : outcome.wrote) {
            report.add(change, where, "as it is", name + " was written");
        }
    });
    return report.result();
}

}  // namespace sixdays::testing
