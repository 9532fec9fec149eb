// The work of a text, counted by a backend that computes nothing: the numbers that the page
// and other GPT-2 implementations give for the model of 124 million weights.
#include "common/tensor/transform.hpp"
#include "common/testing/testing.hpp"
#include "day06_transformer_ops/gpt2/engine.hpp"

using namespace sixdays;
using namespace sixdays::gpt2;

namespace {

constexpr Config k124M{12, 1024, 768, 12, 3072, 50257, 1e-5f};

// Counts passes, and the work of the MLPs.
class Counter final : public Backend {
public:
    std::int64_t passes = 0, gelus = 0, mlp_products = 0, mlp_multiply_adds = 0;
    std::string name() const override { return "counter"; }
    void begin(View<const std::int64_t> ids, std::int64_t) override { ++passes, T_ = ids.size(); }
    void advance() override { ++passes, T_ = 1; }
    void embed() override {}
    void query_key_value(std::int64_t) override {}
    void attend(std::int64_t) override {}
    void add_attention(std::int64_t) override {}
    void widen(std::int64_t) override {  // a product to `hidden` columns, and a GELU of each output
        product();
        gelus += T_ * k124M.hidden;
    }
    void add_mlp(std::int64_t) override { product(); }  // and one back to C columns
    void head(std::int64_t, std::int64_t) override {}
    void choose() override {}
    void set_sampler(const SamplerOptions&) override {}
    void read_stream(View<float>) override {}
    void read_logits(View<float>) override {}
    std::int64_t token(std::int64_t) override { return 0; }

private:
    void product() {
        ++mlp_products;
        mlp_multiply_adds += T_ * k124M.channels * k124M.hidden;
    }
    std::int64_t T_ = 0;
};

}  // namespace

TEST_CASE("a prompt of 50 tokens and 20 more: 20 passes, or 69 with one token each",
          "[day06][small]") {
    const Tensor<std::int64_t> prompt({50});
    const View<const std::int64_t> ids = prompt.view();
    Counter at_once, one_by_one;
    Engine prefill(k124M, at_once, 100), single(k124M, one_by_one, 100);
    prefill.read(ids);  // chooses the first of the 20
    for (std::int64_t t = 0; t < 50; ++t) single.read(slice(ids, 0, t, t + 1));
    for (int more = 1; more < 20; ++more) {
        prefill.next();
        single.next();
    }
    CHECK(at_once.passes == 20);
    CHECK(one_by_one.passes == 69);
    // The same work for 69 tokens, but the weights are fetched once per pass.
    CHECK(at_once.gelus == 69 * 36'864);
    CHECK(at_once.mlp_multiply_adds == one_by_one.mlp_multiply_adds);
    CHECK(at_once.mlp_products == 20 * 24);
}

TEST_CASE(
    "a token of the 124M model: 36,864 GELUs, and 24 MLP products of 2.36 million multiply-adds",
    "[day06][small]") {
    const Tensor<std::int64_t> token({1});
    Counter counter;
    Engine(k124M, counter, 1).read(token.view());
    CHECK(counter.gelus == 36'864);
    CHECK(counter.mlp_products == 24);
    CHECK(counter.mlp_multiply_adds == 24 * std::int64_t{2'359'296});
}
