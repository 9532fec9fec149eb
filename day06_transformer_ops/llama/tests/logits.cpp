// The backends: logits compared with those of Hugging Face transformers (reference.py), with
// changed models, which the bound must reject, and with each other.
#include <cmath>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/generate.hpp"
#include "day06_transformer_ops/gpt2/tests/backends.hpp"
#include "day06_transformer_ops/llama/llama_backend.hpp"
#include "day06_transformer_ops/llama/rotate.hpp"
#include "day06_transformer_ops/llama/tests/rounding.hpp"
#include "day06_transformer_ops/llama/tests/small_llama.hpp"

using namespace sixdays;
using namespace sixdays::llama;
using namespace sixdays::llama::tests;
using namespace sixdays::testing;
using day06_transformer_ops::Pairing;
using gpt2::Engine, gpt2::MappedFile;
using gpt2::tests::largest, gpt2::tests::logits_of, gpt2::tests::random_ids;

namespace {

// A model of reference.py, with what transformers computes.
struct Golden {
    explicit Golden(std::string of) : name(std::move(of)) {}
    std::string name;
    MappedFile mapped{file_of_tests(name + ".gguf")};
    Gguf file{mapped.bytes(), name};
    ModelWeights model = read_llama(file);
    MappedFile expected_mapped{file_of_tests("expected.gguf")};
    Gguf expected{expected_mapped.bytes(), "expected.gguf"};

    std::vector<std::int64_t> ids = expected.integers(name + ".tokens", 0, 299);
    View<const std::int64_t> tokens() const {
        return {ids.data(), Shape{static_cast<std::int64_t>(ids.size())}};
    }
    View<const float> logits() const { return expected.tensor(name + ".logits").weight.as_f32(); }
};

std::unique_ptr<gpt2::Backend> make(const std::string& backend, const ModelWeights& model,
                                    std::int64_t capacity) {
    if (backend == "plain") return make_plain_backend(model, capacity);
    if (backend == "cuda") return make_cuda_backend(model, capacity);
    return make_cpu_backend(model, capacity, std::stoi(backend.substr(4)));
}

Tensor<float> logits_of_model(const std::string& backend, const ModelWeights& model,
                              View<const std::int64_t> ids) {
    const auto made = make(backend, model, model.config.context);
    Engine engine(model.config, *made, model.config.context);
    return logits_of(engine, ids);
}

Comparison matches(const Golden& golden, const ModelWeights& model, const std::string& backend) {
    const Tensor<float> got = logits_of_model(backend, model, golden.tokens());
    return close(got, golden.logits(), rounding(model.config) * largest(golden.logits()));
}

}  // namespace

TEST_CASE("logits match those of transformers, for each architecture and backend",
          "[day06][small]") {
    const std::string name = GENERATE("llama", "llama31", "linear", "qwen2", "qwen3");
    const std::string backend = GENERATE("plain", "cpu 1", "cpu 3", "cuda");
    CAPTURE(name, backend);
    const Golden golden(name);
    const auto made = make(backend, golden.model, 12);
    Engine engine(golden.model.config, *made, 12);
    const double bound = rounding(golden.model.config) * largest(golden.logits());
    CHECK(close(logits_of(engine, golden.tokens()), golden.logits(), bound));
    // The same text in parts, with the keys and values of earlier parts from the cache.
    for (const std::vector<std::int64_t>& cuts :
         {std::vector<std::int64_t>(12, 1), {1, 11}, {11, 1}, {5, 1, 6}}) {
        engine.forget();
        std::int64_t at = 0;
        for (const std::int64_t count : cuts) {
            const auto part = logits_of(engine, slice(golden.tokens(), 0, at, at + count));
            CHECK(close(part, slice(golden.logits(), 0, at, at + count), bound));
            at += count;
        }
        CHECK(engine.length() == 12);
    }
}

TEST_CASE("perplexity equals that of transformers' logits to six digits", "[day06][small]") {
    const std::string name = GENERATE("llama", "llama31", "linear", "qwen2", "qwen3");
    const Golden golden(name);
    double surprise = 0;  // of all tokens but the first
    const std::int64_t T = golden.logits().extent(0);
    for (std::int64_t t = 0; t + 1 < T; ++t) {
        const View<const float> row = select(golden.logits(), 0, t);
        double sum = 0;
        for (std::int64_t v = 0; v < row.size(); ++v) sum += std::exp(double{row(v)});
        surprise += std::log(sum) - double{row(golden.tokens()(t + 1))};
    }
    const auto backend = make("cpu 2", golden.model, T);
    Engine engine(golden.model.config, *backend, T);
    const gpt2::Perplexity found = gpt2::perplexity(engine, golden.ids);
    CAPTURE(name, found.value);
    CHECK(found.tokens == T - 1);
    CHECK(std::abs(found.value / std::exp(surprise / static_cast<double>(T - 1)) - 1) < 1e-6);
}

