// Generating text, perplexity, and finding the layer that differs.
#include "day06_transformer_ops/gpt2/generate.hpp"

#include <cmath>
#include <limits>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/backends.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

const Opened& tiny() {
    static const Opened model{MappedFile(file_of_tests("tiny.gguf"))};
    return model;
}

struct Said {
    Generated made;
    std::vector<std::string> pieces;
    std::vector<std::int64_t> read;
};
Said told(const std::vector<std::int64_t>& script, const std::vector<std::int64_t>& prompt,
          std::int64_t n, int stop_after = 1000, std::int64_t capacity = 24) {
    Script backend(script);
    Engine engine(tiny().weights.config, backend, capacity);
    Said told;
    told.made = generate(
        engine, tiny().vocabulary, prompt, n,
        [&](std::string_view text) { told.pieces.emplace_back(text); },
        [&] { return stop_after-- == 0; });
    told.read = backend.read;
    return told;
}

}  // namespace

TEST_CASE("a text grows token by token, and its last token is not processed", "[day06][small]") {
    const Said t = told({64, 65, 66}, {1, 2}, 3);  // tokens 64, 65, 66: "a", "b", "c"
    CHECK(t.pieces == std::vector<std::string>{"a", "b", "c", ""});
    CHECK(t.read == std::vector<std::int64_t>{1, 2, 64, 65});
    CHECK(t.made.prompt == 2);
    CHECK(t.made.tokens == 3);
    CHECK_FALSE(t.made.ended);
}

TEST_CASE("the end-of-text token ends a text and is not printed", "[day06][small]") {
    const Said t = told({64, 299, 66}, {1}, 3);
    CHECK(t.pieces == std::vector<std::string>{"a", ""});
    CHECK(t.made.ended);
    CHECK(t.made.tokens == 1);
    CHECK(told({299}, {1}, 3).made.tokens == 0);
}

TEST_CASE("a text without a prompt begins after an end of text", "[day06][small]") {
    const Said t = told({64}, {}, 1);
    CHECK(t.read == std::vector<std::int64_t>{299});
    CHECK(t.made.prompt == 1);
}

TEST_CASE("stop() ends a text before the next token", "[day06][small]") {
    CHECK(told({64, 65, 66}, {1}, 3, 2).pieces == std::vector<std::string>{"a", "b", ""});
    CHECK(told({64, 65, 66}, {1}, 3, 0).pieces == std::vector<std::string>{""});
}

TEST_CASE("a character of two tokens is printed at once, and half of one at the end",
          "[day06][small]") {
    const auto byte = [](int b) {
        return tiny().vocabulary.token_of_byte(static_cast<std::uint8_t>(b));
    };
    const Said whole = told({byte(0xC3), byte(0xA9), byte(0xC3)}, {1}, 3);
    CHECK(whole.pieces == std::vector<std::string>{"", "\xC3\xA9", "", "\xC3"});
}

TEST_CASE("a text that would not fit is rejected before anything is processed", "[day06][small]") {
    const auto rejected = [](std::int64_t prompt, std::int64_t n) {
        return rejection([&] {
            (void)told({64, 64, 64, 64, 64, 64}, std::vector<std::int64_t>(prompt, 1), n, 1000, 8);
        });
    };
    CHECK(rejected(4, 5).empty());  // the fifth is not processed
    CHECK(rejected(4, 6) == "a prompt of 4 tokens and 6 more do not fit: the context ends at 8");
    CHECK(contains(rejected(9, 1), "a prompt of 9 tokens"));
    CHECK(rejected(8, 1).empty());
    CHECK(rejected(1, 0) == "0 tokens to generate; the minimum is 1");
    CHECK(most_tokens(8, {1, 2, 3, 4}) == 5);
    CHECK(most_tokens(8, {}) == 8);
}

TEST_CASE("times of the parts are measured on request, waiting for each part", "[day06][small]") {
    const bool measure = GENERATE(false, true);
    Script backend({64, 65, 66, 67});
    Engine engine(tiny().weights.config, backend, 24);
    const Generated made = generate(
        engine, tiny().vocabulary, {1, 2, 3}, 4, [](std::string_view) {}, [] { return false; },
        measure);
    // A pass of 2 layers: the embedding, five parts per layer, head and sampler. Four passes.
    CHECK(backend.waits == (measure ? 4 * (1 + 2 * 5 + 2) : 0));
    double parts = 0, prompt_parts = 0;
    for (std::size_t i = 0; i < kParts; ++i) {
        if (!measure) CHECK(made.parts[i] + made.prompt_parts[i] == 0);
        parts += made.parts[i];
        prompt_parts += made.prompt_parts[i];
    }
    CHECK(parts <= made.seconds);  // the parts are included
    CHECK(prompt_parts <= made.prompt_seconds);
    if (measure) {  // each call of a part is counted, and waits at least a millisecond
        CHECK(prompt_parts >= 0.001 * (1 + 2 * 5 + 2));
        CHECK(parts >= 0.001 * 3 * (1 + 2 * 5 + 2));
    }
}

