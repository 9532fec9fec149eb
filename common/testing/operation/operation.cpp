#include "common/testing/operation/operation.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <map>
#include <set>
#include <stdexcept>

#include "common/testing/device.hpp"

namespace sixdays::testing {

double eighths(std::int64_t k) {
    return static_cast<double>((k * 37 + 11) % 101) / 8 - 6;
}

Values below(std::int64_t n) {
    return [n](std::int64_t k) { return static_cast<double>(k * 37 % n); };
}

namespace {

// Finite in every type, so that a NaN in a result has been computed, and no value of a test.
constexpr std::byte kPoison{0x5A};

// --- one call ------------------------------------------------------------------------------------

enum class Where { cpu, cuda };

// What is changed of the call that the table describes.
struct Change {
    int operand = -1;
    std::optional<Layout> layout = {};     // instead of row-major; memory as it asks for
    std::optional<Layout> invalid = {};    // the same, but memory stays as it was
    bool null = false;                     // a null pointer
    int inside = -1;                       // lies in the memory of this operand,
    std::int64_t past = 0;                 //   so many bytes past its first element
    std::optional<std::int64_t> nan = {};  // this element is a NaN
    std::optional<int> path = {};
};

template <class T>
void store(std::byte* to, T x) {
    std::memcpy(to, &x, sizeof x);
}

void store(ElementType type, std::byte* to, double x) {
    switch (type.kind) {
        case Kind::floating:
            return type.bytes == 4 ? store(to, static_cast<float>(x)) : store(to, x);
        case Kind::bfloat:
            return store(to, bf16(static_cast<float>(x)));
        case Kind::half:
            return store(to, f16(static_cast<float>(x)));
        case Kind::signed_integer:
            if (type.bytes == 8) return store(to, static_cast<std::int64_t>(x));
            break;
        case Kind::unsigned_integer:
            if (type.bytes == 1) return store(to, static_cast<std::uint8_t>(x));
            break;
        case Kind::raw:
            break;
    }
    throw std::logic_error("a type that no operation takes");
}

bool is_float(ElementType type) {
    return type.kind == Kind::floating || type.kind == Kind::bfloat || type.kind == Kind::half;
}

Image image_of(const Operand& operand, const Layout& layout, std::int64_t band,
               std::optional<std::int64_t> nan) {
    Image image(layout, operand.type, 0, band);
    if (operand.use == Use::writes) {
        image.fill(kPoison);
        return image;
    }
    const auto bytes = static_cast<std::size_t>(operand.type.bytes);
    Bytes values(static_cast<std::size_t>(size(operand.shape)) * bytes);
    for (std::int64_t k = 0; k < size(operand.shape); ++k) {
        store(operand.type, values.data() + static_cast<std::size_t>(k) * bytes,
              nan == k ? NAN : operand.values(k));
    }
    image.fill(Elements{values.data(), row_major(operand.shape), operand.type});
    return image;
}

// What a call has left.
struct Outcome {
    std::string rejected;            // the message of std::invalid_argument
    std::string error;               // the message of any other exception
    std::vector<std::string> wrote;  // names of operands whose memory has changed
    std::vector<double> values;      // of all outputs, row-major, one output after the other
    std::vector<std::string> stray;  // what was written outside of elements

    bool ok() const { return rejected.empty() && error.empty(); }
};

template <class Memory>
Outcome run(const Operation& op, const std::function<void(const Call&)>& call,
            const Change& change) {
    std::vector<Image> images;
    std::vector<Memory> memories;
    Call c;
    c.path = change.path;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Operand& operand = op.operands[i];
        const bool changed = static_cast<int>(i) == change.operand;
        const Layout layout = changed && change.layout ? *change.layout : row_major(operand.shape);
        images.push_back(
            image_of(operand, layout, Memory::band(), changed ? change.nan : std::nullopt));
        memories.emplace_back(images.back().bytes());
        c.arguments.push_back({memories.back().data() + images.back().origin(), layout});
    }
    if (change.operand >= 0) {
        Call::Argument& it = c.arguments[static_cast<std::size_t>(change.operand)];
        if (change.null) it.data = nullptr;
        if (change.invalid) it.layout = *change.invalid;
        if (change.inside >= 0) {
            it.data = c.arguments[static_cast<std::size_t>(change.inside)].data + change.past;
        }
    }
    if (op.workspace_bytes > 0) {
        if (!op.workspace) {
            op.workspace = std::make_shared<gpu::Buffer<std::byte>>(op.workspace_bytes);
            op.workspace->fill_bytes(0);  // once: every call leaves its counters at 0
        }
        c.workspace = *op.workspace;
    }
    Outcome outcome;
    try {
        call(c);
    } catch (const std::invalid_argument& rejected) {
        outcome.rejected = rejected.what();
        if (outcome.rejected.empty()) outcome.error = "std::invalid_argument without a message";
    } catch (const std::exception& error) {
        outcome.error = error.what();
    }
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        Bytes later;
        try {
            later = memories[i].read();
        } catch (const std::exception& error) {  // of a kernel
            outcome.error += error.what();
            break;
        }
        if (later != images[i].bytes()) outcome.wrote.push_back(op.operands[i].name);
        const std::string strays = images[i].strays(later);
        if (!strays.empty()) outcome.stray.push_back(op.operands[i].name + ": " + strays);
        if (op.operands[i].use == Use::reads) continue;
        const Elements now = images[i].elements_in(later);
        Index at = Dims::filled(now.layout.rank(), 0);
        for (std::int64_t n = now.layout.size(); n > 0; --n, advance(at, now.layout.shape)) {
            outcome.values.push_back(value_of(now.type, now.at(at)));
        }
    }
    return outcome;
}

