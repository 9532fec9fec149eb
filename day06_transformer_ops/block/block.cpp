// What loop and port of a block refuse: all of it before anything is written.
#include "day06_transformer_ops/block/block.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class Out>
void check_parameter(const char* op, const char* name, const View<const float>& v,
                     const Shape& wanted, const View<Out>& out) {
    if (v.shape() != wanted) {
        refuse(std::string(op) + ": " + name + " has shape " + to_string(v.shape()) +
               ", but must have " + to_string(wanted));
    }
    if (v.data == nullptr) refuse(std::string(op) + ": " + name + " is a null pointer");
    if (overlap(v, out)) {
        refuse(std::string(op) + ": " + name + " overlaps what is written");
    }
}

}  // namespace

void check_block(const BlockParameters& p, const View<float>& x) {
    require_rank("block", "x", x, 3);
    require_injective("block", "x", x);
    require_memory("block", "x", x);
    const std::int64_t C = x.extent(2);
    if (p.heads < 1 || C % p.heads != 0) {
        refuse("block: " + std::to_string(p.heads) + " heads do not divide the " +
               std::to_string(C) + " numbers of a token equally");
    }
    if (p.up.rank() != 2)
        refuse("block: up has shape " + to_string(p.up.shape()) + ", but must have (C, F)");
    const std::int64_t F = p.up.extent(1);
    check_norm<float>(x, p.norm1, x);
    check_norm<float>(x, p.norm2, x);
    check_parameter("block", "qkv", p.qkv, {C, 3 * C}, x);
    check_parameter("block", "qkv_bias", p.qkv_bias, {3 * C}, x);
    check_parameter("block", "attention_output", p.attention_output, {C, C}, x);
    check_parameter("block", "attention_output_bias", p.attention_output_bias, {C}, x);
    check_parameter("block", "up", p.up, {C, F}, x);
    check_parameter("block", "up_bias", p.up_bias, {F}, x);
    check_parameter("block", "down", p.down, {F, C}, x);
    check_parameter("block", "down_bias", p.down_bias, {C}, x);
}

void check_logits(const View<const float>& x, const NormParameters& norm,
                  const View<const float>& tokens, const View<float>& out) {
    require_rank("logits", "x", x, 3);
    require_rank("logits", "tokens", tokens, 2);
    require_memory("logits", "x", x);
    require_output("logits", out);
    const Shape wanted = {x.extent(0), x.extent(1), tokens.extent(0)};
    if (out.shape() != wanted || tokens.extent(1) != x.extent(2)) {
        refuse("logits: x has shape " + to_string(x.shape()) + ", tokens " +
               to_string(tokens.shape()) + ", out " + to_string(out.shape()) +
               "; they must be (B, T, C), (V, C) and (B, T, V)");
    }
    require_memory("logits", "tokens", tokens);
    // One row of x stands for what the norm writes: it has its length.
    const View<const float> none(x.data, Shape{0, x.extent(2)});
    check_norm<float>(none, norm, View<float>(nullptr, none.shape()));
    if (overlap(x, out) || overlap(tokens, out) || overlap(norm.weight, out) ||
        overlap(norm.bias, out)) {
        refuse("logits: out overlaps an input");
    }
}

}  // namespace sixdays::day06_transformer_ops
