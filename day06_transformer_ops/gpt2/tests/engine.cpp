// The engine and its backends: logits compared with NumPy, token by token compared with all at
// once, and argument checks.
#include "day06_transformer_ops/gpt2/engine.hpp"

#include <algorithm>
#include <cmath>

#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/tests/backends.hpp"
#include "day06_transformer_ops/gpt2/tests/gguf_writer.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;
using namespace sixdays::gpt2::tests;
using namespace sixdays::testing;

namespace {

constexpr Config kOdd{3, 256, 24, 3, 40, 37, 1e-5f};  // heads of 8; nothing is a whole vector

// The token of the largest logit, and its lead over the second.
struct Largest {
    std::int64_t token = 0;
    double lead = 0;
};
Largest largest_of(View<const float> row) {
    Largest largest;
    for (std::int64_t v = 1; v < row.size(); ++v) {
        if (row(v) > row(largest.token)) largest.token = v;
    }
    largest.lead = INFINITY;
    for (std::int64_t v = 0; v < row.size(); ++v) {
        if (v != largest.token)
            largest.lead = std::min(largest.lead, double{row(largest.token)} - row(v));
    }
    return largest;
}

// Logits from NumPy, in double.
struct Expected {
    MappedFile mapped{file_of_tests("tiny_expected.gguf")};
    Gguf file{mapped.bytes(), "tiny_expected.gguf"};
    std::vector<std::int64_t> tokens(const std::string& name) const {
        return file.integers(name + ".tokens", 0, 299);
    }
    View<const float> tensor(const std::string& name) const {
        return file.tensor(name).weight.as_f32();
    }
};

View<const std::int64_t> view_of(const std::vector<std::int64_t>& ids) {
    return {ids.data(), Shape{static_cast<std::int64_t>(ids.size())}};
}

}  // namespace

TEST_CASE("logits and all layers match NumPy, for each type of weights", "[day06][small]") {
    const std::string name = GENERATE("tiny", "tiny_head");
    const std::string backend_name = GENERATE("plain", "cpu", "cuda");
    CAPTURE(name, backend_name);
    const Opened model{MappedFile(file_of_tests(name + ".gguf"))};
    const Expected expected;
    const auto ids = expected.tokens(name);
    const auto backend = make(backend_name, model.weights, 24);
    Engine engine(model.weights.config, *backend, 24);
    const double bound = rounding(model.weights.config);
    std::int64_t layers = 0;
    engine.watch([&](std::int64_t layer) {
        CHECK(layer == layers++);
        Tensor<float> x({24, 32});
        engine.backend().read_stream(x.view());
        const auto want = expected.tensor(name + ".passed." + std::to_string(layer));
        CHECK(close(x, want, bound * largest(want)));
    });
    const Tensor<float> logits = logits_of(engine, view_of(ids));
    CHECK(layers == 3);
    const auto want = expected.tensor(name + ".logits");
    CHECK(close(logits, want, bound * largest(want)));
    // The greedy token matches NumPy's at every position.
    for (std::int64_t t = 0; t < 24; ++t) {
        CHECK(largest_of(select(logits.view(), 0, t)).token ==
              largest_of(select(want, 0, t)).token);
    }
}

TEST_CASE("the bound rejects a layer norm with epsilon 2e-5 instead of 1e-5", "[day06][small]") {
    const Opened model{MappedFile(file_of_tests("tiny.gguf"))};
    const Expected expected;
    ModelWeights other = read_model(model.file);
    other.config.epsilon = 2e-5f;
    const auto backend = make_plain_backend(other, 24);
    Engine engine(other.config, *backend, 24);
    const Tensor<float> logits = logits_of(engine, view_of(expected.tokens("tiny")));
    const auto want = expected.tensor("tiny.logits");
    CHECK_FALSE(close(logits, want, rounding(other.config) * largest(want)));
}

TEST_CASE("a fast backend matches the CPU references over 256 positions, for any number of threads",
          "[day06][small]") {
    const std::string name = GENERATE("cpu 1", "cpu", "cpu 5");
    CAPTURE(name);
    const RandomModel model(kOdd, WeightType::f32, 7);
    const auto ids = random_ids(kOdd, 256, 8);
    const auto plain = make("plain", model.weights(), 256);
    const auto fast = make(name, model.weights(), 256);
    Engine expected(kOdd, *plain, 256), engine(kOdd, *fast, 256);
    const auto want = logits_of(expected, ids.view());
    CHECK(close(logits_of(engine, ids.view()), want, rounding(kOdd) * largest(want.view())));
}