Outcome run(const Operation& op, Where where, const Change& change) {
    return where == Where::cpu ? run<HostMemory>(op, op.cpu, change)
                               : run<DeviceMemory>(op, op.cuda, change);
}

// --- what is found -------------------------------------------------------------------------------

std::string text_of(const Operation& op) {
    std::string text = op.name + " of";
    for (const Operand& operand : op.operands) {
        text += " " + operand.name + " " + to_string(operand.shape);
    }
    return text;
}

// Collects what is wrong; the first of it is enough.
class Report {
public:
    explicit Report(const Operation& op) : op_(op) {}

    void add(const Change& change, Where where, const std::string& what, const std::string& found) {
        const std::string path =
            !change.path ? ", the best path"
            : *change.path >= 0 && *change.path < static_cast<int>(op_.paths.size())
                ? ", path '" + op_.paths[static_cast<std::size_t>(*change.path)] + "'"
                : "";
        if (++count_ <= 6) {
            text_ += "\n" + what + (where == Where::cpu ? " (CPU)" : " (CUDA" + path + ")") + ": " +
                     found;
        }
    }
    /// The call must have been rejected, in the operation's name and those of these operands.
    void need_rejection(const Change& change, Where where, const std::string& what,
                        const std::vector<std::string>& names) {
        const Outcome outcome = run(op_, where, change);
        if (!outcome.error.empty()) return add(change, where, what, outcome.error);
        if (outcome.ok()) return add(change, where, what, "not rejected");
        check_message(change, where, what, outcome, names);
    }
    /// Two operands that do not fit each other: the message may begin with the other one.
    void need_mismatch(const Change& change, Where where, const std::string& what,
                       const std::string& name) {
        const Outcome outcome = run(op_, where, change);
        if (!outcome.error.empty()) return add(change, where, what, outcome.error);
        if (outcome.ok()) return add(change, where, what, "not rejected");
        // "in" is also a word of English.
        const bool other =
            outcome.rejected.starts_with(op_.name + ": dim ") ||
            std::any_of(op_.operands.begin(), op_.operands.end(), [&](const Operand& x) {
                return has_word(outcome.rejected, x.name == "in" ? "in has" : x.name);
            });
        check_message(change, where, what, outcome,
                      other ? std::vector<std::string>{} : std::vector<std::string>{name});
    }
    void check_message(const Change& change, Where where, const std::string& what,
                       const Outcome& outcome, const std::vector<std::string>& names) {
        const std::string& said = outcome.rejected;
        if (where == Where::cpu) {
            said_by_cpu_ = {what, said};
        } else if (!change.path && said_by_cpu_.first == what && said_by_cpu_.second != said) {
            add(change, where, what, said + "\n  by the CPU reference: " + said_by_cpu_.second);
        }
        const bool own = said.starts_with(op_.name) && said.size() > op_.name.size() &&
                         (said[op_.name.size()] == ':' || said[op_.name.size()] == ' ');
        if (!own) add(change, where, what, "rejected in another name: " + said);
        for (const std::string& name : names) {
            if (!has_word(said.substr(std::min(op_.name.size(), said.size())), name)) {
                add(change, where, what, "rejected without naming '" + name + "': " + said);
            }
        }
        for (const std::string& name : outcome.wrote) {
            add(change, where, what, "rejected after " + name + " was written: " + said);
        }
    }

    Comparison result() const {
        if (count_ == 0) return {true, text_of(op_)};
        return {false, text_of(op_) + ", " + std::to_string(count_) + " wrong:" + text_};
    }

private:
    static bool has_word(const std::string& text, const std::string& word) {
        const auto letter = [&](std::size_t at) {
            return at < text.size() &&
                   (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
        };
        for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
            if ((at == 0 || !letter(at - 1)) && !letter(at + word.size())) return true;
        }
        return false;
    }

