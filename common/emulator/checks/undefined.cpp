/// @file
/// The handlers that g++ -fsanitize=undefined calls for undefined behaviour in a kernel: an index
/// past an array, an overflow, a misaligned pointer. Also assert(). Outside of kernels they print
/// and abort. Which handlers may return depends on -fsanitize-recover in emulate.cmake.
#include <bit>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>

#include "common/emulator/machine/finding.hpp"
#include "common/emulator/machine/source.hpp"
#include "emulated/to_whole.h"

namespace {

using namespace sixdays::emulator;  // only the compiler generates calls to this file

// The arguments that the compiler passes, as far as needed: gcc/ubsan.c, libubsan's ubsan_value.h.
struct Source {
    const char* file;
    std::uint32_t line;
    std::uint32_t column;
};
struct Type {
    std::uint16_t kind;  // 0: integer, 1: floating point
    std::uint16_t info;  // integers: bit 0: signed; others: log2 of the width in bits
    char name[1];
};
struct Overflow {
    Source where;
    const Type* type;
};
struct Shift {
    Source where;
    const Type* left;
    const Type* right;
};
struct Bounds {
    Source where;
    const Type* array;
    const Type* index;
};
struct FloatCast {
    Source where;
    const Type* from;
    const Type* to;
};
struct Mismatch {
    Source where;
    const Type* type;
    unsigned char log_alignment;
    unsigned char check;
};

// Values of up to 64 bits are passed directly, wider ones by address.
std::string text_of(const Type& type, std::uintptr_t value) {
    const unsigned bits = 1u << (type.info >> 1);
    if (type.kind != 0 || bits > 64) return "a value";
    if ((type.info & 1) == 0) return format("%" PRIuPTR, value);
    const auto shift = 64 - bits;
    return format("%" PRIdPTR, static_cast<std::intptr_t>(value << shift) >> shift);
}

// A floating-point value, passed in the same way.
double number_of(const Type& type, std::uintptr_t value) {
    if (type.info == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(value));
    if (type.info == 64) return std::bit_cast<double>(static_cast<std::uint64_t>(value));
    return NAN;
}

[[noreturn]] void found(Kind kind, cudaError_t error, const Source& where, const std::string& what,
                        std::uintptr_t address = 0, const void* code = nullptr,
                        Site made = Site::current()) {
    const std::string who = current != nullptr ? name(*current) + ": " : std::string();
    fail({kind,
          error,
          Place(where.file, where.line, code),
          who + what,
          address,
          {},
          nullptr,
          current != nullptr,
          made});
}

[[noreturn]] void undefined(const Source& where, const std::string& what,
                            Site made = Site::current()) {
    found(Kind::undefined_behaviour, cudaErrorLaunchFailure, where, what, 0, nullptr, made);
}

// A finding in a kernel, only a remark in host code.
void overflow(const Overflow* data, const char* sign, std::uintptr_t a, std::uintptr_t b,
              Site made = Site::current()) {
    const std::string text = text_of(*data->type, a) + " " + sign + " " + text_of(*data->type, b) +
                             " does not fit into " + data->type->name +
                             ". Offsets of large arrays need std::int64_t.";
    if (current != nullptr) undefined(data->where, text, made);
    remark(Place(data->where.file, data->where.line), text);
}

}  // namespace

extern "C" {

void __ubsan_handle_add_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    const InRuntime guard;
    overflow(d, "+", a, b);
}
void __ubsan_handle_sub_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    const InRuntime guard;
    overflow(d, "-", a, b);
}
void __ubsan_handle_mul_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    const InRuntime guard;
    overflow(d, "*", a, b);
}
void __ubsan_handle_negate_overflow(Overflow* d, std::uintptr_t a) {
    const InRuntime guard;
    undefined(d->where, "-(" + text_of(*d->type, a) + ") does not fit into " + d->type->name + ".");
}
// Undefined in C++, but defined on a GPU, with a result other than this processor's.
void __ubsan_handle_float_cast_overflow(FloatCast* d, std::uintptr_t value) {
    if (current == nullptr) return;
    const InRuntime guard;
    const double x = number_of(*d->from, value);
    const unsigned bits = 1u << (d->to->info >> 1);
    const std::uint64_t on_gpu =
        beyond_range(x, bits, (d->to->info & 1) != 0, bits == 64 || d->from->info == 64);
    remark(Place(d->where.file, d->where.line),
           format("%g is converted to %s, which cannot represent it. The result is undefined in "
                  "C++: a GPU gives %s, this CPU may give another value.",
                  x, d->to->name, text_of(*d->to, on_gpu).c_str()));
}
[[noreturn]] void __ubsan_handle_divrem_overflow_abort(Overflow* d, std::uintptr_t a,
                                                       std::uintptr_t b) {
    const InRuntime guard;
    undefined(d->where, text_of(*d->type, a) + " divided by " + text_of(*d->type, b) +
                            " has no result in " + d->type->name + ".");
}
[[noreturn]] void __ubsan_handle_divrem_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    __ubsan_handle_divrem_overflow_abort(d, a, b);
}
[[noreturn]] void __ubsan_handle_shift_out_of_bounds_abort(Shift* d, std::uintptr_t a,
                                                           std::uintptr_t b) {
    const InRuntime guard;
    undefined(d->where, text_of(*d->left, a) + " shifted by " + text_of(*d->right, b) +
                            " has no result in " + d->left->name + ".");
}

