#include "common/testing/host.hpp"

#include <algorithm>
#include <new>

namespace sixdays::testing {

namespace {
constexpr std::align_val_t kAlignment{256};
}

HostMemory::HostMemory(const Bytes& image)
    : size_(image.size()), bytes_(static_cast<std::byte*>(::operator new(size_, kAlignment))) {
    std::copy(image.begin(), image.end(), data());
}

void HostMemory::Free::operator()(std::byte* bytes) const noexcept {
    ::operator delete(bytes, kAlignment);
}

namespace detail {

Comparison intact(const Image& before, const Bytes& later, const char* whose) {
    const std::string strays = before.strays(later);
    if (strays.empty()) return {true, std::string(whose) + ": nothing written elsewhere"};
    return {false, std::string(whose) + ": " + strays};
}

Comparison both(const Comparison& guards, const Comparison& values) {
    if (guards.ok) return values;
    return {false, values.ok ? guards.text : guards.text + "\n" + values.text};
}

Comparison unchanged(const Image& before, const Bytes& later) {
    const Comparison values =
        equal(before.elements_in(later), before.elements_in(before.bytes()), {});
    if (!values.ok)
        return both(intact(before, later, "The input"),
                    {false, "The input was changed. " + values.text});
    return both(intact(before, later, "The input"), {true, "the input is unchanged"});
}

Comparison untouched(const Image& before, const Bytes& later) {
    const Comparison values =
        equal(before.elements_in(later), before.elements_in(before.bytes()), {});
    if (!values.ok)
        return both(intact(before, later, "The output"),
                    {false, "The output was written. " + values.text});
    return both(intact(before, later, "The output"), {true, "nothing was written"});
}

}  // namespace detail
}  // namespace sixdays::testing
