// What the loops over Q8_0 blocks refuse.
#include "day06_transformer_ops/gpt2/q8_0.hpp"

#include "common/tensor/arguments.hpp"

namespace sixdays::gpt2 {
namespace {

void require_blocks_match(const char* op, const View<const Q8Block>& in, const char* name,
                          std::int64_t extent) {
    // Divided and not multiplied: an absurd number of blocks must not overflow.
    if (extent % kQ8Block != 0 || extent / kQ8Block != in.extent(1)) {
        refuse(std::string(op) + ": " + name + " has " + std::to_string(extent) +
               " columns, but in has " + std::to_string(in.extent(1)) + " blocks of 32 a row");
    }
}

template <class A>
void require_apart(const char* op, const char* name, const View<A>& in, const View<float>& out) {
    if (overlap(in, out)) refuse(std::string(op) + ": " + name + " and out overlap");
}

}  // namespace

void check_dequantise_q8_0(const View<const Q8Block>& in, const View<float>& out) {
    const char* const op = "dequantise_q8_0";
    require_rank(op, "in", in, 2);
    require_rank(op, "out", out, 2);
    require_blocks_match(op, in, "out", out.extent(1));
    if (out.extent(0) != in.extent(0)) {
        refuse(std::string(op) + ": out has " + std::to_string(out.extent(0)) +
               " rows, but in has " + std::to_string(in.extent(0)));
    }
    require_memory(op, "in", in);
    require_output(op, out);
    require_apart(op, "in", in, out);
}

void check_matvec_q8_0(const View<const Q8Block>& in, const View<const float>& x,
                       const View<float>& out) {
    const char* const op = "matvec_q8_0";
    require_rank(op, "in", in, 2);
    require_rank(op, "x", x, 1);
    require_rank(op, "out", out, 1);
    require_blocks_match(op, in, "x", x.extent(0));
    if (out.extent(0) != in.extent(0)) {
        refuse(std::string(op) + ": out has " + std::to_string(out.extent(0)) +
               " elements, but in has " + std::to_string(in.extent(0)) + " rows");
    }
    require_memory(op, "in", in);
    require_memory(op, "x", x);
    require_output(op, out);
    require_apart(op, "x", x, out);
    require_apart(op, "in", in, out);
}

}  // namespace sixdays::gpt2