    const Operation& op_;
    std::pair<std::string, std::string> said_by_cpu_;  // of what, what
    int count_ = 0;
    std::string text_;
};

// Calls f(where, path) for the CPU reference, for CUDA without a path, and by each path.
template <class F>
void everywhere(const Operation& op, const F& f) {
    if (op.cpu) f(Where::cpu, std::optional<int>());
    if (!op.cuda) return;
    f(Where::cuda, std::optional<int>());
    for (int p = 0; p < static_cast<int>(op.paths.size()); ++p) f(Where::cuda, std::optional(p));
}

int index_of(const Operation& op, const std::string& name) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (op.operands[i].name == name) return static_cast<int>(i);
    }
    throw std::logic_error(op.name + " has no operand " + name);
}

bool lists(const Operation& op, const std::vector<Pair>& pairs, const Operand& a,
           const Operand& b) {
    (void)index_of(op, a.name);
    return std::any_of(pairs.begin(), pairs.end(), [&](const Pair& pair) {
        (void)index_of(op, pair.first), (void)index_of(op, pair.second);
        return (pair.first == a.name && pair.second == b.name) ||
               (pair.first == b.name && pair.second == a.name);
    });
}

// Rounding may differ by path; a wrong element does not hide in this.
bool near(double got, double want) {
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
    if (std::isinf(want) || std::isinf(got)) return got == want;
    return std::fabs(got - want) <= 2e-2 * std::fabs(want) + 1e-3;
}

template <class Same>
std::string difference(const std::vector<double>& got, const std::vector<double>& want,
                       const Same& same) {
    for (std::size_t k = 0; k < want.size(); ++k) {
        if (!same(got[k], want[k])) {
            return "element " + std::to_string(k) + " of the outputs is " + std::to_string(got[k]) +
                   ", expected " + std::to_string(want[k]);
        }
    }
    return "";
}

bool same_value(double got, double want) {
    return got == want || (std::isnan(got) && std::isnan(want));
}

Shape with_dim(const Shape& shape, std::int64_t first) {
    Shape wrong = Dims::filled(shape.rank + 1, first);
    for (int d = 0; d < shape.rank; ++d) wrong[d + 1] = shape[d];
    return wrong;
}

Shape without_dim(const Shape& shape) {
    Shape wrong = Dims::filled(shape.rank - 1, 1);
    for (int d = 1; d < shape.rank; ++d) wrong[d - 1] = shape[d];
    return wrong;
}

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

struct Wrong {
    std::string what;
    Change change;
    bool mismatch;  // with another operand
};

std::vector<Wrong> wrongs_of(const Operand& x, int i) {
    std::vector<Wrong> all;
    if (size(x.shape) == 0) return all;  // nothing, perhaps a null pointer
    const auto add = [&](const std::string& what, const Layout& layout, bool mismatch = true) {
        all.push_back({x.name + " with " + what + " " + to_string(layout),
                       Change{.operand = i, .invalid = layout}, mismatch});
    };
    if (!x.optional) {
        all.push_back({x.name + " null", Change{.operand = i, .null = true}, false});
    }
    const bool other_ranks = x.any_layout && !x.broadcast;
    if (other_ranks && x.shape.rank < kMaxRank) {
        add("a dim more:", row_major(with_dim(x.shape, 2)));
    }
    if (other_ranks && x.shape.rank > 0) add("a dim fewer:", row_major(without_dim(x.shape)));
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
        add("two indices in one place:", collapsed, false);
        break;
    }
    return all;
}

std::int64_t bytes_of(const Operand& x) {
    return size(x.shape) * x.type.bytes;
}

}  // namespace

// --- rejections ----------------------------------------------------------------------------------

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
        const Outcome outcome = run(op, Where::cuda, change);
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

// --- results -------------------------------------------------------------------------------------

namespace {

// Other layouts of the same shape.
std::vector<Layout> layouts_of(const Shape& shape) {
    std::vector<Layout> all;
    if (size(shape) < 2) return all;
    const int last = shape.rank - 1;
    if (shape.rank > 1) all.push_back(column_major(shape));
    Shape wider = shape;
    ++wider[last];
    all.emplace_back(shape, row_major(wider).strides);  // room after each row
    wider[last] += 3;
    all.emplace_back(shape, row_major(wider).strides);  // room of a quad
    Layout spread = row_major(shape), backwards = spread;
    for (int d = 0; d < shape.rank; ++d) spread.strides[d] *= 2;
    all.push_back(spread);
    backwards.strides[last] = -1;
    all.push_back(backwards);
    return all;
}

// The result of the CPU reference, else of the twin, the first path.
Outcome reference(const Operation& op, Change change) {
    if (op.cpu) return run(op, Where::cpu, change);
    change.path = op.paths.empty() ? std::nullopt : std::optional(0);
    return run(op, Where::cuda, change);
}

}  // namespace