TEST_CASE("perplexity is exp of the mean surprisal, window by window", "[day06][small]") {
    const auto backend = make("cpu", tiny().weights, 24);
    Engine engine(tiny().weights.config, *backend, 24);
    const auto ids = random_ids(tiny().weights.config, 53, 3);  // windows of 24, 24 and 5
    const std::vector<std::int64_t> text(ids.data(), ids.data() + 53);
    double surprise = 0;
    for (std::int64_t begin = 0; begin < 53; begin += 24) {
        const std::int64_t end = std::min<std::int64_t>(53, begin + 24);
        engine.forget();
        const auto window = slice(View<const std::int64_t>(ids.view()), 0, begin, end);
        const Tensor<float> logits = logits_of(engine, window);
        for (std::int64_t t = 0; begin + t + 1 < end; ++t) {
            double sum = 0;
            for (std::int64_t v = 0; v < 300; ++v) sum += std::exp(double{logits(t, v)});
            surprise -= std::log(std::exp(double{logits(t, ids(begin + t + 1))}) / sum);
        }
    }
    const Perplexity found = perplexity(engine, text);
    CHECK(found.tokens == 50);
    CHECK(std::abs(found.value / std::exp(surprise / 50) - 1) < 1e-9);
    CHECK(perplexity(engine, {text.begin(), text.begin() + 49}).tokens == 46);  // last window: 1
    CHECK(contains(rejection([&] { (void)perplexity(engine, {7}); }), "2 are the least"));
}

TEST_CASE("perplexity: each window has the token that begins a text before it", "[day06][small]") {
    const auto backend = make("cpu", tiny().weights, 24);
    Engine engine(tiny().weights.config, *backend, 24);
    const auto ids = random_ids(tiny().weights.config, 47, 3);
    const std::vector<std::int64_t> text(ids.data(), ids.data() + 47);
    std::vector<std::int64_t> windows = text;  // of 24, 24 and 2
    for (const std::ptrdiff_t at : {46, 23, 0}) windows.insert(windows.begin() + at, 7);
    const Perplexity want = perplexity(engine, windows), found = perplexity(engine, text, 7);
    CHECK(found.tokens == 47);
    CHECK(found.value == want.value);
    CHECK(perplexity(engine, {9}, 7).tokens == 1);
    CHECK(contains(rejection([&] { (void)perplexity(engine, {}, 7); }), "2 are the least"));
    const auto small = make("cpu", tiny().weights, 1);
    Engine one(tiny().weights.config, *small, 1);
    CHECK(contains(rejection([&] { (void)perplexity(one, text, 7); }), "in windows of 1"));
}

TEST_CASE("perplexity: a NaN logit is reported with its position", "[day06][small]") {
    const Config config = {1, 8, 32, 2, 64, 40, 1e-5f};
    const RandomModel model(config, WeightType::f32);
    ModelWeights broken = model.weights();
    Tensor<float> positions({8, 32});  // token 5 is NaN, and so are all tokens that see it
    for (std::int64_t c = 0; c < 32; ++c) positions(5, c) = std::numeric_limits<float>::quiet_NaN();
    broken.position_embedding = {
        WeightType::f32, reinterpret_cast<const std::byte*>(positions.data()), {8, 32}};
    const auto backend = make("cpu", broken, 8);
    Engine engine(config, *backend, 8);
    CHECK(perplexity(engine, {1, 2, 3, 4, 5, 6}).tokens == 5);  // its logits predict nothing here
    CHECK(rejection([&] {
              (void)perplexity(engine, {1, 2, 3, 4, 5, 6, 7});
          }) == "perplexity: a logit after token 5 is NaN or infinite");
    CHECK(contains(rejection([&] { (void)perplexity(engine, std::vector<std::int64_t>(15, 3)); }),
                   "after token 5"));
}

TEST_CASE("two backends that differ by a bias differ from that layer on", "[day06][small]") {
    constexpr Config config{3, 16, 24, 3, 40, 37, 1e-5f};
    const RandomModel right(config, WeightType::f32, 5);
    ModelWeights wrong = right.weights();
    const auto a = make("cpu", wrong, 16), b = make("plain", right.weights(), 16);
    Engine got(config, *a, 16), expected(config, *b, 16);
    const std::vector<std::int64_t> ids = {3, 1, 4, 1, 5, 9};
    auto layers = compare(config, got, expected, ids);
    REQUIRE(layers.size() == 10);  // the prompt at once, then token by token
    CHECK(layers[0].layer == "embedding");
    CHECK(layers[3].layer == "block 2");
    CHECK(layers[4].layer == "logits");
    CHECK(layers[9].layer == "logits, one token");
    for (std::size_t i = 0; i < 10; ++i) {
        CAPTURE(layers[i].layer);
        CHECK_FALSE(layers[i].beyond());
        CHECK(layers[i].largest > 0.1);
        CHECK((layers[i].difference > 0) == (i % 5 > 0));
    }
    wrong.blocks[1].down.bias(7) += 0.01f;
    layers = compare(config, got, expected, ids);
    for (std::size_t i = 0; i < 10; ++i) CHECK(layers[i].beyond() == (i % 5 >= 2));
    CHECK(std::abs(layers[2].difference - 0.01) < 1e-4);
    wrong.blocks[0].down.bias(7) = std::numeric_limits<float>::quiet_NaN();
    layers = compare(config, got, expected, ids);
    REQUIRE(layers.size() == 5);  // nothing can be chosen from such logits
    CHECK(std::isnan(layers[1].difference));
    for (std::size_t i = 0; i < 5; ++i) CHECK(layers[i].beyond() == (i >= 1));
    wrong.blocks[0].down.bias(7) = right.weights().blocks[0].down.bias(7);
    for (const std::size_t length :
         {1, 15, 16}) {  // a prompt that fills the context leaves no room
        const std::vector<std::int64_t> prompt(length, 3);
        CHECK(compare(config, got, expected, prompt).size() == (length < 16 ? 10 : 5));
    }
}
