#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "common/tensor/packings.hpp"
#include "common/testing/inputs.hpp"
#include "common/testing/operation/call.hpp"

namespace sixdays::testing {
namespace {

bool is_float(ElementType type) {
    return type.kind == Kind::floating || type.kind == Kind::bfloat || type.kind == Kind::half;
}

std::string text_of(const Layout& layout, std::int64_t lead) {
    return to_string(layout) + (lead > 0 ? ", from element " + std::to_string(lead) : "");
}

// The expected results by path, for any placement of the operands. The CPU reference has those of
// path 0. A call without a path has those of the path that it must take; if it may take any, those
// of path 0 with the widest bounds of all.
class Wants {
public:
    explicit Wants(const Report& report, Change change = {})
        : op_(report.op()), call_(report.call()), change_(std::move(change)) {}

    Want at(Where where) {
        return [this, where](std::optional<int> path) -> const std::vector<Expected>& {
            if (where == Where::cpu || path || op_.paths.empty()) return of(path.value_or(0));
            if (!widest_.empty()) return widest_;
            widest_ = of(0);
            for (int p = 1; p < static_cast<int>(op_.paths.size()); ++p) widen(of(p));
            return widest_;
        };
    }

private:
    const std::vector<Expected>& of(int path) {
        if (!op_.exact) path = 0;  // the CPU reference's, for all paths
        const auto found = all_.find(path);
        if (found != all_.end()) return found->second;
        return all_[path] = call_.expected(change_, path);
    }
    void widen(const std::vector<Expected>& other) {
        for (std::size_t i = 0; i < widest_.size(); ++i) {
            for (std::int64_t k = 0; k < widest_[i].error.size(); ++k) {
                double& error = widest_[i].error.data()[k];
                error = std::max(error, other[i].error.data()[k]);
            }
        }
    }

    const Operation& op_;
    const Caller& call_;
    Change change_;
    std::map<int, std::vector<Expected>> all_;
    std::vector<Expected> widest_;
};

// Makes the call with this change on the CPU and by every path.
void need_results(Report& report, const Change& change, const std::string& what, Wants& wants,
                  bool may_reject, const std::vector<std::string>& names = {}) {
    everywhere(report.op(), [&](Where where, std::optional<int> path) {
        Change one = change;
        one.path = path;
        report.need_result(one, where, what, wants.at(where), may_reject || path, names);
    });
}

struct Placement {
    Layout layout;
    std::int64_t lead = 0;
};

// Alternative placements of an operand; each differs from row-major in one way.
std::vector<Placement> placements_of(const Operand& x) {
    std::vector<Placement> all;
    const Shape& shape = x.shape;
    if (size(shape) < 2) return all;
    const int last = shape.rank - 1;
    const std::int64_t vector = 16 / x.type.bytes;  // elements of a 128-bit access
    for (const std::int64_t lead : {std::int64_t{1}, vector / 2}) {
        if (lead > 0) all.push_back({row_major(shape), lead});
    }
    if (shape.rank > 1) all.push_back({column_major(shape)});
    std::set<std::int64_t> pads = {1, vector / 2, vector};
    for (const std::int64_t pad : pads) {  // padding after each row
        Shape wider = shape;
        wider[last] += pad;
        if (pad > 0) all.push_back({Layout(shape, row_major(wider).strides)});
    }
    Layout spread = row_major(shape), backwards = spread, upside_down = spread;
    for (int d = 0; d < shape.rank; ++d) spread.strides[d] *= 2;
    all.push_back({spread});
    backwards.strides[last] = -1;
    all.push_back({backwards});
    if (shape.rank > 1 && shape[last - 1] > 1) {
        upside_down.strides[last - 1] *= -1;
        all.push_back({upside_down});
    }
    return all;
}

void need_placements(Report& report, std::size_t operand, const std::vector<Placement>& placements,
                     Wants& wants) {
    const Operand& x = report.op().operands[operand];
    for (const Placement& placement : placements) {
        const Change change{.operand = static_cast<int>(operand),
                            .layout = placement.layout,
                            .lead = placement.lead};
        need_results(report, change, x.name + " with " + text_of(placement.layout, placement.lead),
                     wants, true, {x.name});
    }
}

// Operand i repeats the values at index 0 of its first dimension.
Operation with_repeated_values(const Operation& op, std::size_t i) {
    Operation repeated = op;
    const std::int64_t period = size(op.operands[i].shape) / op.operands[i].shape[0];
    repeated.operands[i].with(
        [op, i, period](std::int64_t k) { return value_of(op, i, k % period); });
    return repeated;
}

// The same values by a stride of 0.
Operation with_stride_0(const Operation& repeated, std::size_t i) {
    Operation moved = repeated;
    Layout layout = row_major(moved.operands[i].shape);
    layout.strides[0] = 0;
    moved.operands[i].placed(layout);
    return moved;
}

// All operands with the last output's shape, at the same alternative placement.
Operation all_at(const Operation& op, std::size_t place) {
    Operation moved = op;
    Shape shape;
    for (const Operand& x : op.operands) shape = x.use == Use::reads ? shape : x.shape;
    for (Operand& x : moved.operands) {
        const std::vector<Placement> all = placements_of(x);
        if (!x.any_layout || x.shape != shape || place >= all.size()) continue;
        x.placed(all[place].layout, all[place].lead);
    }
    return moved;
}

}  // namespace

Comparison computes_its_result(const Operation& op) {
    Report report(op);
    Wants wants(report);
    everywhere(op, [&](Where where, std::optional<int> path) {
        const Change change{.path = path};
        const Outcome got =
            report.need_result(change, where, "as it is", wants.at(where), path.has_value());
        if (where == Where::cpu || !got.ok() || (!path && !op.paths.empty())) return;
        if (op.needed_bytes && got.workspace_bytes > 0) {
            report.need_rejection({.path = path, .less = 1}, where, "workspace one byte too small",
                                  {"workspace"});
        }
        if (!path || !is_listed(op.repeated, op.paths[static_cast<std::size_t>(*path)].name))
            return;
        report.need_same(change, where, "a second time", got);
    });
    return report.result();
}

Comparison takes_or_rejects_placements(const Operation& op) {
    Report report(op);
    Wants wants(report);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Operand& x = op.operands[i];
        if (x.any_layout) need_placements(report, i, placements_of(x), wants);
    }
    return report.result();
}