Comparison takes_or_rejects_layouts(const Operation& op) {
    Report report(op);
    const Outcome want = reference(op, {});
    if (!want.ok()) return {false, text_of(op) + ": " + want.rejected + want.error};
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Operand& x = op.operands[i];
        for (const Layout& layout : x.any_layout ? layouts_of(x.shape) : std::vector<Layout>{}) {
            const std::string what = x.name + " with " + to_string(layout);
            everywhere(op, [&](Where where, std::optional<int> path) {
                const Change change{.operand = static_cast<int>(i), .layout = layout, .path = path};
                const Outcome got = run(op, where, change);
                if (!got.error.empty()) return report.add(change, where, what, got.error);
                if (!got.ok()) {
                    const std::vector<std::string> names =
                        path ? std::vector<std::string>{} : std::vector<std::string>{x.name};
                    return report.check_message(change, where, what, got, names);
                }
                for (const std::string& stray : got.stray) report.add(change, where, what, stray);
                const std::string off = difference(got.values, want.values, near);
                if (!off.empty()) report.add(change, where, what, off);
            });
        }
    }
    return report.result();
}

Comparison ignores_unused_strides(const Operation& op) {
    Report report(op);
    everywhere(op, [&](Where where, std::optional<int> path) {
        const Outcome want = run(op, where, {.path = path});
        if (!want.error.empty()) return report.add({.path = path}, where, "as it is", want.error);
        if (!want.ok()) return;  // a path that cannot take this call
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
                    const Outcome got = run(op, where, change);
                    if (!got.ok()) {
                        report.add(change, where, what, got.rejected + got.error);
                        continue;
                    }
                    const std::string off = difference(got.values, want.values, same_value);
                    if (!off.empty()) report.add(change, where, what, off);
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
        std::set<std::int64_t> elements = {0, size(x.shape) / 2, size(x.shape) - 1};
        for (const std::int64_t element : elements) {
            Change change{.operand = static_cast<int>(i), .nan = element};
            const std::string what =
                "a NaN in element " + std::to_string(element) + " of " + x.name;
            const Outcome want = reference(op, change);
            if (!want.ok()) {
                report.add(change, Where::cpu, what, want.rejected + want.error);
                continue;
            }
            everywhere(op, [&](Where where, std::optional<int> path) {
                if (where == Where::cpu) return;
                change.path = path;
                const Outcome got = run(op, where, change);
                if (!got.error.empty()) return report.add(change, where, what, got.error);
                if (!got.ok()) return;  // a path that cannot take this call
                const std::string off = difference(got.values, want.values, near);
                if (!off.empty()) report.add(change, where, what, off);
            });
        }
    }
    return report.result();
}

namespace {

bool has_empty_outputs(const Operation& op) {
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [](const Operand& x) { return x.use == Use::reads || size(x.shape) == 0; });
}

}  // namespace

Comparison takes_empty_outputs(const Operation& op) {
    Report report(op);
    if (!has_empty_outputs(op)) return {true, text_of(op) + ": not empty"};
    everywhere(op, [&](Where where, std::optional<int> path) {
        const Change change{.path = path};
        const Outcome got = run(op, where, change);
        const bool lacks =
            path && is_listed(op.not_taken, op.paths[static_cast<std::size_t>(*path)]);
        if (!got.ok() && !lacks) report.add(change, where, "empty", got.rejected + got.error);
        for (const std::string& name : got.wrote)
            report.add(change, where, "empty", name + " written");
    });
    return report.result();
}

Comparison covers_every_path(const std::vector<Operation>& all) {
    std::map<std::string, std::map<std::string, int>> taken;  // operation, path: calls
    std::string text;
    for (const Operation& op : all) {
        for (int p = 0; p < static_cast<int>(op.paths.size()); ++p) {
            const std::string& path = op.paths[static_cast<std::size_t>(p)];
            const bool took = run(op, Where::cuda, {.path = p}).ok();
            taken[op.name][path] += took ? 1 : 0;
            if (took && is_listed(op.not_taken, path) && !has_empty_outputs(op)) {
                text += "\n" + text_of(op) + ": '" + path + "' took this call";
            }
        }
    }
    for (const Operation& op : all) {
        for (const auto& [path, calls] : taken[op.name]) {
            if (calls > 0 || is_listed(op.not_taken, path)) continue;
            text += "\n" + op.name + ": '" + path + "' took no call";
        }
        taken.erase(op.name);
    }
    return {text.empty(), text};
}

}  // namespace sixdays::testing
