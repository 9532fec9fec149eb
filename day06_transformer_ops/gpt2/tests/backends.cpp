#include "day06_transformer_ops/gpt2/tests/backends.hpp"

#include <algorithm>
#include <cmath>

#include "common/tensor/index.hpp"
#include "common/testing/testing.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::gpt2::tests {

using testing::seeded;

std::unique_ptr<Backend> make(const std::string& name, const ModelWeights& model,
                              std::int64_t capacity) {
    if (name == "plain") return make_plain_backend(model, capacity);
    if (name == "cuda") return make_cuda_backend(model, capacity);
    const int threads = name == "cpu" ? 2 : std::stoi(name.substr(4));
    return make_cpu_backend(model, capacity, threads);
}

RandomModel random_model(const Config& config, std::uint64_t seed) {
    std::deque<Tensor<float>> matrices;  // which never moves them
    const std::int64_t C = config.channels;
    const auto vector = [&](std::int64_t n, double low, double high) {
        return seeded<float>({n}, seed++, low, high);
    };
    const auto matrix = [&](std::int64_t rows, std::int64_t columns, double size) {
        matrices.push_back(seeded<float>({rows, columns}, seed++, -size, size));
        const auto* data = reinterpret_cast<const std::byte*>(matrices.back().data());
        return Weight{WeightType::f32, data, {rows, columns}};
    };
    const auto linear = [&](std::int64_t outputs, std::int64_t inputs) {
        const Weight weight = matrix(outputs, inputs, 3 / std::sqrt(static_cast<double>(inputs)));
        return LinearWeights{weight, vector(outputs, -0.5, 0.5)};
    };
    const auto norm = [&] { return NormWeights{vector(C, 0.5, 1.5), vector(C, -0.5, 0.5)}; };
    const Weight tokens = matrix(config.vocabulary, C, 0.5);
    const Weight positions = matrix(config.context, C, 0.5);
    std::vector<BlockWeights> blocks;
    for (std::int64_t layer = 0; layer < config.layers; ++layer) {
        NormWeights first = norm(), second = norm();
        LinearWeights qkv = linear(3 * C, C), output = linear(C, C);
        LinearWeights up = linear(config.hidden, C), down = linear(C, config.hidden);
        blocks.push_back({std::move(first), std::move(qkv), std::move(output), std::move(second),
                          std::move(up), std::move(down)});
    }
    return {{config, tokens, positions, std::move(blocks), norm(), tokens}, std::move(matrices)};
}

Tensor<std::int64_t> random_ids(const Config& config, std::int64_t count, std::uint64_t seed) {
    return testing::seeded_integers<std::int64_t>({count}, seed, 0, config.vocabulary - 1);
}

Tensor<float> logits_of(Engine& engine, View<const std::int64_t> ids) {
    std::vector<float> all;
    std::int64_t next = 0;
    engine.score(ids, [&](std::int64_t first, View<const float> logits) {
        CHECK(first == next);
        next += logits.extent(0);
        all.insert(all.end(), logits.data, logits.data + logits.size());
    });
    const std::int64_t T = ids.size();
    REQUIRE(next == T);
    const auto V = static_cast<std::int64_t>(all.size()) / T;
    return Tensor<float>({T, V}, std::move(all));
}

double largest(View<const float> x) {
    double most = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        most = std::max(most, std::abs(double{x(unravel(i, x.layout.shape))}));
    }
    return most;
}

}  // namespace sixdays::gpt2::tests
