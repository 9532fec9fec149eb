#include "common/testing/operation/call.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>

#include "common/gpu/device.hpp"
#include "common/testing/device.hpp"

namespace sixdays::testing {

double eighths(std::int64_t k) {
    return static_cast<double>((k * 37 + 11) % 101) / 8 - 6;
}

Values below(std::int64_t n) {
    return [n](std::int64_t k) { return static_cast<double>(k * 37 % n); };
}

Values list(std::vector<double> values) {
    return [values = std::move(values)](std::int64_t k) {
        return values[static_cast<std::size_t>(k)];
    };
}

Values all_equal_to(double value) {
    return [value](std::int64_t) { return value; };
}

double value_of(const Operation& op, std::size_t i, std::int64_t k) {
    const Values& values = op.operands[i].values;
    return values ? values(k) : eighths(k + 53 * static_cast<std::int64_t>(i));
}

namespace {

// Finite in every type, so that a NaN in a result was computed, and not used by any test.
constexpr std::byte kPoison{0x5A};

template <class T>
void store(std::byte* to, T x) {
    std::memcpy(to, &x, sizeof x);
}

// A raw element of 16 bytes holds -x in its lower half and x in its upper half.
void store_raw(std::byte* to, double x) {
    store(to, -x);
    store(to + sizeof x, x);
}
double raw_value(const std::byte* element) {
    double low = 0, high = 0;
    std::memcpy(&low, element, sizeof low);
    std::memcpy(&high, element + sizeof low, sizeof high);
    return low == -high ? high : INFINITY;  // which no test uses
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
            if (type.bytes == 1) return store(to, static_cast<std::int8_t>(x));
            break;
        case Kind::unsigned_integer:
            if (type.bytes == 1) return store(to, static_cast<std::uint8_t>(x));
            break;
        case Kind::raw:
            if (type.bytes == 16) return store_raw(to, x);
            break;
    }
    throw std::logic_error("no operation takes this element type");
}

// The values of operand i before the call, row-major.
Bytes values_of(const Operation& op, std::size_t i, std::optional<std::int64_t> nan) {
    const Operand& x = op.operands[i];
    const auto bytes = static_cast<std::size_t>(x.type.bytes);
    Bytes values(static_cast<std::size_t>(size(x.shape)) * bytes);
    for (std::int64_t k = 0; k < size(x.shape); ++k) {
        store(x.type, values.data() + static_cast<std::size_t>(k) * bytes,
              nan == k ? NAN : value_of(op, i, k));
    }
    return values;
}

Tensor<double> numbers(const Elements& elements) {
    Tensor<double> tensor(elements.layout.shape);
    Index at = Dims::filled(tensor.shape().rank, 0);
    for (std::int64_t k = 0; k < tensor.size(); ++k, advance(at, tensor.shape())) {
        const std::byte* element = elements.at(at);
        tensor.data()[k] =
            elements.type.kind == Kind::raw ? raw_value(element) : value_of(elements.type, element);
    }
    return tensor;
}

// With the NaN or the missing operand of this change.
Inputs inputs_of(const Operation& op, const Change& change) {
    Inputs inputs;
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        const Operand& x = op.operands[i];
        const bool changed = static_cast<int>(i) == change.operand;
        if (x.use == Use::writes || (changed && change.null)) {
            inputs.emplace_back();
            continue;
        }
        const Bytes values = values_of(op, i, changed ? change.nan : std::nullopt);
        inputs.emplace_back(numbers({values.data(), row_major(x.shape), x.type}));
    }
    return inputs;
}

}  // namespace

std::string text_of(const Operation& op) {
    std::string text = op.name + " of";
    for (const Operand& operand : op.operands) {
        text += " " + operand.name + " " + to_string(operand.shape);
    }
    return text;
}

bool has_empty_outputs(const Operation& op) {
    return std::all_of(op.operands.begin(), op.operands.end(),
                       [](const Operand& x) { return x.use == Use::reads || size(x.shape) == 0; });
}

int index_of(const Operation& op, const std::string& name) {
    for (std::size_t i = 0; i < op.operands.size(); ++i) {
        if (op.operands[i].name == name) return static_cast<int>(i);
    }
    throw std::logic_error(op.name + " has no operand " + name);
}

bool is_listed(const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
}

// --- one call ------------------------------------------------------------------------------------

namespace {

// The operands in memory.
template <class Memory>
struct Placed {
    std::vector<Image> images;
    std::vector<Memory> memories;
    Call call;

    Placed(const Operation& op, const Change& change) {
        call.path = change.path;
        images.reserve(op.operands.size());
        memories.reserve(op.operands.size());
        for (std::size_t i = 0; i < op.operands.size(); ++i) {
            const Operand& x = op.operands[i];
            const bool changed = static_cast<int>(i) == change.operand;
            const bool moved = changed && change.layout;
            const Layout layout = moved ? *change.layout : x.layout.value_or(row_major(x.shape));
            Image& image =
                images.emplace_back(layout, x.type, moved ? change.lead : x.lead, Memory::band());
            if (x.use == Use::writes) {
                image.fill(kPoison);
            } else {
                const Bytes values = values_of(op, i, changed ? change.nan : std::nullopt);
                image.fill(Elements{values.data(), row_major(x.shape), x.type});
            }
            memories.emplace_back(image.bytes());
            call.arguments.push_back({memories.back().data() + image.origin(), layout});
        }
        if (change.operand < 0) return;
        Call::Argument& it = call.arguments[static_cast<std::size_t>(change.operand)];
        if (change.null) it.data = nullptr;
        if (change.invalid) it.layout = *change.invalid;
        if (change.inside >= 0) {
            it.data = call.arguments[static_cast<std::size_t>(change.inside)].data + change.past;
        }
    }
};

}  // namespace

