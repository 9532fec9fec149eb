#include "day06_transformer_ops/gpt2/tests/backends.hpp"

#include <algorithm>
#include <cmath>

#include "common/tensor/index.hpp"
#include "common/testing/testing.hpp"
#include "day03_views/copy.hpp"

namespace sixdays::gpt2::tests {

std::unique_ptr<Backend> make(const std::string& name, const ModelWeights& model,
                              std::int64_t capacity) {
    if (name == "plain") return make_plain_backend(model, capacity);
    if (name == "cuda") return make_cuda_backend(model, capacity);
    const int threads = name == "cpu" ? 2 : std::stoi(name.substr(4));
    return make_cpu_backend(model, capacity, threads);
}

Tensor<std::int64_t> random_ids(const Sizes& sizes, std::int64_t count, std::uint64_t seed) {
    return testing::seeded_integers<std::int64_t>({count}, seed, 0, sizes.vocabulary - 1);
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

double rounding(const Sizes& c) {
    const std::int64_t layer = 3 * c.channels + c.hidden + c.context;  // attention's sums included
    const auto sums = static_cast<double>(c.layers * layer + c.channels);
    return 6 * 0x1p-24 * std::sqrt(2 * sums / 6);
}

double largest(View<const float> x) {
    double most = 0;
    for (std::int64_t i = 0; i < x.size(); ++i) {
        most = std::max(most, std::abs(double{x(unravel(i, x.layout.shape))}));
    }
    return most;
}

void check_tokens(const Sizes& sizes, Backend& plain, Backend& cuda, std::int64_t prompt,
                  std::int64_t more, double rounding) {
    const std::int64_t V = sizes.vocabulary, capacity = sizes.context;
    Engine expected(sizes, plain, capacity), got(sizes, cuda, capacity);
    for (Engine* engine : {&expected, &got}) {
        engine->backend().set_sampler({.temperature = 0});
        engine->read(random_ids(sizes, prompt, 5).view());
    }
    for (std::int64_t i = 0; i <= more; ++i) {
        INFO("token " << expected.length());
        Tensor<float> want({1, V}), logits({1, V});
        plain.read_logits(want.view());
        cuda.read_logits(logits.view());
        CHECK(testing::close(logits.view(), want.view(), rounding * largest(want.view())));
        REQUIRE(got.chosen() == expected.chosen());
        if (i == more) break;
        expected.next();
        got.next();
    }
}

}  // namespace sixdays::gpt2::tests