TEST_CASE("logits do not depend on how a text is split into passes", "[day06][small]") {
    const std::string name = GENERATE("plain", "cpu");
    CAPTURE(name);
    const RandomModel model(kOdd, WeightType::f32, 17);
    const std::int64_t T = 20;
    const auto ids = random_ids(kOdd, T, 18);
    const auto backend = make(name, model.weights(), T);
    Engine engine(kOdd, *backend, T);
    const auto want = logits_of(engine, ids.view());
    const double bound = rounding(kOdd) * largest(want.view());
    const std::vector<std::int64_t> ones(20, 1);
    for (const auto& cuts : {ones, {1, 19}, {19, 1}, {16, 4}, {3, 4, 5, 8}, {7, 1, 1, 11}}) {
        engine.forget();
        std::int64_t at = 0;
        for (const std::int64_t count : cuts) {
            const auto part = slice(View<const std::int64_t>(ids.view()), 0, at, at + count);
            const auto got = logits_of(engine, part);
            CHECK(close(got, slice(want.view(), 0, at, at + count), bound));
            at += count;
            CHECK(engine.length() == at);
        }
    }
}

TEST_CASE("greedy tokens are those that a single pass would choose at each position",
          "[day06][small]") {
    const std::string name = GENERATE("plain", "cpu");
    CAPTURE(name);
    const RandomModel model(kOdd, WeightType::f32, 27);
    const std::int64_t prompt = 5, T = 40;
    const auto ids = random_ids(kOdd, prompt, 28);
    const auto backend = make(name, model.weights(), T);
    Engine engine(kOdd, *backend, T);
    backend->set_sampler({0, 0, 1, 0});
    engine.read(ids.view());
    while (engine.length() < T) engine.next();
    Tensor<std::int64_t> text({T});
    for (std::int64_t t = 0; t < T; ++t) text(t) = backend->token(t);
    const std::int64_t last = engine.chosen();
    CHECK(equal(slice(text.view(), 0, 0, prompt), ids));

    const auto plain = make("plain", model.weights(), T);
    Engine whole(kOdd, *plain, T);
    const auto logits = logits_of(whole, text.view());
    const double bound = 2 * rounding(kOdd) * largest(logits.view());
    std::int64_t sure = 0;
    for (std::int64_t t = prompt - 1; t < T; ++t) {
        const Largest largest = largest_of(select(logits.view(), 0, t));
        if (largest.lead <= bound) continue;  // either may be chosen
        ++sure;
        CHECK((t + 1 < T ? text(t + 1) : last) == largest.token);
    }
    CHECK(sure >= 30);
}

TEST_CASE("draws depend on seed and position, not on how the prompt was split", "[day06][small]") {
    const std::string name = GENERATE("plain", "cpu");
    const RandomModel model(kOdd, WeightType::f32, 37);
    const auto ids = random_ids(kOdd, 8, 38);
    const auto backend = make(name, model.weights(), 30);
    Engine engine(kOdd, *backend, 30);
    const auto text = [&](std::uint64_t seed, std::int64_t cut) {
        backend->set_sampler({1.5f, 30, 0.95f, seed});
        engine.forget();
        const View<const std::int64_t> all = ids.view();
        engine.read(slice(all, 0, 0, cut));
        if (cut < 8) engine.read(slice(all, 0, cut, 8));
        std::vector<std::int64_t> tokens;
        for (int i = 0; i < 20; ++i, engine.next()) tokens.push_back(engine.chosen());
        return tokens;
    };
    const auto one = text(1, 8);
    CHECK(one == text(1, 3));
    CHECK(one != text(2, 8));
    // So the first one is the sampler's choice for these logits at position 8.
    engine.forget();
    const auto logits = logits_of(engine, ids.view());
    CHECK(one[0] == sample(select(logits.view(), 0, 7), {1.5f, 30, 0.95f, 1}, 8));
}

TEST_CASE("tokens past the context are rejected before anything is written", "[day06][small]") {
    const std::string name = GENERATE("plain", "cpu");
    const RandomModel model(kOdd, WeightType::f32, 47);
    const auto ids = random_ids(kOdd, 12, 48);
    const auto backend = make(name, model.weights(), 10);
    Engine engine(kOdd, *backend, 10);
    CHECK(rejection([&] { engine.read(ids.view()); }) ==
          "12 tokens after 0 would end at 12, but the context ends at 10");
    const View<const std::int64_t> all = ids.view();
    engine.read(slice(all, 0, 0, 9));
    CHECK(rejection([&] { engine.read(slice(all, 0, 9, 11)); }) ==
          "2 tokens after 9 would end at 11, but the context ends at 10");
    const std::int64_t chosen = engine.chosen();
    engine.next();
    CHECK(backend->token(9) == chosen);
    const std::int64_t last = engine.chosen();  // may be returned, but not processed
    CHECK(rejection([&] { engine.next(); }) ==
          "1 tokens after 10 would end at 11, but the context ends at 10");
    CHECK(engine.chosen() == last);
    CHECK(engine.length() == 10);
}