Caller::Caller(const Operation& op, SharedWorkspace* workspace) : op_(op), shared_(workspace) {}

SharedWorkspace& Caller::workspace(std::int64_t bytes) const {
    if (shared_ != nullptr) return *shared_;
    if (!own_ || capacity_ < bytes) {
        own_ = std::make_unique<SharedWorkspace>(bytes);
        capacity_ = bytes;
    }
    return *own_;
}

// The bytes that the call needs, from the workspace that all calls share.
gpu::Workspace Caller::workspace_of(const Call& call, std::int64_t less) const {
    std::int64_t bytes = op_.workspace_bytes;
    try {
        if (op_.needed_bytes) bytes = op_.needed_bytes(call);
    } catch (const std::invalid_argument&) {  // left to the operation to report
        return {};
    }
    if (bytes <= less) return {};
    return workspace(bytes).next(bytes - less);
}

Outcome Caller::operator()(Where where, const Change& change) const {
    return where == Where::cpu ? call<HostMemory>(op_.cpu, change)
                               : call<DeviceMemory>(op_.cuda, change);
}

template <class Memory>
Outcome Caller::call(const std::function<void(const Call&)>& f, const Change& change) const {
    Placed<Memory> placed(op_, change);
    Outcome outcome;
    Call& c = placed.call;
    if (std::is_same_v<Memory, DeviceMemory>) {
        const bool known =
            change.path && *change.path >= 0 && *change.path < static_cast<int>(op_.paths.size());
        const PathOf* path = known ? &op_.paths[static_cast<std::size_t>(*change.path)] : nullptr;
        if (path != nullptr && path->accepts && !change.invalid) outcome.accepts = path->accepts(c);
        if (!change.path && op_.best && !change.invalid) outcome.best = op_.best(c);
        if (outcome.best) path = &op_.paths[static_cast<std::size_t>(*outcome.best)];
        if (path != nullptr && !change.invalid)
            outcome.due = path->kernel_of ? path->kernel_of(c) : path->kernel;
        c.workspace = workspace_of(c, change.less);
        outcome.workspace_bytes = c.workspace.bytes;
    }
    try {
        f(c);
    } catch (const std::invalid_argument& rejected) {
        outcome.rejected = rejected.what();
        if (outcome.rejected.empty()) outcome.error = "std::invalid_argument without a message";
    } catch (const std::exception& error) {
        outcome.error = error.what();
    }
    outcome.kernel = gpu::last_kernel();
    look_at(placed.images, placed.memories, change, outcome);
    if (c.workspace.bytes > 0 && outcome.ok()) {
        const Comparison kept = workspace(0).kept();
        if (!kept) outcome.faults.push_back(kept.text);
    }
    return outcome;
}

// Inspects the operands' memory after the call.
template <class Memory>
void Caller::look_at(const std::vector<Image>& images, const std::vector<Memory>& memories,
                     const Change& change, Outcome& outcome) const {
    std::vector<Bytes> later;
    try {
        for (const Memory& memory : memories) later.push_back(memory.read());
    } catch (const std::exception& error) {  // a kernel failed
        outcome.error += error.what();
        return;
    }
    for (std::size_t i = 0; i < images.size(); ++i) {
        const Operand& x = op_.operands[i];
        const bool changed = later[i] != images[i].bytes();
        if (changed) outcome.wrote.push_back(x.name);
        const std::string strays = images[i].strays(later[i]);
        if (!strays.empty()) outcome.faults.push_back(x.name + ": " + strays);
        const bool shared = change.inside == static_cast<int>(i);
        if (changed && x.use == Use::reads && !shared) {
            outcome.faults.push_back(x.name + " was changed");
        }
        if (x.use == Use::reads) continue;
        const bool guest = change.inside >= 0 && change.operand == static_cast<int>(i);
        const std::size_t home = guest ? static_cast<std::size_t>(change.inside) : i;
        outcome.outputs.push_back(numbers(images[home].elements_in(later[home])));
        outcome.names.push_back(x.name);
    }
}

// --- expected results ----------------------------------------------------------------------------

// Rounding may differ by path; these bounds still expose a wrong element.
std::vector<Expected> Caller::reference(Change change) const {
    change.layout.reset();
    change.lead = 0;
    change.path.reset();
    if (!op_.cpu && !op_.paths.empty()) change.path = 0;
    const Outcome outcome = (*this)(op_.cpu ? Where::cpu : Where::cuda, change);
    if (!outcome.ok())
        throw std::logic_error(text_of(op_) + ": " + outcome.rejected + outcome.error);
    std::vector<Expected> all;
    for (const Tensor<double>& output : outcome.outputs) {
        Expected& want = all.emplace_back(output.shape());
        for (std::int64_t k = 0; k < output.size(); ++k) {
            const double value = output.data()[k];
            want.value.data()[k] = value;
            want.error.data()[k] = std::isfinite(value) ? 2e-2 * std::fabs(value) + 1e-3 : 0;
        }
    }
    return all;
}

std::vector<Expected> Caller::expected(const Change& change, int path) const {
    return op_.exact ? op_.exact(inputs_of(op_, change), path) : reference(change);
}

}  // namespace sixdays::testing