TEST_CASE("the bound rejects a model with one thing changed", "[day06][small]") {
    const auto differs = [](const std::string& name, const auto& change) {
        const Golden golden(name);
        ModelWeights other = read_llama(golden.file);
        change(other);
        for (const char* backend : {"plain", "cpu 2", "cuda"}) {
            CAPTURE(name, backend);
            CHECK(matches(golden, golden.model, backend));
            CHECK_FALSE(matches(golden, other, backend));
        }
    };
    SECTION("epsilon") {
        differs("llama", [](ModelWeights& m) { m.config.epsilon = 2e-5f; });
    }
    SECTION("halves instead of neighbours") {
        differs("llama", [](ModelWeights& m) { m.config.rope.pairing = Pairing::halves; });
    }
    SECTION("neighbours instead of halves") {
        differs("qwen3", [](ModelWeights& m) { m.config.rope.pairing = Pairing::neighbours; });
    }
    SECTION("no divisors of the frequencies") {
        differs("llama31", [](ModelWeights& m) {
            m.config.rope.frequencies = day06_transformer_ops::rotary_frequencies(16, 5000);
        });
    }
    SECTION("positions without their scale") {
        differs("linear", [](ModelWeights& m) {
            for (double& f : m.config.rope.frequencies) f *= 4;
        });
    }
    for (const char part : {'q', 'k', 'v'}) {
        // The first element: a key's bias that is hardly rotated changes no differences of scores.
        SECTION(std::string("one bias of ") + part) {
            differs("qwen2", [&](ModelWeights& m) {
                BlockWeights& b = m.blocks[0];
                (part == 'q' ? b.q : part == 'k' ? b.k : b.v).bias(0) += 0.01f;
            });
        }
    }
    SECTION("no norm of the queries' heads") {
        differs("qwen3", [](ModelWeights& m) { m.blocks[0].q_norm = Tensor<float>({0}); });
    }
    SECTION("no norm of the keys' heads") {
        differs("qwen3", [](ModelWeights& m) { m.blocks[0].k_norm = Tensor<float>({0}); });
    }
    SECTION("a tied head instead of its own") {
        differs("llama31", [](ModelWeights& m) { m.head = m.token_embedding; });
    }
    SECTION("gate and up exchanged") {
        differs("llama", [](ModelWeights& m) { std::swap(m.blocks[0].gate, m.blocks[0].up); });
    }
}

TEST_CASE("the fast backend matches the CPU references over the whole context", "[day06][small]") {
    const std::string name = GENERATE("llama", "qwen2", "qwen3");
    const std::string backend = GENERATE("cpu 1", "cpu 2", "cpu 5");
    CAPTURE(name, backend);
    const Golden golden(name);
    const Config& config = golden.model.config;
    const auto ids = random_ids(config, config.context, 8);
    const auto want = logits_of_model("plain", golden.model, ids.view());
    const auto got = logits_of_model(backend, golden.model, ids.view());
    CHECK(close(got, want.view(), rounding(config) * largest(want.view())));
}

TEST_CASE("only the first rope.dims() elements of a head are rotated", "[day06][small]") {
    const Pairing pairing = GENERATE(Pairing::neighbours, Pairing::halves);
    const Rope rope = {pairing, day06_transformer_ops::rotary_frequencies(4, 100)};
    REQUIRE(rope.dims() == 4);
    const auto table = day06_transformer_ops::rotary_table(9, rope.frequencies);
    const Tensor<std::int64_t> places({3}, {2, 8, 1});
    Tensor<float> heads = distinct<float>({1, 2, 3, 10}), want = heads;
    const auto part = slice(want.view(), 3, 0, 4);
    day06_transformer_ops::rotary_cpu(part, table.view(), places.view(), pairing, part);
    const Tensor<float> before = heads;
    rotate(rope, table.view(), places.view(), heads.view());
    CHECK(equal(heads, want));
    CHECK(equal(slice(heads.view(), 3, 4, 10), slice(before.view(), 3, 4, 10)));
    CHECK_FALSE(equal(slice(heads.view(), 3, 0, 4), slice(before.view(), 3, 0, 4)));
}

TEST_CASE("a model that rotates half of each head is one with frequencies of 0 for the other half",
          "[day06][small]") {
    const std::string backend = GENERATE("plain", "cpu 2");
    const Golden golden("llama");
    ModelWeights half = read_llama(golden.file), zeros = read_llama(golden.file);
    half.config.rope.frequencies.resize(2);
    zeros.config.rope.frequencies[2] = zeros.config.rope.frequencies[3] = 0;
    const auto want = logits_of_model(backend, zeros, golden.tokens());
    CHECK(equal(logits_of_model(backend, half, golden.tokens()), want));
    CHECK_FALSE(matches(golden, half, backend));
}

TEST_CASE("capacities that a model does not have are rejected", "[day06][small]") {
    const Golden golden("qwen3");
    for (const std::int64_t capacity : {0, -1, 65}) {
        const std::string sentence =
            "a text of " + std::to_string(capacity) + " tokens; this model takes 1 to 64";
        CHECK(rejection([&] { (void)make("plain", golden.model, capacity); }) == sentence);
        CHECK(rejection([&] { (void)make("cpu 2", golden.model, capacity); }) == sentence);
    }
    CHECK(make("cpu 2", golden.model, 64)->name() == "cpu, 2 threads");
    CHECK(make("plain", golden.model, 1)->name() == "cpu, plain loops");
}