TEST_CASE("invalid ids and capacities are rejected", "[day06][small]") {
    const RandomModel model(kOdd, WeightType::f32, 57);
    const auto backend = make("cpu", model.weights(), 10);
    Engine engine(kOdd, *backend, 10);
    const auto read = [&](const std::vector<std::int64_t>& ids) {
        return rejection([&] { engine.read(view_of(ids)); });
    };
    CHECK(contains(read({1, 37}), "37"));
    CHECK(contains(read({-1}), "-1"));
    CHECK(read({}) == "read: no token, and the model must begin with one");
    CHECK(engine.length() == 0);
    for (const std::int64_t capacity : {0, -1, 257}) {
        const std::string sentence =
            "a text of " + std::to_string(capacity) + " tokens; this model takes 1 to 256";
        CHECK(rejection([&] { (void)make("plain", model.weights(), capacity); }) == sentence);
        CHECK(rejection([&] { (void)make("cpu", model.weights(), capacity); }) == sentence);
        CHECK(rejection([&] { Engine(kOdd, *backend, capacity); }) == sentence);
    }
    CHECK(make("cpu", model.weights(), 256)->name() == "cpu, 2 threads");
    CHECK(make("cpu 1", model.weights(), 1)->name() == "cpu, 1 thread");
    CHECK(make("plain", model.weights(), 1)->name() == "cpu, plain loops");
}

namespace {

// Records its calls.
class Witness final : public Backend {
public:
    std::string calls;
    std::string name() const override { return "witness"; }
    void begin(View<const std::int64_t> ids, std::int64_t position) override {
        calls += "begin " + std::to_string(ids.size()) + " at " + std::to_string(position) + ",";
    }
    void advance() override { calls += "advance,"; }
    void embed() override { calls += "embed,"; }
    void query_key_value(std::int64_t layer) override { add("qkv", layer); }
    void attend(std::int64_t layer) override { add("attend", layer); }
    void add_attention(std::int64_t layer) override { add("add", layer); }
    void widen(std::int64_t layer) override { add("widen", layer); }
    void add_mlp(std::int64_t layer) override { add("mlp", layer); }
    void head(std::int64_t first, std::int64_t count) override {
        calls += "head " + std::to_string(first) + " " + std::to_string(count) + ",";
    }
    void choose() override { calls += "choose,"; }
    void set_sampler(const SamplerOptions&) override {}
    void replay(const std::function<void()>& pass) override {
        calls += "replay(";
        pass();
        calls += ")";
    }
    void wait() override { calls += "."; }
    void read_stream(View<float>) override {}
    void read_logits(View<float>) override { calls += "read,"; }
    std::int64_t token(std::int64_t) override { return 0; }

private:
    void add(const char* what, std::int64_t layer) { calls += what + std::to_string(layer) + ","; }
};

const std::string kBlocks = "embed,qkv0,attend0,add0,widen0,mlp0,qkv1,attend1,add1,widen1,mlp1,";

}  // namespace

TEST_CASE("a pass is always the same calls in the same order, and one of one token may be replayed",
          "[day06][small]") {
    Config config = kOdd;
    config.layers = 2;
    Witness witness;
    Engine engine(config, witness, 200);
    const auto calls = [&] { return std::exchange(witness.calls, ""); };
    const auto ids = random_ids(config, 130, 1);
    engine.read(slice(View<const std::int64_t>(ids.view()), 0, 0, 3));
    CHECK(calls() == "begin 3 at 0," + kBlocks + "head 2 1,choose,");
    engine.next();
    CHECK(calls() == "replay(advance," + kBlocks + "head 0 1,choose,)");
    engine.score(ids.view(), [](std::int64_t, View<const float>) {});
    CHECK(calls() ==
          "begin 130 at 4," + kBlocks + "head 0 64,read,head 64 64,read,head 128 2,read,");

    // With watch() or measure() nothing is replayed; measuring waits for each part.
    std::int64_t looks = 0;
    engine.watch([&](std::int64_t) { ++looks; });
    engine.next();
    CHECK(calls() == "advance," + kBlocks + "head 0 1,choose,");
    CHECK(looks == 3);
    engine.watch({});
    PartTimes times = {};
    engine.measure(&times);
    engine.next();
    std::string waited = "advance," + kBlocks + "head 0 1,choose,";
    for (std::size_t at = waited.find(',') + 1; (at = waited.find(',', at)) != std::string::npos;) {
        waited.insert(++at, ".");
    }
    CHECK(calls() == waited);
    CHECK(std::all_of(times.begin(), times.end(), [](double seconds) { return seconds > 0; }));
}
