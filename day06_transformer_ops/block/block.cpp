// The argument checks of a block, all of them before anything is written.
#include "day06_transformer_ops/block/block.hpp"

#include "common/tensor/names.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

template <class Out>
void check_parameter(const char* op, const char* name, const View<const float>& v,
                     const Shape& wanted, const char* written, const View<Out>& out) {
    if (v.shape() != wanted) {
        reject(op, ": ", name, " has shape ", v.shape(), ", but must have ", wanted);
    }
    if (v.data == nullptr) reject(op, ": ", name, " is a null pointer");
    require_apart(op, name, v, written, out);
}

// A norm of the block: weight and bias may be absent.
void check_norm_inside(const std::string& op, const std::string& norm,
                       const NormParameters& parameters, std::int64_t C, const char* written,
                       const View<float>& out) {
    check_norm_parameters((op + ": " + norm).c_str(), parameters, C);
    const auto apart = [&](const std::string& name, const View<const float>& v) {
        if (v.data != nullptr) require_apart(op, name.c_str(), v, written, out);
    };
    apart(norm + ": weight", parameters.weight);
    apart(norm + ": bias", parameters.bias);
}

}  // namespace

void check_block(const BlockParameters& p, const View<float>& x) {
    require_rank("block", "x", x, 3);
    require_output("block", x, "x");
    require_known("block", "activation", p.activation);
    const std::int64_t C = x.extent(2);
    if (p.heads < 1 || C % p.heads != 0) {
        reject("block: ", p.heads, " heads do not divide the ", C, " numbers of a token equally");
    }
    if (p.up.rank() != 2) reject("block: up has shape ", p.up.shape(), ", but must have (C, F)");
    const std::int64_t F = p.up.extent(1);
    check_norm_inside("block", "norm1", p.norm1, C, "x", x);
    check_norm_inside("block", "norm2", p.norm2, C, "x", x);
    check_parameter("block", "qkv", p.qkv, {C, 3 * C}, "x", x);
    check_parameter("block", "qkv_bias", p.qkv_bias, {3 * C}, "x", x);
    check_parameter("block", "attention_output", p.attention_output, {C, C}, "x", x);
    check_parameter("block", "attention_output_bias", p.attention_output_bias, {C}, "x", x);
    check_parameter("block", "up", p.up, {C, F}, "x", x);
    check_parameter("block", "up_bias", p.up_bias, {F}, "x", x);
    check_parameter("block", "down", p.down, {F, C}, "x", x);
    check_parameter("block", "down_bias", p.down_bias, {C}, "x", x);
}

void check_logits(const View<const float>& x, const NormParameters& norm,
                  const View<const float>& tokens, const View<float>& out) {
    require_rank("logits", "x", x, 3);
    require_rank("logits", "tokens", tokens, 2);
    require_memory("logits", "x", x);
    require_output("logits", out);
    const Shape wanted = {x.extent(0), x.extent(1), tokens.extent(0)};
    if (out.shape() != wanted || tokens.extent(1) != x.extent(2)) {
        reject("logits: x has shape ", x.shape(), ", tokens ", tokens.shape(), ", out ",
               out.shape(), "; they must be (B, T, C), (V, C) and (B, T, V)");
    }
    require_memory("logits", "tokens", tokens);
    check_norm_inside("logits", "norm", norm, x.extent(2), "out", out);
    require_apart("logits", "x", x, "out", out);
    require_apart("logits", "tokens", tokens, "out", out);
}

}  // namespace sixdays::day06_transformer_ops
