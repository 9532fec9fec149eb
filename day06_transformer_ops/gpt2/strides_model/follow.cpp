#include "day06_transformer_ops/gpt2/strides_model/follow.hpp"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "common/tensor/transform.hpp"

namespace sixdays::gpt2 {
namespace {

constexpr std::int64_t kShown = 4;  // elements per row, and logits

long long number(std::int64_t x) {
    return static_cast<long long>(x);
}

void print_row(View<const float> row) {
    for (std::int64_t c = 0; c < kShown; ++c) std::printf(" %8.4f", static_cast<double>(row(c)));
    std::printf(" ...\n");
}

// A row of a matrix in the file: its position and its first elements.
void print_row_of_file(const char* name, const Weight& matrix, std::int64_t row,
                       std::span<const std::byte> bytes) {
    const Weight one = rows(matrix, row, row + 1);
    const std::int64_t size = bytes_of(one.type, one.shape);
    Tensor<float> floats(one.shape);
    to_float_cpu(one, floats.view());
    std::printf("  row %lld of %s (%lld, %lld), %lld bytes of %s, begins at byte %lld:\n      ",
                number(row), name, number(matrix.shape[0]), number(matrix.shape[1]), number(size),
                storage_of(one.type).name, number(one.data - bytes.data()));
    print_row(select(floats.view(), 0, 0));
}

}  // namespace

void follow_last_token(const Gguf& file, std::span<const std::byte> bytes,
                       const Question& question) {
    const Vocabulary vocabulary(file);
    const ModelWeights model = read_model(file);
    const Config& config = model.config;
    const auto backend = make_cpu_backend(model, config.context, 1);
    Engine engine(config, *backend, config.context);
    SamplerOptions likeliest;
    likeliest.temperature = 0;
    backend->set_sampler(likeliest);

    std::printf("the text as tokens, with their ids\n  ");
    const std::vector<std::int64_t> tokens = tokens_of(vocabulary, question);
    for (const std::int64_t id : tokens) {
        std::printf(" '%s' %lld", vocabulary.bytes(id).c_str(), number(id));
    }
    const auto T = static_cast<std::int64_t>(tokens.size());
    std::printf("\nwe follow the last token, at position %lld. In the file:\n", number(T - 1));
    print_row_of_file("token_embd", model.token_embedding, tokens.back(), bytes);
    print_row_of_file("position_embd", model.position_embedding, T - 1, bytes);

    std::printf("x, its row of the residual stream\n");
    Tensor<float> stream({T, config.channels});
    engine.watch([&](std::int64_t blocks) {
        backend->read_stream(stream.view());
        if (blocks == 0) std::printf("  their sum    ");
        if (blocks > 0) std::printf("  after block %lld", number(blocks - 1));
        print_row(select(stream.view(), 0, T - 1));
    });
    engine.read({tokens.data(), {T}});

    const Shape cache = {config.layers, config.heads, config.context, config.head_dim()};
    const Layout keys = row_major(cache);
    std::printf("its keys in the KV cache (%lld, %lld, %lld, %lld), block 0\n ", number(cache[0]),
                number(cache[1]), number(cache[2]), number(cache[3]));
    for (std::int64_t head = 0; head < config.heads; ++head) {
        std::printf(" head %lld: offset %lld%s", number(head),
                    number(offset(keys, {0, head, T - 1, 0})),
                    head + 1 < config.heads ? ";" : "\n");
    }

    Tensor<float> logits({1, config.vocabulary});
    backend->read_logits(logits.view());
    std::vector<std::int64_t> best(static_cast<std::size_t>(config.vocabulary));
    std::iota(best.begin(), best.end(), std::int64_t{0});
    std::partial_sort(best.begin(), best.begin() + kShown, best.end(),
                      [&](std::int64_t a, std::int64_t b) { return logits(0, a) > logits(0, b); });
    std::printf("the largest of %lld logits\n ", number(config.vocabulary));
    for (std::int64_t i = 0; i < kShown; ++i) {
        const std::int64_t id = best[static_cast<std::size_t>(i)];
        std::printf(" '%s' %.2f", vocabulary.bytes(id).c_str(), static_cast<double>(logits(0, id)));
    }
    std::printf("\nchosen at temperature 0: '%s', id %lld\n",
                vocabulary.bytes(engine.chosen()).c_str(), number(engine.chosen()));
}

}  // namespace sixdays::gpt2