Comparison takes_operands_placed_alike(const Operation& op) {
    Comparison result{true, testing::text_of(op)};
    const auto check = [&](const Operation& row_major, const Operation& moved,
                           const std::string& what) {
        if (!result) return;
        const Report wanted(row_major);
        Wants wants(wanted);
        Report report(moved);
        need_results(report, {}, what, wants, true);
        if (!report.result()) result = report.result();
    };
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Operand& x = op.operands[i];
        if (x.use == Use::reads && x.any_layout && x.shape.rank > 0 && size(x.shape) > 1) {
            const Operation repeated = with_repeated_values(op, i);
            check(repeated, with_stride_0(repeated, i), x.name + " with a stride of 0");
        }
    }
    const std::vector<Placement> places = placements_of(op.operands[0]);
    for (std::size_t place = 0; place < places.size(); ++place) {
        check(op, all_at(op, place),
              "all with " + text_of(places[place].layout, places[place].lead));
    }
    return result;
}

Comparison takes_every_order(const Operation& op) {
    Report report(op);
    Wants wants(report);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Shape& shape = op.operands[i].shape;
        if (shape.rank < 2) continue;
        std::vector<Placement> all;
        unsigned number = 0;  // the padding is pseudo-random
        packings::for_each_packing(shape.rank, 0, [&](packings::Packing packing) {
            const std::int64_t pad = ++number * 2654435761U >> 16 & 1;
            std::fill(packing.pad.begin(), packing.pad.end(), pad);
            all.push_back({Layout(shape, packings::strides_of(packing, shape)), pad});
        });
        need_placements(report, i, all, wants);
    }
    return report.result();
}

Comparison ignores_unused_strides(const Operation& op) {
    Report report(op);
    everywhere(op, [&](Where where, std::optional<int> path) {
        const Outcome want = report.call()(where, {.path = path});
        if (!want.error.empty()) return report.add({.path = path}, where, "as it is", want.error);
        if (!want.ok()) return;  // the path rejects this call
        for (std::size_t i = 0; i < op.operands.size(); ++i) {
            const Operand& x = op.operands[i];
            for (int d = 0; d < x.shape.rank; ++d) {
                if (x.shape[d] != 1) continue;
                for (const std::int64_t stride :
                     {std::int64_t{7}, std::int64_t{-3}, std::int64_t{1} << 40}) {
                    Layout layout = row_major(x.shape);
                    layout.strides[d] = stride;
                    const Change change{
                        .operand = static_cast<int>(i), .layout = layout, .path = path};
                    const std::string what = x.name + " with " + to_string(layout);
                    report.need_same(change, where, what, want);
                }
            }
        }
    });
    return report.result();
}

