/// @file
/// The reports of undefined behaviour and of assert().
#include <cinttypes>

#include "common/emulator/report/names.hpp"
#include "common/emulator/report/sentences.hpp"

namespace sixdays::emulator {

namespace {

std::string text_of(const Value& value) {
    if (!value.is_known) return "a value";
    return value.is_signed ? format("%" PRId64, value.bits)
                           : format("%" PRIu64, static_cast<std::uint64_t>(value.bits));
}

std::string what_is_wrong(const UndefinedBehaviour& fact) {
    const std::string type = fact.type, left = text_of(fact.left), right = text_of(fact.right);
    switch (fact.what) {
        using enum UndefinedBehaviour::What;
        case overflow:
            return left + " " + fact.sign + " " + right + " does not fit into " + type +
                   ". Offsets of large arrays need std::int64_t.";
        case negation:
            return "-(" + left + ") does not fit into " + type + ".";
        case division:
            return left + " divided by " + right + " has no result in " + type + ".";
        case shift:
            return left + " shifted by " + right + " has no result in " + type + ".";
        case shift_by_all:
            return left + " shifted by " + right +
                   ". That is undefined in C++; a GPU gives 0, and so does the emulator.";
        case conversion:
            return format("%g is converted to ", fact.real) + type +
                   ", which cannot represent it. The result is undefined in C++: a GPU gives " +
                   left + ", this CPU may give another value.";
        case index: {
            const std::string in = expression_at(fact.place.file, fact.place.line, fact.column);
            return "index " + left + (in.empty() ? "" : " in `" + in + "`") +
                   " is out of bounds for the array, whose type is " + type +
                   ". Do too many threads get here, because a guard such as `if (t < n)` is "
                   "missing? Or does a loop, or the index itself, go one too far, or is the array "
                   "too small?";
        }
        case misaligned: {
            const std::size_t beyond = fact.address % fact.alignment;
            return format(
                "an address that is not a multiple of %zu is used for a %s, which needs that "
                "alignment. It is %zu byte%s past such a multiple.",
                fact.alignment, fact.type, beyond, beyond == 1 ? "" : "s");
        }
        case too_small:
            return "the object is too small for an access as " + type + ".";
        case invalid_value:
            return left + " is not a valid value of type " + type + ".";
        case unreachable:
            return "code marked as unreachable was reached.";
        case no_return:
            return "a function ends without returning a value.";
        case array_length:
            return "an array has " + left + " elements.";
        case null_argument:
            return "a null pointer is passed where it is not allowed.";
        case null_result:
            return "a null pointer is returned where it is not allowed.";
        case count_of_zero:
            return "a count of leading or trailing zeros of 0 is undefined.";
    }
    return "";
}

}  // namespace

Finding words(const UndefinedBehaviour& fact) {
    using What = UndefinedBehaviour::What;
    const bool remark = fact.what == What::shift_by_all || fact.what == What::conversion;
    const bool misaligned = fact.what == What::misaligned;
    const bool outside = fact.what == What::index || fact.what == What::too_small;
    return {misaligned ? Kind::misaligned
            : outside  ? Kind::out_of_bounds
                       : Kind::undefined_behaviour,
            misaligned ? cudaErrorMisalignedAddress
            : outside  ? cudaErrorIllegalAddress
                       : cudaErrorLaunchFailure,
            fact.place,
            (current == nullptr || remark ? "" : name(*current) + ": ") + what_is_wrong(fact),
            fact.address,
            {},
            nullptr,
            current != nullptr};
}

Finding words(const Assertion& fact) {
    const bool trap = fact.expression == nullptr;
    return by_thread(Kind::assertion, trap ? cudaErrorLaunchFailure : cudaErrorAssert, fact.place,
                     trap ? " stops at __trap()."
                          : std::string(": assertion `") + fact.expression + "` failed.");
}

}  // namespace sixdays::emulator