[[noreturn]] void __ubsan_handle_out_of_bounds_abort(Bounds* d, std::uintptr_t index) {
    const InRuntime guard;
    const std::string text = expression_at(d->where.file, d->where.line, d->where.column);
    found(Kind::out_of_bounds, cudaErrorIllegalAddress, d->where,
          "index " + text_of(*d->index, index) + (text.empty() ? "" : " in `" + text + "`") +
              " is out of bounds for the array, whose type is " + d->array->name +
              ". Do too many threads get here, because a guard such as `if (t < n)` is missing? Or "
              "does a loop, or the index itself, go one too far, or is the array too small?");
}

[[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(Mismatch* d, std::uintptr_t address) {
    const InRuntime guard;
    const void* const code = __builtin_return_address(0);
    const std::uintptr_t alignment = std::uintptr_t{1} << d->log_alignment;
    if (address % alignment != 0) {
        found(Kind::misaligned, cudaErrorMisalignedAddress, d->where,
              format("an address that is not a multiple of %zu is used for a %s, which needs that "
                     "alignment. It is %zu byte%s past such a multiple.",
                     static_cast<std::size_t>(alignment), d->type->name,
                     static_cast<std::size_t>(address % alignment),
                     address % alignment == 1 ? "" : "s"),
              address, code);
    }
    found(Kind::out_of_bounds, cudaErrorIllegalAddress, d->where,
          std::string("the object is too small for an access as ") + d->type->name + ".", address,
          code);
}

[[noreturn]] void __ubsan_handle_load_invalid_value_abort(Overflow* d, std::uintptr_t value) {
    const InRuntime guard;
    undefined(d->where,
              format("%" PRIuPTR, value) + " is not a valid value of type " + d->type->name + ".");
}
[[noreturn]] void __ubsan_handle_builtin_unreachable(Source* where) {
    const InRuntime guard;
    undefined(*where, "code marked as unreachable was reached.");
}
[[noreturn]] void __ubsan_handle_missing_return(Source* where) {
    const InRuntime guard;
    undefined(*where, "a function ends without returning a value.");
}
[[noreturn]] void __ubsan_handle_vla_bound_not_positive_abort(Overflow* d, std::uintptr_t bound) {
    const InRuntime guard;
    undefined(d->where, "an array has " + text_of(*d->type, bound) + " elements.");
}
[[noreturn]] void __ubsan_handle_nonnull_arg_abort(Source* where) {
    const InRuntime guard;
    undefined(*where, "a null pointer is passed where it is not allowed.");
}
[[noreturn]] void __ubsan_handle_nonnull_return_v1_abort(void*, Source* where) {
    const InRuntime guard;
    undefined(*where, "a null pointer is returned where it is not allowed.");
}
[[noreturn]] void __ubsan_handle_invalid_builtin_abort(Source* where) {
    const InRuntime guard;
    undefined(*where, "a count of leading or trailing zeros of 0 is undefined.");
}

// assert() in a kernel; in host code the usual behaviour.
void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) {
    const InRuntime guard;
    if (current == nullptr) {
        std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function,
                     expression);
        std::abort();
    }
    fail({Kind::assertion, cudaErrorAssert, Place(file, line),
          name(*current) + ": assertion `" + expression + "` failed."});
}

}  // extern "C"

namespace sixdays::emulator {

void note_shift(long long value, long long by) {
    const InRuntime guard;
    static auto& told = *new std::set<std::string>;
    const Line line = find_line(__builtin_return_address(0));
    const std::string place = line.file + ":" + std::to_string(line.line);
    if (!told.insert(place).second) return;
    print_note(
        format("%s: %lld shifted by %lld. That is undefined in C++; a GPU gives 0, and so does the "
               "emulator.",
               place.c_str(), value, by));
}

void trap(Site site) {
    const InRuntime guard;
    if (current == nullptr) std::abort();
    fail({Kind::assertion, cudaErrorLaunchFailure, site, name(*current) + " stops at __trap()."});
}

}  // namespace sixdays::emulator