Comparison spreads_nans_alike(const Operation& op) {
    Report report(op);
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Operand& x = op.operands[i];
        if (x.use == Use::writes || !is_float(x.type) || size(x.shape) == 0) continue;
        const std::set<std::int64_t> elements = {0, size(x.shape) / 2, size(x.shape) - 1};
        for (const std::int64_t element : elements) {
            const Change change{.operand = static_cast<int>(i), .nan = element};
            Wants wants(report, change);
            need_results(report, change,
                         "a NaN in element " + std::to_string(element) + " of " + x.name, wants,
                         false);
        }
    }
    return report.result();
}

Comparison takes_less_memory(const Operation& op) {
    Report report(op);
    for (const Pair& pair : op.in_place) {
        const Change change{.operand = index_of(op, pair.second),
                            .inside = index_of(op, pair.first)};
        const auto shape_of = [&](int i) { return op.operands[static_cast<std::size_t>(i)].shape; };
        if (shape_of(change.operand) != shape_of(change.inside)) continue;  // a broadcast operand
        Wants wants(report);
        need_results(report, change, pair.second + " is " + pair.first, wants, false);
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (!op.operands[i].optional) continue;
        const Change change{.operand = static_cast<int>(i), .null = true};
        Wants wants(report, change);
        need_results(report, change, op.operands[i].name + " left out", wants, false);
    }
    return report.result();
}

Comparison shares_a_workspace(const std::vector<Operation>& all, int calls) {
    SharedWorkspace workspace(1 << 20);
    for (int call = 0; call < calls; ++call) {
        const auto bits = detail::random_bits(4, call);
        const Operation& op = all[bits % all.size()];
        Report report(op, &workspace);
        Wants wants(report);
        const int path = static_cast<int>((bits >> 32) % op.paths.size());
        report.need_result({.path = path}, Where::cuda, "call " + std::to_string(call),
                           wants.at(Where::cuda), true);
        if (!report.result()) return report.result();
    }
    return {true, std::to_string(calls) + " calls"};
}

Comparison takes_empty_outputs(const Operation& op) {
    Report report(op);
    if (!has_empty_outputs(op)) return {true, text_of(op) + ": not empty"};
    const auto need_nothing = [&](Change change, const std::string& what) {
        everywhere(op, [&](Where where, std::optional<int> path) {
            change.path = path;
            const Outcome got = report.call()(where, change);
            const bool lacks =
                !got.accepts.value_or(true) ||
                (path && is_listed(op.not_taken, op.paths[static_cast<std::size_t>(*path)].name));
            if (!got.ok() && !lacks) report.add(change, where, what, got.rejected + got.error);
            if (got.ok() && !got.accepts.value_or(true))
                report.add(change, where, what, "accepted, but must be rejected");
            for (const std::string& name : got.wrote)
                report.add(change, where, what, name + " written");
        });
    };
    need_nothing({}, "empty");
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (size(op.operands[i].shape) > 0) continue;
        need_nothing({.operand = static_cast<int>(i), .null = true},
                     "empty, " + op.operands[i].name + " null");
    }
    return report.result();
}

Comparison covers_every_path(const std::vector<Operation>& all) {
    std::map<std::string, std::map<std::string, int>> taken;  // operation, path: calls
    std::string text;
    for (const Operation& op : all) {
        const Caller call(op);
        for (int p = 0; p < static_cast<int>(op.paths.size()); ++p) {
            const std::string& path = op.paths[static_cast<std::size_t>(p)].name;
            const Outcome outcome = call(Where::cuda, {.path = p});
            const bool took = outcome.ok();
            if (!took && !outcome.accepts.value_or(true)) continue;
            taken[op.name][path] += took ? 1 : 0;
            if (took && is_listed(op.not_taken, path) && !has_empty_outputs(op)) {
                text += "\n" + testing::text_of(op) + ": '" + path + "' accepted this call";
            }
        }
    }
    for (const Operation& op : all) {
        for (const auto& [path, calls] : taken[op.name]) {
            if (calls > 0 || is_listed(op.not_taken, path)) continue;
            text += "\n" + op.name + ": '" + path + "' accepted no call";
        }
        taken.erase(op.name);
    }
    return {text.empty(), text};
}

}  // namespace sixdays::testing
