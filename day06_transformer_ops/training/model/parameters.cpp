#include "day06_transformer_ops/training/model/parameters.hpp"

#include <cmath>

#include "day06_transformer_ops/gpt2/backend/philox.hpp"

namespace sixdays::day06_transformer_ops {
namespace {

std::string name_of(std::int64_t layer, const char* part) {
    return "blk." + std::to_string(layer) + "." + part;
}

void check_config(const gpt2::Config& c) {
    const auto least = [](const char* what, std::int64_t n) {
        if (n < 1) reject("a model of ", n, " ", what, "; 1 is the least");
    };
    least("layers", c.layers);
    least("positions", c.context);
    least("channels", c.channels);
    least("heads", c.heads);
    least("hidden channels", c.hidden);
    least("tokens", c.vocabulary);
    if (c.channels % c.heads != 0) {
        reject(c.heads, " heads do not divide ", c.channels, " channels equally");
    }
}

}  // namespace

double training_bytes(const gpt2::Config& config, std::int64_t batch) {
    const auto d = [](std::int64_t n) { return static_cast<double>(n); };
    const double C = d(config.channels), F = d(config.hidden), V = d(config.vocabulary),
                 L = d(config.layers), T = d(config.context);
    const double parameters = (V + T) * C + L * (4 * C * C + 2 * C * F);
    // Per token: x, middle and hidden as floats; norms, q, k, v, mixed in 16 or 32 bits.
    const double of_token = L * (4 * (2 * C + F) + 2 * 6 * C) + 4 * V;
    return 4 * 4 * parameters + d(batch) * T * of_token;
}

void Parameters::put(const std::string& name, const Shape& shape) {
    by_name_[name] = all_.size();
    all_.push_back({name, shape, size_});
    size_ += sixdays::size(shape);
}

Parameters::Parameters(const gpt2::Config& config) : config_(config) {
    check_config(config);
    const std::int64_t C = config.channels, F = config.hidden;
    put("token_embd.weight", {config.vocabulary, C});
    put("position_embd.weight", {config.context, C});
    for (std::int64_t l = 0; l < config.layers; ++l) {
        put(name_of(l, "attn_qkv.weight"), {3 * C, C});
        put(name_of(l, "attn_output.weight"), {C, C});
        put(name_of(l, "ffn_up.weight"), {F, C});
        put(name_of(l, "ffn_down.weight"), {C, F});
    }
    decayed_ = size_;
    const auto norm = [&](const std::string& name) {
        put(name + ".weight", {C});
        put(name + ".bias", {C});
    };
    for (std::int64_t l = 0; l < config.layers; ++l) {
        norm(name_of(l, "attn_norm"));
        put(name_of(l, "attn_qkv.bias"), {3 * C});
        put(name_of(l, "attn_output.bias"), {C});
        norm(name_of(l, "ffn_norm"));
        put(name_of(l, "ffn_up.bias"), {F});
        put(name_of(l, "ffn_down.bias"), {C});
    }
    norm("output_norm");
}

NormParameters Parameters::norm(const float* run, const std::string& name) const {
    return {view(run, name + ".weight"), view(run, name + ".bias"), config_.epsilon};
}
NormGradients Parameters::norm(float* run, const std::string& name) const {
    return {view(run, name + ".weight"), view(run, name + ".bias")};
}

BlockParameters Parameters::block(const float* run, std::int64_t layer) const {
    const auto of = [&](const char* part) { return view(run, name_of(layer, part)); };
    BlockParameters p;
    p.norm1 = norm(run, name_of(layer, "attn_norm"));
    p.qkv = transpose(of("attn_qkv.weight")), p.qkv_bias = of("attn_qkv.bias");
    p.attention_output = transpose(of("attn_output.weight"));
    p.attention_output_bias = of("attn_output.bias");
    p.norm2 = norm(run, name_of(layer, "ffn_norm"));
    p.up = transpose(of("ffn_up.weight")), p.up_bias = of("ffn_up.bias");
    p.down = transpose(of("ffn_down.weight")), p.down_bias = of("ffn_down.bias");
    p.heads = config_.heads;
    return p;
}

BlockGradients Parameters::block(float* run, std::int64_t layer) const {
    const auto linear = [&](const char* part) {
        const std::string name = name_of(layer, part);
        return LinearGradients{transpose(view(run, name + ".weight")), view(run, name + ".bias")};
    };
    return {norm(run, name_of(layer, "attn_norm")), linear("attn_qkv"), linear("attn_output"),
            norm(run, name_of(layer, "ffn_norm")),  linear("ffn_up"),   linear("ffn_down")};
}

std::vector<float> Parameters::begin(std::uint64_t seed) const {
    std::vector<float> run(static_cast<std::size_t>(size_));
    const double into_stream = 0.02 / std::sqrt(2.0 * static_cast<double>(config_.layers));
    for (const Parameter& p : all_) {
        const bool matrix = p.shape.rank == 2;
        const bool adds =
            p.name.find("attn_output") != p.name.npos || p.name.find("ffn_down") != p.name.npos;
        const bool one = p.name.find("norm.weight") != p.name.npos;
        for (std::int64_t i = p.first; i < p.first + sixdays::size(p.shape); ++i) {
            const auto draw = static_cast<std::uint64_t>(i);
            // Box-Muller: a normal sample from two uniform ones.
            const double a = 1 - gpt2::uniform(seed, 2 * draw);
            const double b = gpt2::uniform(seed, 2 * draw + 1);
            const double normal = std::sqrt(-2 * std::log(a)) * std::cos(2 * M_PI * b);
            const double x = matrix ? (adds ? into_stream : 0.02) * normal : one ? 1 : 0;
            run[static_cast<std::size_t>(i)] = static_cast<float>(x);
        }
    }
    return run;
}

}  // namespace sixdays::day06_transformer_ops
