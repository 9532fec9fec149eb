/// @file
/// The handlers that g++ -fsanitize=undefined calls for undefined behaviour in a kernel: an index
/// past an array, an overflow, a misaligned pointer. Also assert(). Outside of kernels they print
/// and abort. Which handlers may return depends on -fsanitize-recover in emulate.cmake.
#include <bit>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "common/emulator/machine/facts.hpp"
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
Value value_of(const Type& type, std::uintptr_t value) {
    const unsigned bits = 1u << (type.info >> 1);
    if (type.kind != 0 || bits > 64) return {0, false, false};
    if ((type.info & 1) == 0) return {static_cast<std::int64_t>(value), false};
    const auto shift = 64 - bits;
    return {static_cast<std::int64_t>(value << shift) >> shift};
}

// A floating-point value, passed in the same way.
double number_of(const Type& type, std::uintptr_t value) {
    if (type.info == 32) return std::bit_cast<float>(static_cast<std::uint32_t>(value));
    if (type.info == 64) return std::bit_cast<double>(static_cast<std::uint64_t>(value));
    return NAN;
}

using Undefined = UndefinedBehaviour::What;

UndefinedBehaviour undefined(Undefined what, const Source& where, const char* type = "",
                             Value left = {}, Value right = {}) {
    return {what, Place(where.file, where.line), type, left, right};
}

// A finding in a kernel, only a remark in host code.
void overflow(const Overflow* d, char sign, std::uintptr_t a, std::uintptr_t b,
              Site made = Site::current()) {
    const InRuntime guard;
    UndefinedBehaviour fact = undefined(Undefined::overflow, d->where, d->type->name,
                                        value_of(*d->type, a), value_of(*d->type, b));
    fact.sign = sign;
    if (current != nullptr) fail(fact, made);
    remark(fact.place, fact, made);
}

}  // namespace

extern "C" {

void __ubsan_handle_add_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    overflow(d, '+', a, b);
}
void __ubsan_handle_sub_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    overflow(d, '-', a, b);
}
void __ubsan_handle_mul_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    overflow(d, '*', a, b);
}
void __ubsan_handle_negate_overflow(Overflow* d, std::uintptr_t a) {
    const InRuntime guard;
    fail(undefined(Undefined::negation, d->where, d->type->name, value_of(*d->type, a)));
}
// Undefined in C++, but defined on a GPU, with a result other than this processor's.
void __ubsan_handle_float_cast_overflow(FloatCast* d, std::uintptr_t value) {
    if (current == nullptr) return;
    const InRuntime guard;
    const unsigned bits = 1u << (d->to->info >> 1);
    UndefinedBehaviour fact = undefined(Undefined::conversion, d->where, d->to->name);
    fact.real = number_of(*d->from, value);
    fact.left = value_of(*d->to, beyond_range(fact.real, bits, (d->to->info & 1) != 0,
                                              bits == 64 || d->from->info == 64));
    remark(fact.place, fact);
}
[[noreturn]] void __ubsan_handle_divrem_overflow_abort(Overflow* d, std::uintptr_t a,
                                                       std::uintptr_t b) {
    const InRuntime guard;
    fail(undefined(Undefined::division, d->where, d->type->name, value_of(*d->type, a),
                   value_of(*d->type, b)));
}
[[noreturn]] void __ubsan_handle_divrem_overflow(Overflow* d, std::uintptr_t a, std::uintptr_t b) {
    __ubsan_handle_divrem_overflow_abort(d, a, b);
}
[[noreturn]] void __ubsan_handle_shift_out_of_bounds_abort(Shift* d, std::uintptr_t a,
                                                           std::uintptr_t b) {
    const InRuntime guard;
    fail(undefined(Undefined::shift, d->where, d->left->name, value_of(*d->left, a),
                   value_of(*d->right, b)));
}

[[noreturn]] void __ubsan_handle_out_of_bounds_abort(Bounds* d, std::uintptr_t index) {
    const InRuntime guard;
    UndefinedBehaviour fact =
        undefined(Undefined::index, d->where, d->array->name, value_of(*d->index, index));
    fact.column = d->where.column;
    fail(fact);
}

[[noreturn]] void __ubsan_handle_type_mismatch_v1_abort(Mismatch* d, std::uintptr_t address) {
    const InRuntime guard;
    UndefinedBehaviour fact = undefined(Undefined::too_small, d->where, d->type->name);
    fact.place.code = __builtin_return_address(0);
    fact.address = address;
    fact.alignment = std::size_t{1} << d->log_alignment;
    if (address % fact.alignment != 0) fact.what = Undefined::misaligned;
    fail(fact);
}

[[noreturn]] void __ubsan_handle_load_invalid_value_abort(Overflow* d, std::uintptr_t value) {
    const InRuntime guard;
    fail(undefined(Undefined::invalid_value, d->where, d->type->name,
                   {static_cast<std::int64_t>(value), false}));
}
[[noreturn]] void __ubsan_handle_builtin_unreachable(Source* where) {
    const InRuntime guard;
    fail(undefined(Undefined::unreachable, *where));
}
[[noreturn]] void __ubsan_handle_missing_return(Source* where) {
    const InRuntime guard;
    fail(undefined(Undefined::no_return, *where));
}
[[noreturn]] void __ubsan_handle_vla_bound_not_positive_abort(Overflow* d, std::uintptr_t bound) {
    const InRuntime guard;
    fail(undefined(Undefined::array_length, d->where, "", value_of(*d->type, bound)));
}
[[noreturn]] void __ubsan_handle_nonnull_arg_abort(Source* where) {
    const InRuntime guard;
    fail(undefined(Undefined::null_argument, *where));
}
[[noreturn]] void __ubsan_handle_nonnull_return_v1_abort(void*, Source* where) {
    const InRuntime guard;
    fail(undefined(Undefined::null_result, *where));
}
[[noreturn]] void __ubsan_handle_invalid_builtin_abort(Source* where) {
    const InRuntime guard;
    fail(undefined(Undefined::count_of_zero, *where));
}

// assert() in a kernel; in host code the usual behaviour.
void __assert_fail(const char* expression, const char* file, unsigned line, const char* function) {
    const InRuntime guard;
    if (current == nullptr) {
        std::fprintf(stderr, "%s:%u: %s: Assertion `%s' failed.\n", file, line, function,
                     expression);
        std::abort();
    }
    fail(Assertion{expression, Place(file, line)});
}

}  // extern "C"

namespace sixdays::emulator {

void note_shift(long long value, long long by) {
    const InRuntime guard;
    const Place place(__builtin_return_address(0));
    remark(place, UndefinedBehaviour{Undefined::shift_by_all, place, "", {value}, {by}});
}

void trap(Site site) {
    const InRuntime guard;
    if (current == nullptr) std::abort();
    fail(Assertion{nullptr, site});
}

}  // namespace sixdays::emulator
